/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * member STEP..: a rank of a job, which does one step after the other:
 *
 *   begin NAME, end NAME   a region
 *   touch N                touches N new pages: N faults
 *   sleep MS
 *   say WORD               prints a line
 *   wait                   reads a line from its input
 *   faults                 prints the faults of the whole machine so far
 *   repeat N .. again      does the steps between N times
 *   fork                   a child does the rest of the steps; the parent goes on when it is over
 *   exec                   executes itself, with the rest of the steps
 *   close                  closes all descriptors but the first three
 *   kill                   kills itself
 *   report FILE            writes the report so far
 *
 * A step of libuncore that fails is told on stderr, and the rest goes on.
 */
#include <err.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/uncore.h"
#include "common/macro.h"
#include "tests/harness/program.h"

enum { MOST = 1 << 24 };

static char **program; /* argv */
static char **at;      /* the next word */
static char **loop_at;
static uint64_t loops_left;

static const char *word(void)
{
	if (!*at)
		errx(2, "A word is missing at the end.");
	return *at++;
}

static void tell(int r, const char *what, const char *name)
{
	if (r < 0)
		fprintf(stderr, "%s %s: %s\n", what, name, uncore_error_text());
}

static void do_begin(void)
{
	const char *name = word();

	tell(uncore_region_begin(name), "begin", name);
}

static void do_end(void)
{
	const char *name = word();

	tell(uncore_region_end(name), "end", name);
}

/* Huge pages are refused, since one fault would bring in many pages. */
static void do_touch(void)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	const size_t bytes = program_number(word(), MOST) * page_bytes;
	volatile char *memory;

	if (!bytes)
		return;
	memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		err(1, "Cannot map %zu bytes", bytes);
	if (madvise((void *)memory, bytes, MADV_NOHUGEPAGE) < 0 && errno != EINVAL)
		err(1, "Cannot refuse huge pages");
	for (size_t i = 0; i < bytes; i += page_bytes)
		memory[i] = 1;
	munmap((void *)memory, bytes);
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
	FILE *file = fopen("/proc/vmstat", "re");
	unsigned long long n;
	char name[64];

	if (!file)
		err(1, "/proc/vmstat");
	while (fscanf(file, "%63s %llu", name, &n) == 2)
		if (!strcmp(name, "pgfault"))
			printf("%llu\n", n);
	fclose(file);
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

static void do_fork(void)
{
	int status;
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid == 0)
		return;
	if (waitpid(pid, &status, 0) != pid || status)
		errx(1, "The child failed.");
	exit(0);
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

static void do_kill(void)
{
	kill(getpid(), SIGKILL);
}

static void do_report(void)
{
	const char *path = word();

	tell(uncore_region_report(path), "report", path);
}

static const struct step {
	const char *name;
	void (*run)(void);
} steps[] = {
	{ "begin", do_begin },
	{ "end", do_end },
	{ "touch", do_touch },
	{ "sleep", do_sleep },
	{ "say", do_say },
	{ "wait", do_wait },
	{ "faults", do_faults },
	{ "repeat", do_repeat },
	{ "again", do_again },
	{ "fork", do_fork },
	{ "exec", do_exec },
	{ "close", do_close },
	{ "kill", do_kill },
	{ "report", do_report },
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
	program = argv;
	at = argv + 1;
	while (*at)
		run(word());
	return 0;
}
