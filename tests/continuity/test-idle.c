/* SPDX-License-Identifier: BSD-3-Clause */
/* An idle uncored sleeps. */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/macro.h"
#include "common/wire.h"
#include "tests/harness/daemon-process.h"

enum { WATCHDOG_S = 4, CLIENTS = 16 };

static struct daemon_process daemon_process;

static void begin(unsigned watchdog_s, const char *config)
{
	daemon_process = (struct daemon_process){ .watchdog_s = watchdog_s };
	daemon_start_activated(&daemon_process, "standin", config, true);
}

struct thread {
	char state; /* as in proc(5): 'S' sleeps, 'R' runs or waits for a CPU */
	uint64_t n_switches;
};

static struct thread read_thread(pid_t tid)
{
	char path[64], line[128];
	struct thread thread = {};
	bool found = false;
	_cleanup_file_ FILE *file = NULL;

	snprintf(path, sizeof path, "/proc/%d/task/%d/status", daemon_process.pid, tid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (!found && fgets(line, sizeof line, file)) {
		(void)sscanf(line, "State: %c", &thread.state);
		found = sscanf(line, "voluntary_ctxt_switches: %" SCNu64, &thread.n_switches) == 1;
	}
	assert_true(found);
	return thread;
}

struct switches {
	uint64_t of_main, of_readers, n_awake;
};

/* How often its threads went to sleep so far, and how many do not sleep now. */
static struct switches count_switches(void)
{
	struct switches counts = {};
	const struct dirent *entry;
	char path[64];
	DIR *directory;

	snprintf(path, sizeof path, "/proc/%d/task", daemon_process.pid);
	directory = opendir(path);
	assert_non_null(directory);
	while ((entry = readdir(directory))) {
		pid_t tid = atoi(entry->d_name);
		struct thread thread = {};

		if (!tid)
			continue;
		thread = read_thread(tid);
		*(tid == daemon_process.pid ? &counts.of_main : &counts.of_readers) +=
			thread.n_switches;
		counts.n_awake += thread.state != 'S';
	}
	closedir(directory);
	return counts;
}

/* On a busy machine a thread waits for a CPU for longer than a look takes: such a one still has
 * something to do. */
static void settle(void)
{
	struct switches before, after = count_switches();

	do {
		before = after;
		usleep(100000);
		after = count_switches();
	} while (after.n_awake || before.n_awake || after.of_readers != before.of_readers ||
		 after.of_main != before.of_main);
}

CASE("idle, uncored wakes up twice in the watchdog's interval, its readers never")
{
	struct wire_packet welcomes[CLIENTS];
	int connections[CLIENTS];
	struct switches before, after;
	unsigned n_pings;

	begin(WATCHDOG_S, "[reader]\nrealtime = no\n");
	for (unsigned i = 0; i < CLIENTS; i++)
		connections[i] = connect_hello(&daemon_process, &welcomes[i]);
	settle();
	manager_dispatch(&daemon_process.manager);
	n_pings = daemon_process.manager.n_pings;
	before = count_switches();
	sleep(2 * WATCHDOG_S);
	after = count_switches();
	manager_dispatch(&daemon_process.manager);
	n_pings = daemon_process.manager.n_pings - n_pings;
	for (unsigned i = 0; i < CLIENTS; i++) {
		wire_packet_done(&welcomes[i]);
		close(connections[i]);
	}
	assert_int_equal(after.of_readers, before.of_readers);
	assert_in_range(after.of_main - before.of_main, 1, n_pings + 1);
	assert_in_range(n_pings, 1, 2 * 2 + 1);
	daemon_stop(&daemon_process);
}

CASE("without a watchdog, an idle uncored never wakes up")
{
	struct switches before;

	begin(0, NULL);
	settle();
	before = count_switches();
	sleep(WATCHDOG_S);
	assert_memory_equal(&(struct switches[]){ count_switches() }, &before, sizeof before);
	assert_int_equal(daemon_process.manager.n_pings, 0);
	daemon_stop(&daemon_process);
}

int main(void)
{
	return run_privileged_cases(NULL, NULL);
}
