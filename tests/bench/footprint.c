/* SPDX-License-Identifier: BSD-3-Clause */
/* The cost of an idle daemon in memory and wake-ups, and the time that starts take. */
#include "tests/bench/bench.h"

#include <dirent.h>
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/clock.h"

enum { IDLE_CLIENTS = 16, IDLE_SECONDS = 10, STARTS = 20, COMMANDS = 51 };

/* The sum of all numbers that follow @key in a file like /proc/PID/status. */
static double sum_of_lines(const char *path, const char *key)
{
	char line[256];
	double sum = 0;
	FILE *file = fopen(path, "re");

	if (!file)
		err(1, "%s", path);
	while (fgets(line, sizeof line, file))
		if (strstr(line, key))
			sum += strtod(strchr(line, ':') + 1, NULL);
	fclose(file);
	return sum;
}

/* Every switch away from a thread of @pid, voluntary or not. */
static double context_switches(pid_t pid)
{
	char path[300];
	struct dirent *entry;
	double sum = 0;
	DIR *tasks;

	snprintf(path, sizeof path, "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		err(1, "%s", path);
	while ((entry = readdir(tasks)))
		if (entry->d_name[0] != '.') {
			snprintf(path, sizeof path, "/proc/%d/task/%s/status", pid, entry->d_name);
			sum += sum_of_lines(path, "voluntary_ctxt_switches:");
		}
	closedir(tasks);
	return sum;
}

static void measure_idle(const struct daemon_process *daemon)
{
	struct uncore *clients[IDLE_CLIENTS];
	double before;

	for (int i = 0; i < IDLE_CLIENTS; i++)
		if (uncore_open(daemon->socket_path, &clients[i]) < 0)
			errx(1, "%s", uncore_error_text());
	sleep(1);
	before = context_switches(daemon->pid);
	sleep(IDLE_SECONDS);
	figure_add(
		&(struct figure){ "idle_wakeups_per_min", "wake-ups per minute, idle, 16 clients",
			"", (context_switches(daemon->pid) - before) * 60 / IDLE_SECONDS, 0 });
	for (int i = 0; i < IDLE_CLIENTS; i++)
		uncore_close(clients[i]);
}

static int exec_quietly(void *argument)
{
	char *const *arguments = argument;
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(null_fd, STDOUT_FILENO);
	dup2(null_fd, STDERR_FILENO);
	execvp(arguments[0], arguments);
	return 127;
}

static double time_command(const char *const arguments[])
{
	uint64_t begin_ns = clock_now_ns();
	pid_t pid = start_as_nobody(exec_quietly, (void *)arguments);
	int status;

	if (waitpid(pid, &status, 0) < 0 || status)
		errx(1, "%s failed.", arguments[0]);
	return (double)(clock_now_ns() - begin_ns) / 1e6;
}

static void measure_stat(const struct daemon_process *daemon)
{
	char program[512];
	const char *const bare[] = { "true", NULL };
	const char *const counted[] = { program, "stat", "--socket", daemon->socket_path, "--",
		"true", NULL };
	double bare_ms[COMMANDS], counted_ms[COMMANDS];

	snprintf(program, sizeof program, "%s", build_path("client/uncore"));
	for (int i = 0; i < COMMANDS; i++) {
		bare_ms[i] = time_command(bare);
		counted_ms[i] = time_command(counted);
	}
	figure_add(&(struct figure){ "stat_overhead_ms", "uncore stat -- true, over true", "ms",
		quantile(counted_ms, COMMANDS, 0.5) - quantile(bare_ms, COMMANDS, 0.5), NAN });
}

void measure_footprint(const struct daemon_process *daemon)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/status", daemon->pid);
	figure_add(&(struct figure){ "rss_kib", "resident memory after 64 clients", "KiB",
		sum_of_lines(path, "VmRSS"), 6144 });
	measure_idle(daemon);
	measure_stat(daemon);
}

void measure_start(const char *config, struct method_figures *ret)
{
	double ms[STARTS], kib[STARTS];

	for (int i = 0; i < STARTS; i++) {
		struct daemon_process daemon = {};
		uint64_t begin_ns = clock_now_ns();
		char path[64];

		daemon_start(&daemon, "standin-wide", config);
		ms[i] = (double)(clock_now_ns() - begin_ns) / 1e6;
		snprintf(path, sizeof path, "/proc/%d/status", daemon.pid);
		kib[i] = sum_of_lines(path, "VmHWM");
		daemon_stop(&daemon);
	}
	ret->ready_ms = quantile(ms, STARTS, 0.5);
	ret->hwm_kib = quantile(kib, STARTS, 0.5);
	ret->hwm_worst_kib = quantile(kib, STARTS, 1);
}
