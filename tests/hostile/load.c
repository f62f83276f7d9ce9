/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/hostile/load.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "tests/harness/cpu-time.h"
#include "tests/harness/daemon-process.h"

enum { LIFE_S = 60, INODES_MAX = 65536, BURN_US = 200 };

/*
 * A thread that took less of a CPU than the first share was idle. A thread that wanted more than
 * the second takes all the CPU time that it can get.
 */
static const double IDLE_SHARE = 0.0005, HUNGRY_SHARE = 0.9;

/* --- processes --- */

static bool is_in(pid_t group, const pid_t groups[], unsigned n_groups)
{
	for (unsigned i = 0; i < n_groups; i++)
		if (groups[i] == group)
			return true;
	return false;
}

/* Calls @found for each entry of the directory @path that begins with a digit. */
static void for_each_number(
	const char *path, void (*found)(pid_t number, void *argument), void *argument)
{
	DIR *directory = opendir(path);
	struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		if (isdigit((unsigned char)*entry->d_name))
			found(atoi(entry->d_name), argument);
	if (directory)
		closedir(directory);
}

struct search {
	const pid_t *groups;
	unsigned n_groups;
	void (*found)(pid_t pid, void *argument);
	void *argument;
};

static void look_at_process(pid_t pid, void *argument)
{
	const struct search *search = argument;

	if (is_in(getpgid(pid), search->groups, search->n_groups))
		search->found(pid, search->argument);
}

static void for_each_process(const struct search *search)
{
	for_each_number("/proc", look_at_process, (void *)(uintptr_t)search);
}

/* --- CPU time --- */

struct sampling {
	pid_t pid;
	struct load_sample *sample;
};

static void sample_task(pid_t tid, void *argument)
{
	struct sampling *sampling = argument;
	struct load_sample *sample = sampling->sample;
	struct cpu_time time;

	if (sample->n == TASKS_MAX || cpu_time(sampling->pid, tid, &time) < 0)
		return;
	sample->tasks[sample->n].tid = tid;
	sample->tasks[sample->n].cpu_ns = time.ran_ns;
	sample->tasks[sample->n++].wanted_ns = time.ran_ns + time.waited_ns;
}

static void sample_process(pid_t pid, void *argument)
{
	struct sampling sampling = { pid, argument };
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task", pid);
	for_each_number(path, sample_task, &sampling);
}

void load_sample(const pid_t groups[], unsigned n_groups, struct load_sample *ret)
{
	const struct search search = { groups, n_groups, sample_process, ret };

	ret->n = 0;
	ret->at_ns = clock_now_ns();
	for_each_process(&search);
}

static const struct load_task *find_task(const struct load_sample *sample, pid_t tid)
{
	static const struct load_task none;

	for (unsigned i = 0; i < sample->n; i++)
		if (sample->tasks[i].tid == tid)
			return &sample->tasks[i];
	return &none;
}

struct load load_between(const struct load_sample *from, const struct load_sample *to)
{
	double time_ns = (double)(to->at_ns - from->at_ns);
	struct load load = { .n_hungry = 0 };

	for (unsigned i = 0; i < to->n; i++) {
		const struct load_task *now = &to->tasks[i], *then = find_task(from, now->tid);
		double wanted = (double)(now->wanted_ns - then->wanted_ns) / time_ns;
		double took = (double)(now->cpu_ns - then->cpu_ns) / time_ns;

		load.cpus += took;
		if (wanted > HUNGRY_SHARE) {
			load.n_hungry++;
		} else if (took > IDLE_SHARE) {
			load.n_modest++;
			load.modest_cpus += took;
		}
	}
	return load;
}

/* --- descriptors --- */

struct memfds {
	unsigned n;
	ino_t inodes[INODES_MAX];
};

static void add_memfd(struct memfds *memfds, ino_t inode)
{
	for (unsigned i = 0; i < memfds->n; i++)
		if (memfds->inodes[i] == inode)
			return;
	if (memfds->n < INODES_MAX)
		memfds->inodes[memfds->n++] = inode;
}

static void count_memfds_of(pid_t pid, void *argument)
{
	char path[300], target[64];
	struct dirent *entry;
	struct stat status;
	DIR *directory;

	snprintf(path, sizeof path, "/proc/%d/fd", pid);
	directory = opendir(path);
	while (directory && (entry = readdir(directory))) {
		ssize_t n = readlinkat(dirfd(directory), entry->d_name, target, sizeof target - 1);

		if (n > 0 && !strncmp(target, "/memfd:", (size_t)n < 7 ? (size_t)n : 7) &&
			fstatat(dirfd(directory), entry->d_name, &status, 0) == 0)
			add_memfd(argument, status.st_ino);
	}
	if (directory)
		closedir(directory);
}

unsigned load_count_memfds(pid_t daemon, const pid_t groups[], unsigned n_groups)
{
	_cleanup_free_ struct memfds *memfds = calloc(1, sizeof *memfds);
	const struct search search = { groups, n_groups, count_memfds_of, memfds };

	assert_non_null(memfds);
	count_memfds_of(daemon, memfds);
	for_each_process(&search);
	return memfds->n;
}

/* --- as much without uncored --- */

static uint64_t own_cpu_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Spins while it is behind its share of a CPU, and otherwise sleeps a moment. */
static int burn(void *argument)
{
	const double *share = argument;
	uint64_t begin_ns = clock_now_ns();

	alarm(LIFE_S);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		if ((double)own_cpu_ns() >= *share * (double)(clock_now_ns() - begin_ns))
			usleep(BURN_US);
	return 0;
}

static void start_some(struct burners *burners, unsigned n, double share)
{
	for (unsigned i = 0; i < n && burners->n < BURNERS_MAX; i++)
		burners->pids[burners->n++] = start_as(SOMEBODY, burn, &share);
}

void burners_start(struct burners *burners, const struct load *load)
{
	unsigned room, n_modest = load->n_modest;

	burners->n = 0;
	start_some(burners, load->n_hungry, 1);
	room = BURNERS_MAX - burners->n;
	if (n_modest > room)
		n_modest = room;
	if (n_modest)
		start_some(burners, n_modest, load->modest_cpus / n_modest);
}

void burners_stop(struct burners *burners)
{
	for (unsigned i = 0; i < burners->n; i++)
		kill(burners->pids[i], SIGKILL);
	for (unsigned i = 0; i < burners->n; i++)
		wait_for(burners->pids[i], 10);
	burners->n = 0;
}
