/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/tiers/nodes.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"

/* --- the figures of a node --- */

static struct node_figure *add_figure(struct node *node, const char *name)
{
	struct node_figure *figure = &node->figures[node->n_figures];

	node->n_figures += node->n_figures < NODE_FIGURES_MAX - 1;
	*figure = (struct node_figure){ .value = NODE_NOT_KNOWN };
	snprintf(figure->name, sizeof figure->name, "%s", name);
	return figure;
}

/* Sizes of meminfo. Those of the last figure are added up; older kernels lack some of them, and
 * have no such pages either. */
static const struct {
	const char *label, *name;
} sizes[] = {
	{ "MemTotal:", "capacity_bytes" },
	{ "MemUsed:", "used_bytes" },
	{ "MemFree:", "free_bytes" },
	{ "AnonHugePages:", "thp_bytes" },
	{ "ShmemHugePages:", "thp_bytes" },
	{ "FileHugePages:", "thp_bytes" },
};

static void read_sizes(const char *root, struct node *node)
{
	for (unsigned i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct node_figure *figure = i < NODE_COLUMNS ? add_figure(node, sizes[i].name)
							      : &node->figures[NODE_COLUMNS - 1];
		const uint64_t bytes = node_bytes(root, node->number, sizes[i].label);

		if (bytes != NODE_NOT_KNOWN)
			figure->value =
				bytes + (figure->value == NODE_NOT_KNOWN ? 0 : figure->value);
	}
}

/* Files in folders of a node that have a number, and what their figures are called. */
static const struct {
	const char *folder, *file, *name;
} numbered[] = {
	{ "hugepages/hugepages-", "nr_hugepages", "hugetlb_%s_pages" },
	{ "hugepages/hugepages-", "free_hugepages", "hugetlb_%s_free_pages" },
	{ "memory_side_cache/index", "size", "memory_side_cache_%s_bytes" },
	{ "memory_side_cache/index", "line_size", "memory_side_cache_%s_line_bytes" },
};

/* The figure of the file @path of row @row; its folder ends in the number. */
static void read_numbered(struct node *node, size_t row, const char *path)
{
	_cleanup_file_ FILE *file = node_open("", "%s", path);
	char name[NODE_NAME_MAX], number[NODE_NAME_MAX];
	const char *from = strstr(path, numbered[row].folder) + strlen(numbered[row].folder);
	struct node_figure *figure;

	snprintf(number, sizeof number, "%.*s", (int)strcspn(from, "/"), from);
	/* NOLINTNEXTLINE: a format of the table above */
	snprintf(name, sizeof name, numbered[row].name, number);
	figure = add_figure(node, name);
	if (!file || fscanf(file, "%" SCNu64, &figure->value) != 1)
		figure->value = NODE_NOT_KNOWN;
}

static void read_all_numbered(const char *root, struct node *node, size_t row)
{
	char pattern[PATH_MAX];
	glob_t found = { .gl_pathc = 0 };

	snprintf(pattern, sizeof pattern, "%s" NODE_FOLDER "/node%u/%s*/%s", root, node->number,
		numbered[row].folder, numbered[row].file);
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			read_numbered(node, row, found.gl_pathv[i]);
	node->has_cache |= found.gl_pathc && strncmp(numbered[row].name, "memory", 6) == 0;
	globfree(&found);
}

/* --- all nodes --- */

static int nodes_add_node(const char *root, struct nodes *nodes, unsigned number, bool has_cpus)
{
	struct node *all = reallocarray(nodes->all, nodes->n + 1, sizeof *all);
	struct node *node;

	if (!all)
		return -ENOMEM;
	nodes->all = all;
	node = &all[nodes->n++];
	*node = (struct node){ .number = number, .has_cpus = has_cpus };
	read_sizes(root, node);
	for (size_t i = 0; i < ARRAY_SIZE(numbered); i++)
		read_all_numbered(root, node, i);
	return 0;
}

int nodes_read(const char *root, struct nodes *ret)
{
	_cleanup_(nodes_done) struct nodes nodes = { .n = 0 };
	char online[NODE_LIST_MAX], with_cpus[NODE_LIST_MAX];
	int r = 0;

	node_list(root, "online", online);
	node_list(root, "has_cpu", with_cpus);
	for (unsigned i = 0; r == 0 && i < NODE_NUMBERS; i++)
		if (node_is_in(online, i))
			r = nodes_add_node(root, &nodes, i, node_is_in(with_cpus, i));
	if (r < 0 || !nodes.n)
		return r < 0 ? r : -ENOENT;
	*ret = nodes;
	nodes.all = NULL;
	return 0;
}

void nodes_done(struct nodes *nodes)
{
	free(take_ptr(nodes->all));
	nodes->n = 0;
}
