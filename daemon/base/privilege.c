/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/privilege.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/base/text-file.h"

/* linux/capability.h since 5.8; older headers lack the names */
enum { CAP_PERFMON_NUMBER = 38, CAP_BPF_NUMBER = 39 };

/* kernel.perf_event_paranoid; if it cannot be read, the kernel's own default. */
static int perf_event_paranoid(void)
{
	char text[16];

	if (text_file_read(AT_FDCWD, "/proc/sys/kernel/perf_event_paranoid", text, sizeof text) < 0)
		return 2;
	return atoi(text);
}

static bool has_capability(unsigned number)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	if (syscall(SYS_capget, &header, data) < 0)
		return false;
	return data[number / 32].effective & 1u << number % 32;
}

static uint64_t permitted_capabilities(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};

	if (syscall(SYS_capget, &header, data) < 0)
		return 0;
	return (uint64_t)data[1].permitted << 32 | data[0].permitted;
}

static uint64_t ambient_capabilities(void)
{
	uint64_t set = 0;

	for (unsigned number = 0; number < 64; number++)
		if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, number, 0, 0) == 1)
			set |= UINT64_C(1) << number;
	return set;
}

struct privilege_start privilege_find_start(void)
{
	return (struct privilege_start){
		.secure = getauxval(AT_SECURE),
		.uid = getuid(),
		.euid = geteuid(),
		.gid = getgid(),
		.egid = getegid(),
		.permitted = permitted_capabilities(),
		.ambient = ambient_capabilities(),
	};
}

/*
 * Did the program's file give this process its privilege? This is the kernel's own rule for
 * AT_SECURE (cap_bprm_creds_from_file() in security/commoncap.c), without the rule of the security
 * modules: under SELinux each service starts with AT_SECURE, only because the domain changes.
 */
static bool is_lent(const struct privilege_start *start)
{
	if (!start->secure)
		return false;
	return start->uid != start->euid || start->gid != start->egid ||
	       (start->uid && start->permitted & ~start->ambient);
}

int privilege_check_start(const struct privilege_start *start, struct fault *fault)
{
	if (!is_lent(start))
		return 0;
	return fault_set(fault, -EPERM,
		"uncored does not start: its file has file capabilities or is set-user-ID or "
		"set-group-ID, so that any user could start it, choose what it loads and opens, "
		"and read what only uncored may. Take that from the file with `setcap -r` or "
		"`chmod ug-s`, and start uncored through its systemd unit, or as root.");
}

bool privilege_is_denial(int error)
{
	return error == -EACCES || error == -EPERM;
}

int privilege_explain(int error, struct fault *fault)
{
	return privilege_sentence(
		error, has_capability(CAP_PERFMON_NUMBER), perf_event_paranoid(), fault);
}

int privilege_sentence(int error, bool has_perfmon, int paranoid, struct fault *fault)
{
	if (!has_perfmon)
		return fault_set(fault, error,
			"The kernel does not let this process open system-wide counters: it lacks "
			"CAP_PERFMON (perf_event_paranoid is %d). Start uncored through its "
			"systemd unit, which gives it that capability, or as root.",
			paranoid);
	if (paranoid <= 2)
		return fault_set(fault, error,
			"The kernel does not let this process open system-wide counters (%s) in "
			"spite of CAP_PERFMON and perf_event_paranoid %d: a seccomp filter, as of "
			"a container, or a security module such as SELinux forbids it.",
			strerror(-error), paranoid);
	/* Debian and Ubuntu patch kernel/events/core.c: above 2, it requires CAP_SYS_ADMIN. */
	return fault_set(fault, error,
		"The kernel does not let this process open counters in spite of CAP_PERFMON, since "
		"kernel.perf_event_paranoid is %d (Debian, Ubuntu): set it to 2, the kernel's own "
		"default, with `sysctl kernel.perf_event_paranoid=2`, or install the drop-in "
		"uncored-paranoid.conf, which adds CAP_SYS_ADMIN until the counters are open.",
		paranoid);
}

int privilege_explain_program(int error, struct fault *fault)
{
	if (!privilege_is_denial(error))
		return fault_set(fault, error,
			"The kernel refuses the program that reads the counters: %s.",
			strerror(-error));
	if (!has_capability(CAP_BPF_NUMBER) && !has_capability(CAP_SYS_ADMIN))
		return fault_set(fault, error,
			"uncored lacks CAP_BPF, which its drop-in uncored-bpf.conf gives it.");
	return fault_set(fault, error,
		"The kernel refuses uncored's program in spite of CAP_BPF: a SystemCallFilter= "
		"without bpf, a security module, or before Linux 5.11 LimitMEMLOCK= forbids it.");
}

int privilege_drop(void)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {};

	return syscall(SYS_capset, &header, none) < 0 ? -errno : 0;
}

void privilege_raise_file_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}
