/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The file that a process leaves when it exits: see uncore-report(5). A process that has nothing to
 * say leaves none, such as the shell that started the program.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "client/heap/account.h"
#include "client/heap/object.h"
#include "client/launcher/launch.h"
#include "common/jsonwriter.h"
#include "common/macro.h"
#include "common/same-file.h"
#include "common/write-signals.h"

static pid_t loaded_by;
static struct timespec loaded_at;

__attribute__((constructor)) static void note_process(void)
{
	loaded_by = getpid();
	clock_gettime(CLOCK_REALTIME_COARSE, &loaded_at); /* the clock of files */
}

/* --- what was allocated; under heap_lock --- */

static void write_most(struct jsonwriter *json, const struct heap_most *most)
{
	jsonwriter_number(json, "most_bytes", most->bytes);
	jsonwriter_number(json, "most_blocks", most->n);
}

/* As titles of regions that openmp.c makes. */
static void write_frame(struct jsonwriter *json, const struct heap_frame *frame)
{
	_cleanup_free_ char *text = NULL;
	const struct heap_module *module = frame->module ? &heap_modules[frame->module - 1] : NULL;
	const int n = module ? asprintf(&text, "%s+0x%" PRIx64 "%s%s", module->path, frame->offset,
				       *module->id ? " build-id " : "", module->id)
			     : asprintf(&text, "0x%" PRIx64, frame->offset);

	if (n < 0)
		text = NULL;
	jsonwriter_text(json, NULL, text);
}

static void write_site(struct jsonwriter *json, uint32_t i)
{
	const struct heap_place *place = &heap_places[i];

	jsonwriter_object(json, NULL);
	jsonwriter_text(json, "kind", place->kind);
	write_most(json, &heap_sums[i].most);
	jsonwriter_number(json, "live_bytes", heap_sums[i].live.bytes);
	jsonwriter_number(json, "live_blocks", heap_sums[i].live.n);
	jsonwriter_array(json, "frames");
	for (uint32_t k = 0; k < place->n_frames; k++)
		write_frame(json, &place->frames[k]);
	jsonwriter_close(json);
	jsonwriter_close(json);
}

static void heap_write_region(struct jsonwriter *json, const struct heap_region *region)
{
	jsonwriter_object(json, NULL);
	jsonwriter_text(json, "name", region->name);
	jsonwriter_array(json, "sites");
	for (uint32_t i = 0; i < heap_n_places; i++) {
		if (!region->most[i].bytes)
			continue;
		jsonwriter_object(json, NULL);
		jsonwriter_number(json, "site", i);
		write_most(json, &region->most[i]);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
	jsonwriter_close(json);
}

/* Returns whether there is anything. */
static bool write_sites(struct jsonwriter *json)
{
	bool is_any = heap_n_places > 1;

	jsonwriter_array(json, "sites");
	for (uint32_t i = 0; i < heap_n_places; i++)
		write_site(json, i);
	jsonwriter_close(json);
	jsonwriter_array(json, "regions");
	for (uint32_t i = 0; i < HEAP_REGIONS_MAX; i++)
		if (heap_regions[i]) {
			heap_write_region(json, heap_regions[i]);
			is_any = true;
		}
	jsonwriter_close(json);
	return is_any;
}

/* NULL: there is nothing to say, or no memory. */
static char *heap_make_text(void)
{
	struct jsonwriter json;
	char host[LAUNCH_HOST_MAX], *text = NULL;
	bool is_any;

	launch_host(host);
	jsonwriter_init(&json, true);
	jsonwriter_object(&json, NULL);
	jsonwriter_text(&json, "schema", "uncore-heap-1");
	jsonwriter_text(&json, "host", host);
	jsonwriter_number(&json, "pid", (uint64_t)getpid());
	jsonwriter_known(&json, "rank", launch_rank() >= 0, launch_rank());
	jsonwriter_number(&json, "least_bytes", heap_real.min_bytes);
	is_any = heap_write_objects(&json);
	pthread_mutex_lock(&heap_lock);
	is_any |= write_sites(&json);
	jsonwriter_number(&json, "lost_blocks", heap_n_lost);
	pthread_mutex_unlock(&heap_lock);
	jsonwriter_close(&json);
	if (jsonwriter_finish(&json, &text) < 0 || !is_any) {
		free(text);
		text = NULL;
	}
	jsonwriter_done(&json);
	return text;
}

/* --- where --- */

/* The name with placeholders, for free(3). Beside the report by default. */
static char *template_of(void)
{
	const char *own = secure_getenv("UNCORE_HEAP"), *report = secure_getenv("UNCORE_REPORT");
	const char *suffix = ".json";
	size_t n = report ? strlen(report) : 0;
	char *text;

	if (own && *own)
		return strdup(own);
	if (n > strlen(suffix) && strcmp(report + n - strlen(suffix), suffix) == 0)
		n -= strlen(suffix);
	if (asprintf(&text, "%.*s.heap.%%p.json", n ? (int)n : 6, n ? report : "uncore") < 0)
		return NULL;
	return text;
}

/* A file of an earlier run is replaced, and one of a process of this run is not. */
static int heap_open_new(const char *path)
{
	const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY;
	struct stat status;
	int fd = open(path, flags | O_EXCL, 0666);

	if (fd >= 0 || errno != EEXIST || stat(path, &status) < 0)
		return fd;
	if (!S_ISREG(status.st_mode))
		return open(path, flags, 0666);
	if (status.st_mtim.tv_sec > loaded_at.tv_sec ||
		(status.st_mtim.tv_sec == loaded_at.tv_sec &&
			status.st_mtim.tv_nsec >= loaded_at.tv_nsec)) {
		errno = EEXIST;
		return -1;
	}
	unlink(path);
	return open(path, flags | O_EXCL, 0666);
}

/* A child of a fork has a file of its own; *@ret_own is its name, for free(3). */
static int heap_open_path(const char *path, bool is_child, char **ret_own)
{
	int fd = -1;

	errno = EEXIST;
	if (!is_child)
		fd = heap_open_new(path);
	if (fd >= 0 || errno != EEXIST || asprintf(ret_own, "%s.%d", path, (int)getpid()) < 0)
		return fd;
	return open(*ret_own, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOCTTY, 0666);
}

static int heap_fill_file(int fd, const char *text)
{
	_cleanup_file_ FILE *out = fdopen(fd, "w");

	if (!out) {
		close(fd);
		return -ENOMEM;
	}
	fprintf(out, "%s\n", text);
	return fflush(out) == EOF ? -errno : 0;
}

/* Half of a file is not a file. */
static void remove_file(const char *path, const struct stat *made)
{
	if (S_ISREG(made->st_mode) && same_file_is_at(path, made->st_dev, made->st_ino))
		unlink(path);
}

static int heap_write_file(const char *path, const char *text, bool is_child)
{
	_cleanup_free_ char *own = NULL;
	struct stat made;
	int fd = heap_open_path(path, is_child, &own), r;

	if (fd < 0 || fstat(fd, &made) < 0)
		return -errno;
	r = heap_fill_file(fd, text);
	if (r < 0)
		remove_file(own ? own : path, &made);
	return r;
}

__attribute__((destructor)) static void write_at_exit(void)
{
	const bool is_first = heap_is_ready() && heap_enter();
	_cleanup_free_ char *text = NULL, *template = NULL, *path = NULL;
	struct write_signals signals;
	int r;

	if (!is_first)
		return;
	write_signals_hold(&signals);
	text = heap_make_text();
	template = text ? template_of() : NULL;
	r = template ? launch_expand_variable(template, &path) : 0;
	if (r == 0 && path)
		r = heap_write_file(
			path, text, getpid() != loaded_by && !launch_names_process(template));
	if (r < 0)
		fprintf(stderr, "uncore: cannot write to %s which arrays there were: %s.\n",
			path ? path : template, strerror(-r));
	write_signals_release(&signals);
	heap_is_busy = false;
}
