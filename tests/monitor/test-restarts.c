/* SPDX-License-Identifier: BSD-3-Clause */
/* What a collector of `uncore export` sees when uncored is restarted, with a store and without. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/harness/daemon-process.h"
#include "tests/harness/kernel-count.h"

enum { PAGES = 20000 };

struct scrape {
	uint64_t bytes; /* that socket 0 read */
	char generation[33];
};

static void scrape(const struct daemon_process *daemon, struct scrape *ret)
{
	static struct run run;
	const char *at;

	run_uncore(&run, (const char *[]){ "export", "--socket", daemon->socket_path, NULL });
	assert_int_equal(run.status, 0);
	at = strstr(run.output, "uncore_dram_read_bytes_total{socket=\"0\",package=\"0\"} ");
	if (!at)
		fail_msg("no value in:\n%s", run.output);
	assert_int_equal(sscanf(strchr(at, ' '), "%" SCNu64, &ret->bytes), 1);
	at = strstr(run.output, "generation=\"");
	assert_non_null(at);
	assert_int_equal(sscanf(at, "generation=\"%32[0-9a-f]", ret->generation), 1);
}

/* uncored that has counted something. */
static void begin(struct daemon_process *daemon, bool keeps, struct scrape *ret)
{
	daemon_start_activated(daemon, "standin", NULL, keeps);
	pin_to_cpu(0);
	touch_pages(PAGES);
	scrape(daemon, ret);
	assert_true(ret->bytes >= PAGES * UINT64_C(4096));
}

CASE("with a store the counters go on")
{
	struct daemon_process daemon = { .pid = 0 };
	struct scrape before, after;

	begin(&daemon, true, &before);
	daemon_kill(&daemon);
	touch_pages(PAGES);
	daemon_restart(&daemon, "standin");
	scrape(&daemon, &after);
	assert_string_equal(before.generation, after.generation);
	assert_true(after.bytes >= before.bytes + PAGES * UINT64_C(4096));
	daemon_stop(&daemon);
}

CASE("without a store they begin at zero, with another generation")
{
	struct daemon_process daemon = { .pid = 0 };
	struct scrape before, after;
	int since;

	begin(&daemon, false, &before);
	daemon_kill(&daemon);
	since = kernel_open(0);
	daemon_restart(&daemon, "standin");
	scrape(&daemon, &after);
	assert_string_not_equal(before.generation, after.generation);
	assert_true(after.bytes <= kernel_bytes(since));
	close(since);
	daemon_stop(&daemon);
}

int main(void)
{
	return run_privileged_cases(NULL, NULL);
}
