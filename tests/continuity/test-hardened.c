/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Totals and tables of teams outlive uncored where a site has set what guides for hardening advise.
 * vm.memfd_noexec belongs to a PID namespace (Linux 6.3): its first process sets it there, and
 * every uncored of this test runs there, while the test itself stays outside.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/libuncore/team-call.h"
#include "common/macro.h"
#include "tests/continuity/truth.h"
#include "tests/harness/test.h"

enum { NO_SUCH_SETTING = 2, PAGES = 1000 };

static struct daemon_process daemon_process;
static struct truth truth;

/* --- the namespace --- */

static int set_sysctl(const char *path, const char *value)
{
	_cleanup_close_ int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return errno == ENOENT ? NO_SUCH_SETTING : 1;
	return write(fd, value, strlen(value)) == (ssize_t)strlen(value) ? 0 : 1;
}

/* The first process of the namespace; tells through @fd whether the setting is made. */
static void be_first(const char *value, int fd)
{
	char result = (char)set_sysctl("/proc/sys/vm/memfd_noexec", value);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (write(fd, &result, 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* Children of this process are born into a namespace with this vm.memfd_noexec. Returns what
 * set_sysctl() did there. */
static int enter_namespace(const char *value, pid_t *ret_first)
{
	int ends[2];
	char result = 1;

	assert_int_equal(unshare(CLONE_NEWPID), 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	*ret_first = fork();
	if (!*ret_first)
		be_first(value, ends[1]);
	close(ends[1]);
	assert_int_equal(read(ends[0], &result, 1), 1);
	close(ends[0]);
	return result;
}

static void leave_namespace(pid_t first)
{
	_cleanup_close_ int own = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);

	kill(first, SIGKILL);
	assert_int_equal(waitpid(first, NULL, 0), first);
	assert_int_equal(setns(own, CLONE_NEWPID), 0);
}

/* --- what outlives uncored --- */

static ino_t join(void)
{
	const struct team_wish wish = { .name = "slurm.1.0", .layout = 7, .bytes = 1 << 20 };
	struct team_table table;
	struct stat status;

	assert_int_equal(team_join(daemon_process.socket_path, &wish, &table), 0);
	assert_int_equal(fstat(table.fd, &status), 0);
	team_table_done(&table);
	return status.st_ino;
}

static void check_restart(void)
{
	ino_t table;

	daemon_process = (struct daemon_process){};
	daemon_start_activated(&daemon_process, "standin", NULL, true);
	truth_begin(&truth, &daemon_process);
	truth_check(&truth);
	table = join();
	daemon_kill(&daemon_process);
	touch_pages(PAGES);
	daemon_restart(&daemon_process, "standin");
	truth_check(&truth);
	assert_int_equal(join(), table);
	assert_int_equal(daemon_logged(&daemon_process, "it is dropped"), 0);
	daemon_stop(&daemon_process);
}

static void check_with(const char *value)
{
	pid_t first;
	int r = enter_namespace(value, &first);

	if (r == 0)
		check_restart();
	leave_namespace(first);
	assert_int_not_equal(r, 1);
	if (r == NO_SUCH_SETTING)
		skip();
}

CASE("totals and tables go on where memfds get a seal of the kernel's own: vm.memfd_noexec = 1")
{
	check_with("1");
}

CASE("totals and tables go on where memfds must have that seal: vm.memfd_noexec = 2")
{
	check_with("2");
}

int main(void)
{
	return run_privileged_cases(NULL, NULL);
}
