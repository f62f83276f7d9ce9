/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the tests of regions. Regions belong to the process, so each case runs in a child of
 * its own. The child must find no regions and make its own connection, so every case tests that,
 * too.
 */
#pragma once

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/macro.h"
#include "tests/harness/fake-daemon.h"
#include "tests/harness/test.h"

enum { CHECKS_FAILED = 99 };

/* In a child cmocka's assertions would jump back into the parent's test; this ends it instead. */
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s; %s\n", __FILE__, __LINE__, #condition,         \
				uncore_error_text());                                              \
			_exit(CHECKS_FAILED);                                                      \
		}                                                                                  \
	} while (0)

static inline int wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Each daemon counts anew. */
static inline void start_with(struct fake_daemon *daemon, const struct fake_options *options)
{
	static uint64_t generation;

	fake_daemon_start(daemon, options, ++generation);
	setenv("UNCORE_SOCKET", daemon->path, 1);
}

static inline void stop(struct fake_daemon *daemon)
{
	fake_daemon_stop(daemon);
	fake_daemon_done(daemon);
}

static inline pid_t run_in_child(struct fake_daemon *daemon, void (*child)(struct fake_daemon *))
{
	pid_t pid = fork();

	if (pid == 0) {
		child(daemon);
		_exit(0);
	}
	assert_int_equal(wait_for(pid), 0);
	return pid;
}

/* Runs @child with a daemon of its own, until exit(). */
static inline void run_with(const struct fake_options *options, void (*child)(struct fake_daemon *))
{
	struct fake_daemon daemon;

	start_with(&daemon, options);
	run_in_child(&daemon, child);
	stop(&daemon);
}

static inline char *path_in(const struct fake_daemon *daemon, const char *name)
{
	char *path;

	CHECK(asprintf(&path, "%s/%s", daemon->directory, name) > 0);
	return path;
}

/* Where the report at exit goes. */
static inline void report_to(const struct fake_daemon *daemon, const char *template)
{
	_cleanup_free_ char *path = path_in(daemon, template);

	setenv("UNCORE_REPORT", path, 1);
}

/* Writes the report, reads it back, removes it. */
static inline struct json_object *take_report(const struct fake_daemon *daemon)
{
	_cleanup_free_ char *path = path_in(daemon, "report");
	struct json_object *report;

	CHECK(uncore_region_report(path) == 0);
	report = json_object_from_file(path);
	unlink(path);
	CHECK(report);
	return report;
}

/* Follows keys and indexes: "regions", "0", "count". */
#define FIND(object, ...) find(object, (const char *const[]){ __VA_ARGS__, NULL })

static inline struct json_object *find(struct json_object *object, const char *const keys[])
{
	for (; *keys; keys++) {
		if (json_object_is_type(object, json_type_array))
			object = json_object_array_get_idx(object, strtoul(*keys, NULL, 10));
		else if (!json_object_object_get_ex(object, *keys, &object))
			return NULL;
	}
	return object;
}

static inline uint64_t number(struct json_object *object)
{
	CHECK(object);
	return json_object_get_uint64(object);
}

static inline void check_counts(
	struct json_object *report, const char *region, uint64_t count, uint64_t failed)
{
	CHECK(number(FIND(report, "regions", region, "count")) == count);
	CHECK(number(FIND(report, "regions", region, "failed")) == failed);
}

static inline struct json_object *find_region(struct json_object *report, const char *name)
{
	struct json_object *regions = FIND(report, "regions");

	for (size_t i = 0; i < json_object_array_length(regions); i++) {
		struct json_object *region = json_object_array_get_idx(regions, i);

		if (!strcmp(json_object_get_string(FIND(region, "name")), name))
			return region;
	}
	CHECK(!"there is such a region");
	return NULL;
}

/* The bytes that the region read on socket 0. */
static inline uint64_t bytes_of(struct json_object *region)
{
	return number(FIND(region, "sockets", "0", "metrics", "dram.read", "bytes"));
}

static inline void check_failure(struct json_object *report, const char *part)
{
	struct json_object *failure = FIND(report, "failure");

	CHECK(failure);
	CHECK(strstr(json_object_get_string(failure), part));
}
