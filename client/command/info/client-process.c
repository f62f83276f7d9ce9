/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/info/client-process.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/macro.h"
#include "common/text.h"

static const uint64_t NS_PER_S = 1000000000;

/* How long the process has lived, from its start in ticks since the boot. The start counts as the
 * end of its tick. */
static uint64_t age_ns(uint64_t start_ticks)
{
	uint64_t ns_per_tick = NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK), start_ns, now_ns;
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	now_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
	start_ns = start_ticks * ns_per_tick;
	return start_ns < now_ns ? now_ns - start_ns : 0;
}

/* "4242 (name) S 1 ...". The name may contain brackets, too. Field 22 is the start: proc(5). */
static bool client_process_parse_stat(
	const char *text, char ret_name[COMMAND_MAX], uint64_t *ret_start_ticks)
{
	const char *name = strchr(text, '('), *end = strrchr(text, ')');

	if (!name || !end || end <= name)
		return false;
	snprintf(ret_name, COMMAND_MAX, "%.*s", (int)(end - name - 1), name + 1);
	text_make_plain(ret_name);
	return sscanf(end + 1,
		       " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
		       "%*d %" SCNu64,
		       ret_start_ticks) == 1;
}

static bool read_stat(uint64_t pid, char ret_name[COMMAND_MAX], uint64_t *ret_start_ticks)
{
	char path[64], text[1024];
	_cleanup_file_ FILE *file = NULL;
	size_t n;

	snprintf(path, sizeof path, "/proc/%" PRIu64 "/stat", pid);
	file = fopen(path, "re");
	n = file ? fread(text, 1, sizeof text - 1, file) : 0;
	text[n] = '\0';
	return client_process_parse_stat(text, ret_name, ret_start_ticks);
}

void client_process_name(uint64_t pid, uint64_t connected_ns, char ret[COMMAND_MAX])
{
	uint64_t start_ticks;

	if (!pid)
		strcpy(ret, "(not visible to uncored)");
	else if (!read_stat(pid, ret, &start_ticks) || age_ns(start_ticks) < connected_ns)
		strcpy(ret, "(has ended)");
}
