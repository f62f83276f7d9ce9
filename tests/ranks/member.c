/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * member STEP..: a rank of a job, which does one step after the other:
 *
 *   begin NAME, end NAME   a region
 *   touch N                touches N new pages: N faults
 *   kernel NAME N          makes arrays of N elements for a kernel of `uncore validate`, and runs
 *                          it once
 *   pass NAME N            runs it N times
 *   sleep MS
 *   say WORD               prints a line
 *   wait                   reads a line from its input
 *   faults                 prints the faults of the whole machine so far
 *   repeat N .. again      does the steps between N times
 *   fork                   a child does the rest of the steps; the parent goes on when it is over
 *   outlive                the same, however the child ends
 *   detach                 the same, but the parent reads a line from its input, and exits
 *   orphan                 waits for the end of the parent
 *   quit                   ends by _exit(2)
 *   threads N              N threads each do the rest of the steps, and nothing follows
 *   exec                   executes itself, with the rest of the steps
 *   copy FILE              does the rest of the steps by another copy of libuncore, the file FILE
 *   first                  does the rest by that which it is linked with
 *   close                  closes all descriptors but the first three
 *   kill                   kills itself
 *   report FILE            writes the report so far
 *   record TEAM            takes the record of the newest run of TEAM of this user, and prints how
 * many processes live records                the same for all teams of this user, without printing
 *   forget UID TEAM RUN    has uncored forget a run, and prints what that gave
 *   descriptors            prints how many descriptors it has
 *
 * A step of libuncore that fails is told on stderr, and the rest goes on.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <err.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/macro.h"
#include "tests/harness/kernel-run.h"
#include "tests/harness/program.h"
#include "tests/ranks/faults.h"

enum { MOST = 1 << 24, THREADS_MOST = 64, KERNELS_MOST = 4 };

/* The functions of one copy of libuncore. */
struct library {
	int (*begin)(const char *name);
	int (*end)(const char *name);
	int (*report)(const char *path);
	int (*record)(
		const char *socket, uint32_t uid, const char *name, uint32_t number, char **json);
	int (*forget)(const char *socket, uint32_t uid, const char *name, uint32_t run);
	const char *(*error_text)(void);
};

static const struct library first = {
	.begin = uncore_region_begin,
	.end = uncore_region_end,
	.report = uncore_region_report,
	.record = uncore_team_record,
	.forget = uncore_team_forget,
	.error_text = uncore_error_text,
};
static struct library library;

static char **program; /* argv */
static pid_t parent;
static struct kernel_run kernels[KERNELS_MOST];
static unsigned n_kernels;
static _Thread_local char **at; /* the next word */
static _Thread_local char **loop_at;
static _Thread_local uint64_t loops_left;

static const char *word(void)
{
	if (!*at)
		errx(2, "A word is missing at the end.");
	return *at++;
}

static void tell(int r, const char *what, const char *name)
{
	if (r < 0)
		fprintf(stderr, "%s %s: %s\n", what, name, library.error_text());
}

static void do_begin(void)
{
	const char *name = word();

	tell(library.begin(name), "begin", name);
}

static void do_end(void)
{
	const char *name = word();

	tell(library.end(name), "end", name);
}

static void do_touch(void)
{
	faults_touch(program_number(word(), MOST));
}

static void do_kernel(void)
{
	const char *name = word();
	struct kernel_wish wish = { .number = program_number(word(), MOST) };

	if (n_kernels == KERNELS_MOST)
		errx(2, "There are %d kernels already.", KERNELS_MOST);
	kernel_run_prepare(&kernels[n_kernels++], name, &wish);
}

static void do_pass(void)
{
	const char *name = word();
	unsigned i = 0;

	while (i < n_kernels && strcmp(kernels[i].kernel->name, name))
		i++;
	if (i == n_kernels)
		errx(2, "No step 'kernel %s' comes before 'pass'.", name);
	kernel_run_passes(&kernels[i], program_number(word(), MOST));
}

static void do_sleep(void)
{
	usleep((useconds_t)program_number(word(), MOST) * 1000);
}

static void do_say(void)
{
	printf("%s\n", word());
	fflush(stdout);
}

static void do_wait(void)
{
	char line[64];

	if (!fgets(line, sizeof line, stdin))
		errx(1, "The input ended.");
}

static void do_faults(void)
{
	printf("%llu\n", (unsigned long long)faults_machine());
	fflush(stdout);
}

static void do_repeat(void)
{
	loops_left = program_number(word(), MOST);
	loop_at = at;
}

static void do_again(void)
{
	if (loops_left > 1) {
		loops_left--;
		at = loop_at;
	}
}

/* 0: this is the child; otherwise it has ended, well if 1, or badly if -1. */
static int fork_and_wait(void)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid == 0)
		return 0;
	if (waitpid(pid, &status, 0) != pid)
		err(1, "waitpid");
	return status ? -1 : 1;
}

static void do_fork(void)
{
	const int r = fork_and_wait();

	if (r < 0)
		errx(1, "The child failed.");
	if (r)
		exit(0);
}

static void do_outlive(void)
{
	if (fork_and_wait())
		exit(0);
}

static void do_detach(void)
{
	if (fork()) {
		do_wait();
		exit(0);
	}
	parent = getppid();
}

static void do_orphan(void)
{
	while (getppid() == parent)
		usleep(1000);
}

static void do_quit(void)
{
	_exit(0);
}

static void do_exec(void)
{
	at[-1] = program[0];
	execv("/proc/self/exe", at - 1);
	err(1, "exec");
}

static void do_close(void)
{
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
}

static void *symbol(void *copy, const char *name)
{
	void *found = dlsym(copy, name);

	if (!found)
		errx(1, "%s", dlerror());
	return found;
}

static void do_copy(void)
{
	void *copy = dlopen(word(), RTLD_NOW | RTLD_LOCAL);

	if (!copy)
		errx(1, "%s", dlerror());
	library.begin = symbol(copy, "uncore_region_begin");
	library.end = symbol(copy, "uncore_region_end");
	library.report = symbol(copy, "uncore_region_report");
	library.record = symbol(copy, "uncore_team_record");
	library.forget = symbol(copy, "uncore_team_forget");
	library.error_text = symbol(copy, "uncore_error_text");
}

static void do_first(void)
{
	library = first;
}

static void do_kill(void)
{
	kill(getpid(), SIGKILL);
}

static void do_report(void)
{
	const char *path = word();

	tell(library.report(path), "report", path);
}

static void do_record(void)
{
	const char *team = word();
	char *json = NULL;
	int r = library.record(NULL, UNCORE_UNKNOWN_USER, team, 0, &json);

	tell(r, "record", team);
	printf("%d\n", r);
	fflush(stdout);
	free(json);
}

static void do_records(void)
{
	char *json = NULL;

	for (uint32_t i = 0; library.record(NULL, UNCORE_UNKNOWN_USER, NULL, i, &json) >= 0; i++)
		free(take_ptr(json));
}

static void do_forget(void)
{
	const uint32_t uid = (uint32_t)program_number(word(), UINT32_MAX);
	const char *team = word();
	int r = library.forget(NULL, uid, team, (uint32_t)program_number(word(), UINT32_MAX));

	tell(r, "forget", team);
	printf("%d\n", r);
	fflush(stdout);
}

static void do_descriptors(void)
{
	DIR *folder = opendir("/proc/self/fd");
	int n = 0;

	if (!folder)
		err(1, "/proc/self/fd");
	while (readdir(folder))
		n++;
	closedir(folder);
	printf("%d\n", n);
	fflush(stdout);
}

static void run(const char *name);

static void *do_rest(void *rest)
{
	at = rest;
	while (*at)
		run(word());
	return NULL;
}

static void do_threads(void)
{
	pthread_t threads[THREADS_MOST];
	uint64_t n = program_number(word(), THREADS_MOST);

	for (uint64_t i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, do_rest, at) != 0)
			errx(1, "Cannot start a thread.");
	for (uint64_t i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	exit(0);
}

static const struct step {
	const char *name;
	void (*run)(void);
} steps[] = {
	{ "begin", do_begin },
	{ "end", do_end },
	{ "touch", do_touch },
	{ "kernel", do_kernel },
	{ "pass", do_pass },
	{ "sleep", do_sleep },
	{ "say", do_say },
	{ "wait", do_wait },
	{ "faults", do_faults },
	{ "repeat", do_repeat },
	{ "again", do_again },
	{ "fork", do_fork },
	{ "outlive", do_outlive },
	{ "detach", do_detach },
	{ "orphan", do_orphan },
	{ "quit", do_quit },
	{ "threads", do_threads },
	{ "exec", do_exec },
	{ "copy", do_copy },
	{ "first", do_first },
	{ "close", do_close },
	{ "kill", do_kill },
	{ "report", do_report },
	{ "record", do_record },
	{ "records", do_records },
	{ "forget", do_forget },
	{ "descriptors", do_descriptors },
};

static void run(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (!strcmp(steps[i].name, name)) {
			steps[i].run();
			return;
		}
	errx(2, "There is no step '%s'.", name);
}

int main(int argc, char *argv[])
{
	(void)argc;
	library = first;
	program = argv;
	at = argv + 1;
	while (*at)
		run(word());
	return 0;
}
