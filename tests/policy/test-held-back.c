/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the site holds readings back: a difference is taken between sweeps that began after the
 * calls, and a gauge is no older than the interval and says its age. Jobs are in suite jobs, the
 * agent in suite pcp.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/command/export/export.h"
#include "client/command/stat/stat-run.h"
#include "client/command/validate/measure/probe.h"
#include "client/region/regions.h"
#include "common/clock.h"
#include "tests/harness/daemon-process.h"
#include "tests/harness/test.h"

enum { READINGS = 2, FAILED = 1, TOO_OLD = 2, WRONG_AGE = 3, NEVER_HELD = 4 };

struct site {
	char *socket_path;
	uint64_t interval_ns;
};

/* Did every sweep begin at @since_ns, or later? */
static bool is_since(const struct readout *readout, uint64_t since_ns)
{
	for (uint32_t i = 0; i < readout->n_sockets; i++)
		if (readout->samples[i].begin_ns < since_ns)
			return false;
	return readout->n_sockets > 0;
}

static int stat_is_a_difference(const struct site *site)
{
	struct stat_run run = { .options = { .socket_path = site->socket_path, .repeat = 1 } };

	if (stat_connect(&run) < 0)
		return FAILED;
	for (int i = 0; i < READINGS; i++) {
		const uint64_t called_ns = clock_now_ns();

		if (stat_read(&run, &run.now) < 0)
			return FAILED;
		if (!is_since(&run.now, called_ns))
			return TOO_OLD;
	}
	stat_disconnect(&run);
	return 0;
}

static int validate_is_a_difference(const struct site *site)
{
	struct readout readout = { 0 };
	struct probe probe;

	if (probe_open(site->socket_path, &probe) < 0)
		return FAILED;
	for (int i = 0; i < READINGS; i++) {
		const uint64_t called_ns = clock_now_ns();

		if (probe_take(&probe, &readout) < 0)
			return FAILED;
		if (!is_since(&readout, called_ns))
			return TOO_OLD;
	}
	readout_done(&readout);
	probe_done(&probe);
	return 0;
}

static int region_is_a_difference(const struct site *site)
{
	setenv("UNCORE_SOCKET", site->socket_path, 1);
	setenv("UNCORE_REPORT", "/dev/null", 1);
	for (int i = 0; i < READINGS; i++) {
		const uint64_t called_ns = clock_now_ns();
		struct readout readout = { .n_sockets = 0 };

		if (meter_read(&regions_get()->meter, &readout) < 0)
			return FAILED;
		if (!is_since(&readout, called_ns))
			return TOO_OLD;
		readout_done(&readout);
	}
	return 0;
}

static int export_of_bandwidths_is_a_difference(const struct site *site)
{
	const struct export_wish wish = { .socket_path = site->socket_path, .difference = true };

	for (int i = 0; i < READINGS; i++) {
		const uint64_t called_ns = clock_now_ns();
		struct export_reading reading;

		export_reading_take(&wish, &reading);
		if (reading.error)
			return FAILED;
		if (!is_since(&reading.readout, called_ns))
			return TOO_OLD;
		export_reading_done(&reading);
	}
	return 0;
}

/* What a scrape gets. One within a second of the sweep before is held back. */
static int export_is_a_gauge(const struct site *site)
{
	const struct export_wish wish = {
		.socket_path = site->socket_path, .channels = true, .hurried = true
	};
	int n_held = 0;

	for (int i = 0; i < 4; i++) {
		const uint64_t called_ns = clock_now_ns();
		struct export_reading reading;
		uint64_t age_ns;

		export_reading_take(&wish, &reading);
		age_ns = reading.readout.age_ns;
		if (reading.error)
			return FAILED;
		if (!is_since(&reading.readout, called_ns - site->interval_ns))
			return TOO_OLD;
		/* The call began a moment after called_ns. */
		if (age_ns > site->interval_ns || !is_since(&reading.readout, called_ns - age_ns))
			return WRONG_AGE;
		n_held += age_ns > 0;
		export_reading_done(&reading);
	}
	return n_held || site->interval_ns <= 1000000000 ? 0 : NEVER_HELD;
}

static const struct user {
	const char *name;
	int (*reads)(const struct site *site);
} users[] = {
	{ "stat", stat_is_a_difference },
	{ "validate", validate_is_a_difference },
	{ "region", region_is_a_difference },
	{ "export --clustercockpit", export_of_bandwidths_is_a_difference },
	{ "export --http", export_is_a_gauge },
};

static pid_t start(const struct user *user, const struct site *site)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(user->reads(site));
	return pid;
}

static bool is_right(const struct user *user, pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return true;
	printf("# %s: status %#x\n", user->name, (unsigned)status);
	return false;
}

/* The sweep before all calls, which may not answer a difference. */
static void sweep_once(const struct site *site)
{
	struct uncore_sample samples[PAGE_SOCKETS_MAX];
	struct uncore *uncore;

	for (uint32_t i = 0; i < PAGE_SOCKETS_MAX; i++)
		samples[i].size = sizeof samples[i];
	assert_int_equal(uncore_open(site->socket_path, &uncore), 0);
	assert_int_equal(uncore_read_all(uncore, UNCORE_FRESH, samples, PAGE_SOCKETS_MAX), 0);
	uncore_close(uncore);
}

static void all_read(unsigned interval_ms)
{
	struct daemon_process daemon = {};
	struct site site = { daemon.socket_path, interval_ms * UINT64_C(1000000) };
	pid_t pids[ARRAY_SIZE(users)];
	unsigned n_right = 0;
	char config[64];

	snprintf(config, sizeof config, "[disclosure]\nmin_interval_ms = %u\n", interval_ms);
	daemon_start(&daemon, "standin", config);
	sweep_once(&site);
	for (size_t i = 0; i < ARRAY_SIZE(users); i++)
		pids[i] = start(&users[i], &site);
	for (size_t i = 0; i < ARRAY_SIZE(users); i++)
		n_right += is_right(&users[i], pids[i]);
	daemon_stop(&daemon);
	assert_int_equal(n_right, ARRAY_SIZE(users));
}

CASE("where readings are a second apart, differences are fresh and gauges say their age")
{
	all_read(1000);
}

CASE("where readings are five seconds apart, too")
{
	all_read(5000);
}

int main(void)
{
	return run_privileged_cases(NULL, NULL);
}
