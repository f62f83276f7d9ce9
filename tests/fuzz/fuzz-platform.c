/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any platform file, on any machine: asked for by name, matched against the machine, listed, and
 * calibrated.
 *
 * The input is the file fuzz.conf, and after it further files, each begun by a line "@NAME".
 * parts[] lists the possible names.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/macro.h"
#include "daemon/machine/machine.h"
#include "daemon/plan/platform-search.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

#define NODES "sys/devices/system/node/"
#define PMUS  "sys/bus/event_source/devices/"
#define LONG  "a-name-that-has-more-than-thirty-one-characters"

static const char cpuinfo[] = "processor\t: 0\n"
			      "vendor_id\t: GenuineIntel\n"
			      "cpu family\t: 6\n"
			      "model\t\t: 106\n"
			      "stepping\t: 6\n\n";

static const struct {
	const char *name, *path;
	const char
		*otherwise; /* its content if the input does not have it; NULL: no such file then */
} parts[] = {
	{ "fuzz", "site/fuzz.conf", "" },
	{ "cpuinfo", "proc/cpuinfo", cpuinfo },
	{ "memory", NODES "has_memory", NULL },
	{ "normal", NODES "has_normal_memory", NULL },
	{ "cpu", NODES "has_cpu", NULL },
	{ "accelerator", NODES "has_generic_initiator", NULL },
	{ "meminfo", NODES "node1/meminfo", NULL },
	{ "cpus0", NODES "node0/cpulist", NULL },
	{ "cpus1", NODES "node1/cpulist", NULL },
	{ "pmu", PMUS "uncore_imc_0", NULL },
	{ "same", "later/fuzz.conf", NULL },
	{ "other", "later/other.conf", NULL },
	{ "long", "later/" LONG ".conf", NULL },
};

static void make_folder(const char *name)
{
	char path[256];

	snprintf(path, sizeof path, "%s/%s", scratch_folder(), name);
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		err(1, "Cannot make the folder %s", path);
}

static void make_folders(void)
{
	static const char *const names[] = { "site", "later", "proc", "sys", "sys/devices",
		"sys/devices/system", NODES, NODES "node0", NODES "node1", "sys/bus",
		"sys/bus/event_source", PMUS };
	static bool made;

	for (size_t i = 0; i < ARRAY_SIZE(names) && !made; i++)
		make_folder(names[i]);
	made = true;
}

static void write_otherwise(size_t part)
{
	char path[256];

	snprintf(path, sizeof path, "%s/%s", scratch_folder(), parts[part].path);
	if (parts[part].otherwise)
		scratch_write(parts[part].path, (const uint8_t *)parts[part].otherwise,
			strlen(parts[part].otherwise));
	else
		remove(path);
}

static void write_part(const char *name, size_t length, const uint8_t *text, size_t size_bytes)
{
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		if (strlen(parts[i].name) == length && !memcmp(parts[i].name, name, length))
			scratch_write(parts[i].path, text, size_bytes);
}

/* The first line that begins with "@", or @end. */
static const uint8_t *find_part(const uint8_t *at, const uint8_t *end)
{
	for (const uint8_t *c = at; c < end; c++)
		if (*c == '@' && (c == at || c[-1] == '\n'))
			return c;
	return end;
}

static void write_parts(const uint8_t *data, size_t size_bytes)
{
	const uint8_t *end = data + size_bytes, *next = find_part(data, end);

	write_part("fuzz", 4, data, (size_t)(next - data));
	while (next < end) {
		const uint8_t *name = next + 1;
		const uint8_t *line_end = memchr(name, '\n', (size_t)(end - name));
		const uint8_t *text = line_end ? line_end + 1 : end;

		next = find_part(text, end);
		write_part((const char *)name, (size_t)((line_end ? line_end : end) - name), text,
			(size_t)(next - text));
	}
}

/* The title is also the list of what the site disables; what it enables may follow a semicolon. */
static void choose(struct platform *platform)
{
	char disabled[sizeof platform->title];
	struct fault fault = { "" };
	char *enabled = stpcpy(disabled, platform->title);
	int r;

	if (strchr(disabled, ';')) {
		enabled = strchr(disabled, ';');
		*enabled++ = '\0';
	}
	r = platform_choose(platform, &(struct platform_choice){ enabled, disabled }, &fault);
	if (r == 0 ? !platform->n_metrics || platform->n_metrics > PAGE_METRICS_MAX
		   : !fault.text[0])
		abort();
}

static void calibrate(struct platform *platform)
{
	struct fault fault = { "" };

	for (unsigned m = 0; m < platform->n_metrics; m++) {
		const struct platform_metric *metric = &platform->metrics[m];

		platform_check_of(platform, m);
		if (platform_calibrate(platform, metric->name, 7, &fault) == 0 &&
			(!metric->calibrated || metric->terms[0].scale.n != 7 ||
				metric->terms[0].scale.d != 1))
			abort();
	}
	if (platform_calibrate(platform, "no such", 7, &fault) != -EINVAL)
		abort();
}

static void find(const char *const folders[], int root_fd, const char *name)
{
	struct fault fault = { "" };
	struct platform *platform = NULL;
	int r = platform_find(folders, root_fd, name, &platform, &fault);

	if ((r < 0 && !fault.text[0]) || (r == 0) != !!platform)
		abort();
	if (platform) {
		choose(platform);
		calibrate(platform);
	}
	free(platform);
}

/* The socket of a node may be any, or unknown. */
static void divide(int root_fd)
{
	int sockets[] = { 0, 0, 1, TOPOLOGY_OFFLINE, TOPOLOGY_NOWHERE };
	const struct topology topology = {
		.n_sockets = 2, .n_cpus = ARRAY_SIZE(sockets), .socket_of_cpu = sockets
	};

	machine_is_divided(root_fd, &topology);
}

static int visit(const struct platform *platform, void *userdata)
{
	(void)userdata;
	return strcmp(platform->title, "stop") ? 0 : -ECANCELED;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	static char site[256], later[256];
	const char *const folders[] = { site, "/nowhere/at/all", later, NULL };
	const char *const no_folder[] = { "/dev/null", NULL };
	struct fault fault = { "" };
	int r;
	_cleanup_close_ int root_fd = open(scratch_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	make_folders();
	snprintf(site, sizeof site, "%s/site", scratch_folder());
	snprintf(later, sizeof later, "%s/later", scratch_folder());
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		write_otherwise(i);
	write_parts(data, size_bytes);
	find(folders, root_fd, "fuzz");
	find(folders, root_fd, "nobody");
	find(folders, root_fd, NULL);
	r = platform_visit(folders, visit, NULL, &fault);
	if (r < 0 && r != -ECANCELED && !fault.text[0])
		abort();
	if (platform_visit(no_folder, visit, NULL, &fault) >= 0)
		abort();
	machine_is_guest(root_fd);
	divide(root_fd);
	return 0;
}
