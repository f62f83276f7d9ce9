/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which calls a process can make after call_filter_set(), and which it cannot. Each case asks a
 * child, because a filter cannot be taken back. Arguments are wrong, so that a call does nothing if
 * it is let through.
 */
#include "daemon/base/call-filter.h"
#include "tests/harness/test.h"

#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/macro.h"

enum { NO_FILTERS = 77, NEWER_THAN_KNOWN = 463 };

struct call {
	const char *name;
	long number, arguments[4];
	int error; /* by which the filter refuses */
};

/* In a child. */
static void set_filter(void)
{
	int r = call_filter_set();

	if (r == -ENOSYS || r == -EINVAL || r == -EOPNOTSUPP)
		_exit(NO_FILTERS);
	if (r < 0)
		_exit(99);
}

static int in_child(int (*body)(const void *argument), const void *argument)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(body(argument));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_FILTERS)
		skip();
	return WEXITSTATUS(status);
}

static int error_of(const struct call *call)
{
	const long *a = call->arguments;

	errno = 0;
	syscall(call->number, a[0], a[1], a[2], a[3], 0, 0);
	return errno;
}

static int error_after_filter(const void *argument)
{
	set_filter();
	return error_of(argument);
}

static int error_without_filter(const void *argument)
{
	return error_of(argument);
}

static const struct call refused[] = {
	{ "execve", SYS_execve, { 0 }, EPERM },
	{ "execveat", SYS_execveat, { -1 }, EPERM },
	{ "perf_event_open", SYS_perf_event_open, { 0 }, EPERM },
	{ "bpf that loads", SYS_bpf, { BPF_PROG_LOAD }, EPERM },
	{ "bpf that attaches", SYS_bpf, { BPF_RAW_TRACEPOINT_OPEN }, EPERM },
	{ "bpf that writes", SYS_bpf, { BPF_MAP_UPDATE_ELEM }, EPERM },
	{ "io_uring_setup", 425, { 0 }, EPERM },
	{ "io_uring_register", 427, { -1 }, EPERM },
	{ "fspick", 433, { -1 }, EPERM },
	{ "userfaultfd", SYS_userfaultfd, { -1 }, EPERM },
#ifndef __SANITIZE_ADDRESS__
	{ "ptrace", SYS_ptrace, { PTRACE_CONT, -1 }, EPERM },
#endif
	{ "process_vm_readv", SYS_process_vm_readv, { -1, 0, 1 }, EPERM },
	{ "process_vm_writev", SYS_process_vm_writev, { -1, 0, 1 }, EPERM },
	{ "pidfd_getfd", 438, { -1, -1 }, EPERM },
	{ "setuid", SYS_setuid, { -1 }, EPERM },
	{ "setgroups", SYS_setgroups, { -1 }, EPERM },
	{ "socket of AF_INET", SYS_socket, { AF_INET, -1 }, EAFNOSUPPORT },
	{ "socket of AF_NETLINK", SYS_socket, { AF_NETLINK, -1 }, EAFNOSUPPORT },
	{ "unshare of users", SYS_unshare, { CLONE_NEWUSER | CLONE_VM }, EPERM },
	{ "clone into users", SYS_clone, { CLONE_NEWUSER | CLONE_FS }, EPERM },
	{ "clone3", 435, { 0 }, ENOSYS },
	{ "setns", SYS_setns, { -1 }, EPERM },
	{ "mount", SYS_mount, { 0 }, EPERM },
	{ "umount2", SYS_umount2, { 0, -1 }, EPERM },
	{ "mount_setattr", 442, { -1, 0, -1 }, EPERM },
	{ "init_module", SYS_init_module, { 0 }, EPERM },
	{ "finit_module", SYS_finit_module, { -1 }, EPERM },
	{ "kexec_load", SYS_kexec_load, { 0, 0, 0, -1 }, EPERM },
	{ "a call of a kernel to come", NEWER_THAN_KNOWN, { -1 }, ENOSYS },
};

CASE("calls that only the start needs are refused")
{
	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		int error = in_child(error_after_filter, &refused[i]);

		if (error != refused[i].error)
			fail_msg("%s: errno is %d, not %d", refused[i].name, error,
				refused[i].error);
	}
}

/* Shows that the refusals come from the filter. Without privilege some calls are refused anyway. */
CASE("without the filter, most of these calls are not refused that way")
{
	unsigned n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		n += in_child(error_without_filter, &refused[i]) != refused[i].error;
	assert_true(n > ARRAY_SIZE(refused) / 2);
}

static void *unshare_files(void *argument)
{
	*(int *)argument = unshare(CLONE_FILES);
	return NULL;
}

static int work(const void *argument)
{
	/* Without a program; some kernels refuse that, too. */
	static const struct call run = { "bpf that runs", SYS_bpf, { BPF_PROG_TEST_RUN }, 0 };
	int ends[2], unshared = -1, error = error_of(&run);
	pthread_t thread;
	void *map;

	set_filter();
	if (error_of(&run) != error)
		return 5;
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED || memfd_create("text", MFD_CLOEXEC) < 0)
		return 1;
	if (socket(AF_UNIX, SOCK_STREAM, 0) < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
		return 2;
	if (pthread_create(&thread, NULL, unshare_files, &unshared) || pthread_join(thread, NULL))
		return 3;
	return unshared < 0 ? 4 : 0;
}

CASE("calls that serving clients needs work")
{
	assert_int_equal(in_child(work, NULL), 0);
}

/* A thread that runs already when the filter is set. */
struct early {
	pthread_barrier_t barrier;
	int error;
};

static void *try_late(void *argument)
{
	static const struct call call = { "perf_event_open", SYS_perf_event_open, { 0 }, EPERM };
	struct early *early = argument;

	pthread_barrier_wait(&early->barrier);
	early->error = error_of(&call);
	return NULL;
}

static int filter_beside_a_thread(const void *argument)
{
	struct early early = {};
	pthread_t thread;

	pthread_barrier_init(&early.barrier, NULL, 2);
	if (pthread_create(&thread, NULL, try_late, &early))
		return 98;
	set_filter();
	pthread_barrier_wait(&early.barrier);
	pthread_join(thread, NULL);
	return early.error;
}

CASE("the filter holds for threads that run already")
{
	assert_int_equal(in_child(filter_beside_a_thread, NULL), EPERM);
}
