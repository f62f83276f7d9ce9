/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that must not notice that its regions are measured: `unnoticed SCENE` puts itself into
 * the scene, passes through regions, and ends with status 3. Anything else is what the measurement
 * did to it.
 */
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"

enum { DONE = 3, PASSAGES = 200, ERRNO = 77 };

static char *self;

#define MUST(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static void fail(const char *condition, int line)
{
	printf("line %d: not %s: %s\n", line, condition, strerror(errno));
	fflush(stdout);
	_exit(1);
}

static void pass(void)
{
	for (int i = 0; i < PASSAGES; i++) {
		uncore_region_begin("outer");
		uncore_region_begin("inner");
		uncore_region_end("inner");
		uncore_region_end("outer");
	}
}

static void limit(int resource, rlim_t most)
{
	const struct rlimit value = { most, most };

	MUST(setrlimit(resource, &value) == 0);
}

/* --- limits --- */

static void no_file_grows(void)
{
	limit(RLIMIT_FSIZE, 0);
	pass();
}

static void no_file_grows_later(void)
{
	pass();
	limit(RLIMIT_FSIZE, 0);
	pass();
}

static void no_memory(void)
{
	unsigned long pages;
	FILE *file = fopen("/proc/self/statm", "re");

	MUST(file && fscanf(file, "%lu", &pages) == 1);
	fclose(file);
	limit(RLIMIT_AS, pages * (rlim_t)sysconf(_SC_PAGESIZE) + 65536);
	pass();
}

static void no_descriptors(void)
{
	limit(RLIMIT_NOFILE, 3);
	pass();
}

static void no_locked_memory(void)
{
	limit(RLIMIT_MEMLOCK, 0);
	pass();
}

static void *pass_in_thread(void *nothing)
{
	pass();
	return nothing;
}

/* The kernel kills a process whose thread grows over its stack. */
static void small_stack(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	MUST(pthread_attr_init(&attributes) == 0);
	MUST(pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)) == 0);
	for (int i = 0; i < 3; i++) {
		MUST(pthread_create(&thread, &attributes, pass_in_thread, NULL) == 0);
		MUST(pthread_join(thread, NULL) == 0);
	}
}

/* --- state --- */

static void error_number(void)
{
	for (int i = 0; i < PASSAGES; i++) {
		errno = ERRNO;
		uncore_region_begin("outer");
		MUST(errno == ERRNO);
		uncore_region_end("outer");
		MUST(errno == ERRNO);
		uncore_region_end("never begun");
		MUST(errno == ERRNO);
	}
}

static void floating_point(void)
{
	MUST(fesetround(FE_UPWARD) == 0 && feclearexcept(FE_ALL_EXCEPT) == 0);
	pass();
	MUST(fegetround() == FE_UPWARD);
	MUST(fetestexcept(FE_ALL_EXCEPT) == 0);
}

/* As Fortran programs do that are compiled with -ffpe-trap. The report is made at exit. */
static void floating_point_traps(void)
{
	MUST(feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW) >= 0);
	pass();
}

/* --- order --- */

static void pass_at_exit(void)
{
	pass();
}

static void at_exit(void)
{
	MUST(atexit(pass_at_exit) == 0);
	pass();
	MUST(atexit(pass_at_exit) == 0);
}

static void fork_in_handler(int number)
{
	pid_t pid = fork();

	(void)number;
	if (pid == 0) {
		pass();
		_exit(DONE);
	}
}

static void fork_in_signal(void)
{
	int status;

	MUST(signal(SIGUSR1, fork_in_handler) != SIG_ERR);
	for (int i = 0; i < 20; i++) {
		uncore_region_begin("around");
		raise(SIGUSR1);
		uncore_region_end("around");
	}
	for (int i = 0; i < 20; i++)
		MUST(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == DONE);
}

static void exec_in_region(void)
{
	uncore_region_begin("never ended");
	execl(self, self, "plain", (char *)NULL);
	MUST(!"execl() came back");
}

static void end_in_region(void)
{
	uncore_region_begin("never ended");
}

static void *begin_and_end_thread(void *nothing)
{
	uncore_region_begin("of a thread");
	return nothing;
}

static void thread_ends_in_region(void)
{
	pthread_t thread;

	MUST(pthread_create(&thread, NULL, begin_and_end_thread, NULL) == 0);
	MUST(pthread_join(thread, NULL) == 0);
	pass();
}

/* --- surroundings --- */

/* What the program writes there goes nowhere, as before its regions. */
static void closed_stderr(void)
{
	close(STDERR_FILENO);
	pass();
	MUST(write(STDERR_FILENO, "lost", 4) < 0 && errno == EBADF);
}

/* As a program that redirects its stderr: nobody can tell them apart. */
static void reopened_stderr(void)
{
	close(STDERR_FILENO);
	MUST(open("data", O_WRONLY | O_CREAT | O_TRUNC, 0666) == STDERR_FILENO);
	pass();
	MUST(write(STDERR_FILENO, "data\n", 5) == 5);
}

static void broken_stderr(void)
{
	int ends[2];

	MUST(pipe(ends) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO);
	close(ends[0]);
	close(ends[1]);
	pass();
}

static void other_folder(void)
{
	MUST(chdir("/") == 0);
	pass();
}

static void other_folder_later(void)
{
	pass();
	MUST(chdir("/") == 0);
}

static void empty_environment(void)
{
	clearenv();
	pass();
}

/* What Docker's default refuses, among what a library may want: moby/profiles/seccomp/default.json.
 */
static void seccomp(void)
{
	static const int refused[] = { SYS_perf_event_open, SYS_bpf, SYS_userfaultfd, SYS_mbind,
		SYS_move_pages, SYS_get_mempolicy, SYS_set_mempolicy, SYS_setns, SYS_unshare,
		SYS_io_uring_setup, SYS_keyctl, SYS_kcmp, SYS_pidfd_getfd };
	enum { N = sizeof refused / sizeof *refused };
	struct sock_filter filter[2 + 2 * N] = { BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
	struct sock_fprog program = { sizeof filter / sizeof *filter, filter };

	for (int i = 0; i < N; i++) {
		filter[1 + 2 * i] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)refused[i], 0, 1);
		filter[2 + 2 * i] =
			(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	}
	filter[1 + 2 * N] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	MUST(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
	MUST(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
	pass();
}

static void plain(void)
{
	pass();
}

static const struct {
	const char *name;
	void (*play)(void);
} scenes[] = {
	{ "plain", plain },
	{ "no-file-grows", no_file_grows },
	{ "no-file-grows-later", no_file_grows_later },
	{ "no-memory", no_memory },
	{ "no-descriptors", no_descriptors },
	{ "no-locked-memory", no_locked_memory },
	{ "small-stack", small_stack },
	{ "errno", error_number },
	{ "floating-point", floating_point },
	{ "floating-point-traps", floating_point_traps },
	{ "at-exit", at_exit },
	{ "fork-in-signal", fork_in_signal },
	{ "exec-in-region", exec_in_region },
	{ "end-in-region", end_in_region },
	{ "thread-ends-in-region", thread_ends_in_region },
	{ "closed-stderr", closed_stderr },
	{ "reopened-stderr", reopened_stderr },
	{ "broken-stderr", broken_stderr },
	{ "other-folder", other_folder },
	{ "other-folder-later", other_folder_later },
	{ "empty-environment", empty_environment },
	{ "seccomp", seccomp },
};

int main(int argc, char **argv)
{
	self = argv[0];
	for (size_t i = 0; argc == 2 && i < sizeof scenes / sizeof *scenes; i++)
		if (strcmp(argv[1], scenes[i].name) == 0) {
			scenes[i].play();
			return DONE;
		}
	return 2;
}
