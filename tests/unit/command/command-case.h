/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests that run the `uncore` command against a daemon whose counts are known. */
#pragma once

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "common/macro.h"
#include "tests/harness/fake-daemon.h"
#include "tests/harness/test.h"

struct outcome {
	int status;
	char text[16384]; /* stdout and stderr */
};

/* Runs `uncore @arguments` in a shell. */
static inline void run(struct outcome *ret, const char *arguments)
{
	const char *build = getenv("UNCORE_BUILD_ROOT");
	_cleanup_free_ char *line = NULL;
	FILE *output;
	size_t n;

	assert_non_null(build);
	assert_true(asprintf(&line, "exec 2>&1; exec %s/client/uncore %s", build, arguments) > 0);
	output = popen(line, "re");
	assert_non_null(output);
	n = fread(ret->text, 1, sizeof ret->text - 1, output);
	ret->text[n] = '\0';
	ret->status = WEXITSTATUS(pclose(output));
}

static inline void run_with(
	struct outcome *ret, const struct fake_options *options, const char *arguments)
{
	struct fake_daemon daemon;

	fake_daemon_start(&daemon, options, 1);
	setenv("UNCORE_SOCKET", daemon.path, 1);
	run(ret, arguments);
	unsetenv("UNCORE_SOCKET");
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}

static inline void expect(const struct outcome *outcome, int status, const char *part)
{
	if (outcome->status != status || !strstr(outcome->text, part))
		fail_msg("status %d, not %d, or no \"%s\" in:\n%s", outcome->status, status, part,
			outcome->text);
}

/* Follows keys and indexes: "sockets", "0", "metrics". */
#define FIND(object, ...) find(object, (const char *const[]){ __VA_ARGS__, NULL })

static inline struct json_object *find(struct json_object *object, const char *const keys[])
{
	for (; *keys; keys++) {
		if (json_object_is_type(object, json_type_array))
			object = json_object_array_get_idx(object, strtoul(*keys, NULL, 10));
		else
			assert_true(json_object_object_get_ex(object, *keys, &object));
	}
	return object;
}

static inline uint64_t number(struct json_object *object)
{
	assert_non_null(object);
	return json_object_get_uint64(object);
}

static inline unsigned count(const struct outcome *outcome, const char *part)
{
	unsigned n = 0;

	for (const char *at = outcome->text; (at = strstr(at, part)); at++)
		n++;
	return n;
}
