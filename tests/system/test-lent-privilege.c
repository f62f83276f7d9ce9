/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A copy of uncored whose file lends privilege to every user does not start. Privilege that a
 * service manager hands down to an ordinary file is accepted.
 */
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/macro.h"
#include "tests/harness/daemon-process.h"
#include "tests/harness/test.h"

enum { PERFMON = 38 }; /* CAP_PERFMON: older headers lack the name */

static struct run run;
static char directory[256], program[300], root[512], platforms[512];

/* `setcap cap_perfmon+ep` */
static int lend_capability(const char *path)
{
	const struct vfs_cap_data data = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data[PERFMON / 32].permitted = 1U << PERFMON % 32,
	};

	return setxattr(path, "security.capability", &data, XATTR_CAPS_SZ_2, 0);
}

static void copy_program(void)
{
	_cleanup_close_ int from = open(build_path("daemon/uncored"), O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int to =
		open(program, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0755);
	struct stat status;
	off_t done = 0;

	assert_true(from >= 0 && to >= 0);
	assert_int_equal(fstat(from, &status), 0);
	while (done < status.st_size)
		assert_true(sendfile(to, from, &done, (size_t)(status.st_size - done)) > 0);
}

/*
 * Finds a folder where a file can lend privilege: it has attributes, and no mount option `nosuid`.
 */
static bool try_place(const char *place)
{
	struct statvfs mount;

	snprintf(directory, sizeof directory, "%s/uncored-lent-XXXXXX", place);
	if (statvfs(place, &mount) < 0 || mount.f_flag & ST_NOSUID || !mkdtemp(directory))
		return false;
	assert_int_equal(chmod(directory, 0755), 0);
	snprintf(program, sizeof program, "%s/uncored", directory);
	copy_program();
	if (lend_capability(program) == 0)
		return true;
	unlink(program);
	rmdir(directory);
	return false;
}

static int find_place(void **state)
{
	static const char *const places[] = { "/tmp", "/var/tmp", "/dev/shm", "/run" };

	snprintf(root, sizeof root, "%s", build_path("tests/machines/standin"));
	snprintf(platforms, sizeof platforms, "%s", source_path("conf/platforms"));
	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (try_place(places[i]))
			return 0;
	print_error("No file in /tmp, /var/tmp, /dev/shm or /run can have capabilities.\n");
	return -1;
}

static int leave_place(void **state)
{
	unlink(program);
	return rmdir(directory);
}

static void run_it(uid_t uid, const char *option)
{
	run_program(&run, uid,
		(const char *const[]){
			program, "--root", root, "--platforms", platforms, option, NULL });
}

static void assert_refused(void)
{
	if (run.status != 1 || !strstr(run.output, "uncored does not start") ||
		!strstr(run.output, "`setcap -r`") || !strstr(run.output, "systemd unit"))
		fail_msg("Status %d, output: %s", run.status, run.output);
}

CASE("file capabilities are refused, with what to do")
{
	assert_int_equal(lend_capability(program), 0);
	run_it(NOBODY, "--check");
	assert_refused();
	run_it(NOBODY, NULL);
	assert_refused();
}

CASE("set-user-ID and set-group-ID are refused")
{
	removexattr(program, "security.capability");
	assert_int_equal(chmod(program, 04755), 0);
	run_it(NOBODY, "--check");
	assert_refused();
	assert_int_equal(chmod(program, 02755), 0);
	run_it(NOBODY, "--check");
	assert_refused();
	assert_int_equal(chmod(program, 0755), 0);
}

/* As systemd does with AmbientCapabilities= and User=. */
static int check_with_ambient_capability(void *argument)
{
	int silent = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (!become_service(NOBODY) || dup2(silent, STDOUT_FILENO) < 0)
		return 100;
	execl(program, program, "--check", "--root", root, "--platforms", platforms, NULL);
	return argument ? 101 : 102;
}

CASE("privilege that a service manager hands down is accepted")
{
	removexattr(program, "security.capability");
	assert_int_equal(wait_for(start_as(0, check_with_ambient_capability, NULL), 60), 0);
	run_it(NOBODY, "--check");
	assert_int_equal(run.status, 0);
}

int main(void)
{
	return run_privileged_cases(find_place, leave_place);
}
