/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names in [access] while the directory service is down. The daemon has its own files of users and
 * groups, mounted over the machine's files; empty files stand for a service that knows nobody.
 */
#include "tests/harness/daemon-process.h"
#include "tests/harness/test.h"

#include <errno.h>
#include <string.h>

#include "client/libuncore/uncore.h"

#define CONFIG "[access]\nusers = visitor-of-test\ngroup = readers-of-test\n"

#define ETC                                                                                        \
	{                                                                                          \
		{ "passwd", "visitor-of-test:x:65534:65534::/:/bin/false\n" },                     \
			{ "group", "readers-of-test:x:65534:\n" },                                 \
	}

static void service_fails(const struct daemon_process *daemon)
{
	daemon_write_etc(daemon, 0, "");
	daemon_write_etc(daemon, 1, "");
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
	struct daemon_process daemon = { .etc = ETC };
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
		service_fails(&daemon);
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
	daemon_stop(&daemon);
	assert_int_equal(nobody, 0);
	assert_int_equal(somebody, EACCES);
	assert_int_equal(stale, 0);
	assert_memory_equal(was.generation, is.generation, sizeof was.generation);
	assert_int_equal(n_told, 2);
}

CASE("SIGHUP keeps the numbers of names that cannot be looked up")
{
	struct daemon_process daemon = { .etc = ETC };
	int nobody;
	unsigned n_read, n_wrong;

	daemon_start_activated(&daemon, "standin", CONFIG, true);
	service_fails(&daemon);
	daemon_reload(&daemon, CONFIG "[disclosure]\nquantum = 64\n");
	nobody = opens_for(&daemon, NOBODY);
	n_read = daemon_logged(&daemon, "The configuration was read again");
	daemon_reload(&daemon, "[access]\nusers = visitor-of-test stranger-of-test\n");
	n_wrong = daemon_logged(&daemon, "this machine has no user stranger-of-test");
	daemon_stop(&daemon);
	assert_int_equal(nobody, 0);
	assert_int_equal(n_read, 1);
	assert_int_equal(n_wrong, 1);
}

/* Nobody is let in by a number that was never looked up. */
CASE("a name that was never looked up is told to every client")
{
	struct daemon_process daemon = { .etc = ETC };
	struct uncore *uncore;
	int r;

	daemon_start_activated(&daemon, "standin", "[access]\nusers = stranger-of-test\n", true);
	r = uncore_open(daemon.socket_path, &uncore);
	daemon_stop(&daemon);
	assert_int_equal(r, -EINVAL);
	assert_non_null(strstr(uncore_error_text(), "no user stranger-of-test"));
}

int main(void)
{
	return run_privileged_cases(NULL, NULL);
}
