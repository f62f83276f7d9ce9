/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/process-age.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "common/text.h"

/* How long the process has lived, from its start in ticks since the boot. The start counts as the
 * end of its tick. */
static uint64_t age_since(uint64_t start_ticks)
{
	const uint64_t ns_per_tick = 1000000000 / (uint64_t)sysconf(_SC_CLK_TCK);
	const uint64_t start_ns = start_ticks * ns_per_tick, now_ns = clock_of(CLOCK_BOOTTIME);

	return start_ns < now_ns ? now_ns - start_ns : 0;
}

/* "4242 (name) S 1 ...". The name may contain brackets, too. Field 22 is the start: proc(5). */
static bool parse_stat(const char *text, char ret_name[PROCESS_NAME_MAX], uint64_t *ret_start_ticks)
{
	const char *name = strchr(text, '('), *end = strrchr(text, ')');

	if (!name || !end || end <= name)
		return false;
	snprintf(ret_name, PROCESS_NAME_MAX, "%.*s", (int)(end - name - 1), name + 1);
	text_make_plain(ret_name);
	return sscanf(end + 1,
		       " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
		       "%*d %" SCNu64,
		       ret_start_ticks) == 1;
}

bool process_age(uint64_t pid, char ret_name[PROCESS_NAME_MAX], uint64_t *ret_age_ns)
{
	char path[64] = "/proc/self/stat", text[1024];
	_cleanup_file_ FILE *file = NULL;
	uint64_t start_ticks;
	size_t n;

	if (pid)
		snprintf(path, sizeof path, "/proc/%" PRIu64 "/stat", pid);
	file = fopen(path, "re");
	n = file ? fread(text, 1, sizeof text - 1, file) : 0;
	text[n] = '\0';
	if (!parse_stat(text, ret_name, &start_ticks))
		return false;
	*ret_age_ns = age_since(start_ticks);
	return true;
}
