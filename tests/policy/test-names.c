/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names in [access] while the directory service is down. The daemon has its own files of users and
 * groups, mounted over the machine's files; empty files stand for a service that knows nobody.
 */
#include "tests/harness/daemon-process.h"
#include "tests/harness/test.h"

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/macro.h"

#define CONFIG "[access]\nusers = visitor-of-test\ngroup = readers-of-test\n"

static const struct {
	const char *name, *over, *text;
} files[] = {
	{ "passwd", "/etc/passwd", "visitor-of-test:x:65534:65534::/:/bin/false\n" },
	{ "group", "/etc/group", "readers-of-test:x:65534:\n" },
};

static const char *path_of(const struct daemon_process *daemon, size_t i)
{
	static char path[128];

	snprintf(path, sizeof path, "%s/%s", daemon->directory, files[i].name);
	return path;
}

static void service_is(const struct daemon_process *daemon, bool up)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		_cleanup_file_ FILE *file = fopen(path_of(daemon, i), "we");

		if (!file || fputs(up ? files[i].text : "", file) < 0)
			_exit(96);
	}
}

static void mount_files(const struct daemon_process *daemon)
{
	if (access(path_of(daemon, 0), F_OK) < 0)
		service_is(daemon, true);
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		_exit(95);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (mount(path_of(daemon, i), files[i].over, NULL, MS_BIND, NULL) < 0)
			_exit(94);
}

static void remove_files(const struct daemon_process *daemon)
{
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		unlink(path_of(daemon, i));
}

static int try_open(void *argument)
{
	struct uncore *uncore;
	int r = uncore_open(argument, &uncore);

	if (r == 0)
		uncore_close(uncore);
	return -r;
}

static int opens_for(struct daemon_process *daemon, uid_t uid)
{
	return wait_for(start_as(uid, try_open, daemon->socket_path), 10);
}

CASE("a killed daemon comes back while names cannot be looked up")
{
	struct daemon_process daemon = { .in_child = mount_files };
	struct uncore *before;
	int nobody, somebody, stale;
	struct uncore_machine was = UNCORE_MACHINE_INIT, is = UNCORE_MACHINE_INIT;
	unsigned n_told;

	daemon_start_activated(&daemon, "standin", CONFIG, true);
	assert_int_equal(uncore_open(daemon.socket_path, &before), 0);
	uncore_describe(before, &was);
	for (unsigned i = 0; i < 2;
		i++) { /* the second time by the numbers that the first one kept again */
		daemon_kill(&daemon);
		service_is(&daemon, false);
		daemon_restart(&daemon, "standin");
	}
	nobody = opens_for(&daemon, NOBODY);
	somebody = opens_for(&daemon, SOMEBODY);
	uncore_close(before);
	stale = uncore_open(daemon.socket_path, &before);
	if (stale == 0) {
		uncore_describe(before, &is);
		uncore_close(before);
	}
	n_told = daemon_logged(&daemon, "User visitor-of-test of uncored.conf cannot be looked up");
	remove_files(&daemon);
	daemon_stop(&daemon);
	assert_int_equal(nobody, 0);
	assert_int_equal(somebody, EACCES);
	assert_int_equal(stale, 0);
	assert_memory_equal(was.generation, is.generation, sizeof was.generation);
	assert_int_equal(n_told, 2);
}

CASE("SIGHUP keeps the numbers of names that cannot be looked up")
{
	struct daemon_process daemon = { .in_child = mount_files };
	int nobody;
	unsigned n_read, n_wrong;

	daemon_start_activated(&daemon, "standin", CONFIG, true);
	service_is(&daemon, false);
	daemon_reload(&daemon, CONFIG "[disclosure]\nquantum = 64\n");
	nobody = opens_for(&daemon, NOBODY);
	n_read = daemon_logged(&daemon, "The configuration was read again");
	daemon_reload(&daemon, "[access]\nusers = visitor-of-test stranger-of-test\n");
	n_wrong = daemon_logged(&daemon, "this machine has no user stranger-of-test");
	remove_files(&daemon);
	daemon_stop(&daemon);
	assert_int_equal(nobody, 0);
	assert_int_equal(n_read, 1);
	assert_int_equal(n_wrong, 1);
}

/* Nobody is let in by a number that was never looked up. */
CASE("a name that was never looked up is told to every client")
{
	struct daemon_process daemon = { .in_child = mount_files };
	struct uncore *uncore;
	int r;

	daemon_start_activated(&daemon, "standin", "[access]\nusers = stranger-of-test\n", true);
	r = uncore_open(daemon.socket_path, &uncore);
	remove_files(&daemon);
	daemon_stop(&daemon);
	assert_int_equal(r, -EINVAL);
	assert_non_null(strstr(uncore_error_text(), "no user stranger-of-test"));
}

int main(void)
{
	return run_privileged_cases(NULL, NULL);
}
