/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text in the place of uncored's report, or an error, shown by every form of `uncore info`. */
#include <err.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/command/frame/command.h"
#include "client/libuncore/uncore.h"
#include "common/macro.h"
#include "tests/fuzz/target.h"

static const char *report;
static int error; /* in the place of a report; 0: none */

/* --- in the place of libuncore --- */

int uncore_info(const char *socket_path, char **ret_json)
{
	(void)socket_path;
	if (error)
		return error;
	*ret_json = strdup(report);
	return *ret_json ? 0 : -ENOMEM;
}

int uncore_platforms(const char *socket_path, char **ret_json)
{
	return uncore_info(socket_path, ret_json);
}

int uncore_clients(const char *socket_path, char **ret_json)
{
	return uncore_info(socket_path, ret_json);
}

/* The command takes two lists of clients, a second apart. */
int nanosleep(const struct timespec *time, struct timespec *ret_rest)
{
	(void)time;
	(void)ret_rest;
	return 0;
}

/* --- the command --- */

static void run(int argc, char *argv[])
{
	int status;

	optind = 0; /* glibc's getopt starts anew */
	status = command_info(argc, argv);
	if (status != 0 && status != EXIT_FAILED && status != EXIT_USAGE)
		abort();
}

static void run_all(void)
{
	const char *forms[][4] = {
		{ "info", NULL },
		{ "info", "-v", NULL },
		{ "info", "--platforms", NULL },
		{ "info", "--explain", "dram.read", NULL },
		{ "info", "--explain", "dram.total", NULL },
		{ "info", "--json", "--socket=/here", NULL },
		{ "info", "--explain", "--json", NULL },
		{ "info", "--platforms", "more", NULL },
		{ "info", "--clients", NULL },
		{ "info", "--clients", "--json", NULL },
		{ "info", "--clients", "--platforms", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		int argc = 0;

		while (forms[i][argc])
			argc++;
		run(argc, (char **)forms[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	static const int errors[] = { 0, -ENODEV, -EPERM, -EINVAL, -ENOMEM, -EACCES };
	static FILE *nowhere;
	FILE *const out = stdout, *const complaints = stderr;
	_cleanup_free_ char *text = malloc(size_bytes + 1);

	if (!nowhere)
		nowhere = fopen("/dev/null", "we");
	if (!nowhere || !text)
		err(1, "Cannot begin");
	if (size_bytes)
		memcpy(text, data, size_bytes);
	text[size_bytes] = '\0';
	report = text;
	stdout = stderr = nowhere;
	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		error = errors[i];
		run_all();
	}
	stdout = out;
	stderr = complaints;
	return 0;
}
