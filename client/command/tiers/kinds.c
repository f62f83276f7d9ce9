/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which kind of memory a node has. The kernel has no file that says so; this is the evidence:
 *
 * - the place of a dax device among the devices, which tells persistent memory (ndbus) and CXL (the
 *   root ACPI0017) from other memory; hwloc looks there, too
 * - that the node has an accelerator ("generic initiator")
 * - the firmware's bandwidths (HMAT), in access0/initiators
 * - what uncored counts: a platform file demands the nodes that go with its metrics
 *
 * "Specific-purpose memory" (hmem) is HBM on some machines and CXL on others, so it says nothing.
 */
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/tiers/nodes.h"
#include "common/macro.h"

static const double MUCH_FASTER = 1.5;

struct evidence {
	const char *root;
	struct nodes_counted counted;
	unsigned
		dram_mb_per_s; /* the most that the firmware says of a node with CPUs; 0: nothing */
};

/* Is the memory of this node a dax device whose place among the devices has @part? */
static bool is_dax(const struct evidence *evidence, const char *part, unsigned number)
{
	char path[PATH_MAX];
	glob_t found = { .gl_pathc = 0 };
	bool is_it = false;

	snprintf(path, sizeof path, "%s/sys/bus/dax/devices/*/target_node", evidence->root);
	if (glob(path, 0, NULL, &found) != 0)
		return false;
	for (size_t i = 0; i < found.gl_pathc && !is_it; i++) {
		_cleanup_file_ FILE *file = node_open("", "%s", found.gl_pathv[i]);
		unsigned target;

		is_it = file && fscanf(file, "%u", &target) == 1 && target == number &&
			realpath(found.gl_pathv[i], path) && strstr(path, part);
	}
	globfree(&found);
	return is_it;
}

static bool is_pmm(const struct evidence *evidence, unsigned node)
{
	return is_dax(evidence, "/ndbus", node);
}

static bool is_cxl(const struct evidence *evidence, unsigned node)
{
	return is_dax(evidence, "/ACPI0017:", node);
}

static bool is_of_accelerator(const struct evidence *evidence, unsigned node)
{
	char list[NODE_LIST_MAX];

	node_list(evidence->root, "has_generic_initiator", list);
	return node_is_in(list, node);
}

static unsigned mb_per_s(const char *root, unsigned node)
{
	_cleanup_file_ FILE *file =
		node_open(root, NODE_FOLDER "/node%u/access0/initiators/read_bandwidth", node);
	unsigned mb = 0;

	return file && fscanf(file, "%u", &mb) == 1 ? mb : 0;
}

static bool is_much_faster(const struct evidence *evidence, unsigned node)
{
	return evidence->dram_mb_per_s &&
	       mb_per_s(evidence->root, node) > MUCH_FASTER * evidence->dram_mb_per_s;
}

/* Where no CXL device is, nothing else can be near CPUs that have HBM. */
static bool is_counted_hbm(const struct evidence *evidence, unsigned node)
{
	char path[PATH_MAX];
	glob_t found = { .gl_pathc = 0 };
	bool has_cxl;

	(void)node;
	snprintf(path, sizeof path, "%s/sys/bus/cxl/devices/*", evidence->root);
	has_cxl = glob(path, 0, NULL, &found) == 0;
	globfree(&found);
	return evidence->counted.hbm && evidence->counted.dram && !has_cxl;
}

static bool is_all_hbm(const struct evidence *evidence, unsigned node)
{
	(void)node;
	return evidence->counted.hbm && !evidence->counted.dram;
}

static bool kinds_is_any(const struct evidence *evidence, unsigned node)
{
	(void)evidence, (void)node;
	return true;
}

/* The first row that holds decides. */
static const struct row {
	bool has_cpus;
	bool (*holds)(const struct evidence *evidence, unsigned node);
	enum node_kind kind;
	const char *known_by;
} rows[] = {
	{ true, is_all_hbm, NODE_HBM, "uncored counts hbm.* here, and no dram.*" },
	{ true, kinds_is_any, NODE_DRAM, "it has CPUs" },
	{ false, is_pmm, NODE_PMM, "its dax device is one of persistent memory" },
	{ false, is_cxl, NODE_CXL, "its dax device is one of CXL" },
	{ false, is_of_accelerator, NODE_GPU, "it has an accelerator, and no CPUs" },
	{ false, is_much_faster, NODE_HBM,
		"it has no CPUs, and by the firmware more bandwidth than DRAM" },
	{ false, is_counted_hbm, NODE_HBM, "it has no CPUs, and uncored counts hbm.* here" },
	{ false, kinds_is_any, NODE_UNKNOWN, "neither a driver nor the firmware nor uncored says" },
};

void nodes_judge(const char *root, struct nodes_counted counted, struct nodes *nodes)
{
	struct evidence evidence = { .root = root, .counted = counted };

	nodes->counted = counted;
	for (unsigned i = 0; i < nodes->n; i++) {
		const unsigned mb = mb_per_s(root, nodes->all[i].number);

		if (nodes->all[i].has_cpus && mb > evidence.dram_mb_per_s)
			evidence.dram_mb_per_s = mb;
	}
	for (unsigned i = 0; i < nodes->n; i++) {
		struct node *node = &nodes->all[i];
		const struct row *row = rows;

		while (row->has_cpus != node->has_cpus || !row->holds(&evidence, node->number))
			row++;
		node->kind = row->kind;
		node->known_by = row->known_by;
	}
}

const char *node_kind_name(enum node_kind kind)
{
	static const char *const names[NODE_KINDS] = { "unknown", "dram", "hbm", "pmm", "cxl",
		"gpu" };

	return names[kind];
}

const char *nodes_unknown(const struct nodes *nodes, unsigned number)
{
	bool has_cache = false, has[NODE_KINDS] = { false };

	for (unsigned i = 0; i < nodes->n; i++) {
		has[nodes->all[i].kind] = true;
		has_cache |= nodes->all[i].has_cache;
	}
	if (nodes->counted.hbm && !has[NODE_HBM] && !number--)
		return "hbm.* is counted here, but no node has HBM: it caches other memory. Its "
		       "size, what is in it, and of which process, cannot be known.";
	if (nodes->counted.pmm && !has[NODE_PMM] && !number--)
		return "pmm.* is counted here, but no node has persistent memory. Either programs "
		       "use it as a device, or DRAM caches it and the nodes have its size; which "
		       "of "
		       "both cannot be known.";
	if (has_cache && !number--)
		return "A memory-side cache has no pages: what is in it, and of which process, "
		       "cannot be known.";
	return NULL;
}
