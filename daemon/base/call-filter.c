/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * This is a list of refused calls, not of allowed calls. The unit already gives uncored a list of
 * allowed calls, systemd's @system-service, which systemd keeps up to date with kernels and C
 * libraries. This filter removes calls from that list, and also works if the unit did not start
 * uncored. A list of the 42 calls that were seen would break with the first C library, sanitizer or
 * name service module (reload.c looks users up) that needs a 43rd call. Such a list would also
 * refuse calls that did not exist when it was written; this filter refuses those by their number.
 *
 * A refused call fails but does not kill the process: a library that tries a new call must not end
 * the counting on a node. The caller reports the failure like any other error.
 */
#include "daemon/base/call-filter.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/macro.h"

#if defined __x86_64__ && defined __LP64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined __aarch64__ && defined __AARCH64EL__
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined __powerpc64__ && defined __LITTLE_ENDIAN__
#define ARCHITECTURE AUDIT_ARCH_PPC64LE
#endif

#ifdef ARCHITECTURE

/* From 424 on (Linux 5.1) a call has the same number on every architecture; headers may be older.
 */
enum {
	IO_URING_SETUP = 425, /* io_uring makes calls that no filter sees */
	FSPICK = 433,         /* the range between them has the mount calls of Linux 5.2 */
	CLONE3 = 435,
	PIDFD_GETFD = 438,
	PROCESS_MADVISE = 440,
	MOUNT_SETATTR = 442,
	LSM_SET_SELF_ATTR = 460,
	LAST_KNOWN = 462, /* mseal, Linux 6.10; also below the numbers of x32 */
};

enum {
	NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |
		     CLONE_NEWPID | CLONE_NEWNET,
};

/* One instruction each; a jump skips the next n instructions. */
#define LOAD(field)                 BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define SKIP_IF(test, value, n)     BPF_JUMP(BPF_JMP | BPF_K | (test), (value), (n), 0)
#define SKIP_UNLESS(test, value, n) BPF_JUMP(BPF_JMP | BPF_K | (test), (value), 0, (n))
#define ALLOW                       BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define FAIL(error)                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))

#define REFUSE_NUMBER(number, error) SKIP_UNLESS(BPF_JEQ, number, 1), FAIL(error)
#define REFUSE_RANGE(first, last)                                                                  \
	SKIP_UNLESS(BPF_JGE, first, 2), SKIP_IF(BPF_JGT, last, 1), FAIL(EPERM)
#define REFUSE(name) REFUSE_NUMBER(SYS_##name, EPERM)

/* These compare the low half of the first argument: the kernel uses only this half, too. */
#define REFUSE_ARGUMENT(name, test, value, error)                                                  \
	SKIP_UNLESS(BPF_JEQ, SYS_##name, 4), LOAD(args[0]), SKIP_IF(test, value, 1), ALLOW,        \
		FAIL(error)
#define REFUSE_OTHER_ARGUMENT(name, value, error)                                                  \
	SKIP_UNLESS(BPF_JEQ, SYS_##name, 4), LOAD(args[0]), SKIP_UNLESS(BPF_JEQ, value, 1), ALLOW, \
		FAIL(error)

static const struct sock_filter program[] = {
	/* Another architecture's calls (ia32) have other numbers. */
	LOAD(arch),
	SKIP_IF(BPF_JEQ, ARCHITECTURE, 1),
	FAIL(EPERM),
	LOAD(nr),
	SKIP_UNLESS(BPF_JGT, LAST_KNOWN, 1),
	FAIL(ENOSYS),

	/* other programs, and counters of other kinds */
	REFUSE(execve),
	REFUSE(execveat),
	REFUSE(perf_event_open),
	REFUSE_OTHER_ARGUMENT(bpf, BPF_PROG_TEST_RUN, EPERM), /* snapshot.h */
	REFUSE_RANGE(IO_URING_SETUP, FSPICK),
	REFUSE(userfaultfd),

/* The leak checker of AddressSanitizer traces the process when it ends. */
#ifndef __SANITIZE_ADDRESS__
	REFUSE(ptrace),
#endif
	/* other processes */
	REFUSE(process_vm_readv),
	REFUSE(process_vm_writev),
	REFUSE_NUMBER(PROCESS_MADVISE, EPERM),
	REFUSE_NUMBER(PIDFD_GETFD, EPERM),
	REFUSE(kcmp),

	/* other users */
	REFUSE(setuid),
	REFUSE(setgid),
	REFUSE(setreuid),
	REFUSE(setregid),
	REFUSE(setresuid),
	REFUSE(setresgid),
	REFUSE(setfsuid),
	REFUSE(setfsgid),
	REFUSE(setgroups),
	REFUSE_NUMBER(LSM_SET_SELF_ATTR, EPERM),

	/* the network, and namespaces. A filter cannot see the flags of clone3(2); without it the C
	 * library falls back to clone(2). socket-closer.c unshares its descriptors. */
	REFUSE_OTHER_ARGUMENT(socket, AF_UNIX, EAFNOSUPPORT),
	REFUSE_OTHER_ARGUMENT(unshare, CLONE_FILES, EPERM),
	REFUSE_ARGUMENT(clone, BPF_JSET, NAMESPACES, EPERM),
	REFUSE_NUMBER(CLONE3, ENOSYS),
	REFUSE(setns),

	/* access to files other than by their path */
	REFUSE(mount),
	REFUSE(umount2),
	REFUSE_NUMBER(MOUNT_SETATTR, EPERM),
	REFUSE(pivot_root),
	REFUSE(chroot),
	REFUSE(mknodat),
	REFUSE(open_by_handle_at),
	REFUSE(fanotify_init),
	REFUSE(quotactl),
	REFUSE(swapon),
	REFUSE(swapoff),

	/* the kernel */
	REFUSE(init_module),
	REFUSE(finit_module),
	REFUSE(delete_module),
	REFUSE(kexec_load),
	REFUSE(kexec_file_load),
	REFUSE(reboot),
	REFUSE(syslog),
	REFUSE(acct),
	REFUSE(add_key),
	REFUSE(request_key),
	REFUSE(keyctl),
	REFUSE(personality),
	REFUSE(settimeofday),
	REFUSE(clock_settime),
	REFUSE(adjtimex),
	REFUSE(clock_adjtime),
	REFUSE(sethostname),
	REFUSE(setdomainname),
#ifdef __x86_64__
	REFUSE(iopl),
	REFUSE(ioperm),
	REFUSE(modify_ldt),
#endif
	ALLOW,
};

int call_filter_set(void)
{
	const struct sock_fprog whole = { ARRAY_SIZE(program), (struct sock_filter *)program };
	long r;

	/* Without this, a filter requires CAP_SYS_ADMIN. uncored runs no other program anyway. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -errno;
	r = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &whole);
	/* A positive result is the number of a thread that has another filter. */
	return r < 0 ? -errno : r > 0 ? -EBUSY : 0;
}

#else

int call_filter_set(void)
{
	return -EOPNOTSUPP;
}

#endif
