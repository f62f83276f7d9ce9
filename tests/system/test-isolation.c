/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A client cannot write the page that others read, make another client wait, hold more than its
 * quota, or leave anything behind when it dies.
 */
#include "tests/harness/daemon-process.h"
#include "tests/harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/libuncore/team-call.h"
#include "client/libuncore/uncore.h"
#include "common/clock.h"
#include "common/page.h"
#include "common/wire.h"

static int complain(const char *what, int error)
{
	printf("# %s (%s)\n", what, strerror(error));
	fflush(stdout);
	return 1;
}

/* --- the page --- */

static int try_to_write_the_page(void *argument)
{
	struct wire_packet packet;
	int connection = connect_hello(&the_daemon, &packet);
	size_t size = packet.message.welcome.page_bytes;
	int page = packet.fds[0];
	char path[64];
	void *map;

	(void)connection;
	if (mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, page, 0) != MAP_FAILED)
		return complain("mmap for writing succeeded", 0);
	map = mmap(NULL, size, PROT_READ, MAP_SHARED, page, 0);
	if (map == MAP_FAILED)
		return complain("mmap for reading failed", errno);
	if (mprotect(map, size, PROT_READ | PROT_WRITE) == 0)
		return complain("mprotect for writing succeeded", 0);
	if (write(page, "x", 1) >= 0 || pwrite(page, "x", 1, 0) >= 0)
		return complain("write succeeded", 0);
	if (ftruncate(page, 0) == 0 || ftruncate(page, (off_t)size * 2) == 0)
		return complain("ftruncate succeeded", 0);
	if (fchmod(page, 0666) == 0)
		return complain("fchmod succeeded", 0);
	if (fcntl(page, F_ADD_SEALS, F_SEAL_WRITE) == 0)
		return complain("adding a seal succeeded", 0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", page);
	if (open(path, O_RDWR) >= 0 || open(path, O_WRONLY) >= 0 ||
		open(path, O_RDWR | O_TRUNC) >= 0)
		return complain("reopening for writing succeeded", 0);
	if (truncate(path, 0) == 0)
		return complain("truncate succeeded", 0);
	return 0;
}

CASE("a client cannot write the page, in any of twelve ways")
{
	assert_int_equal(as_nobody(try_to_write_the_page, NULL), 0);
}

/* --- tables of teams --- */

enum { TABLES_OF_UID_MAX = 32 };

static int join(const char *name, struct team_table *ret)
{
	const struct team_wish wish = { .name = name, .layout = 7, .bytes = 1 << 20 };
	int r = team_join(the_daemon.socket_path, &wish, ret);

	return r < 0 ? complain(uncore_error_text(), -r) : 0;
}

static int lock_whole(int fd, int command, short type)
{
	struct flock lock = { .l_type = type, .l_whence = SEEK_SET };

	return fcntl(fd, command, &lock) < 0 ? -errno : lock.l_type;
}

/* Changes what belongs to an open file description, and ends with the descriptor open. */
static int spoil_table(void *argument)
{
	struct team_table table;

	if (join("spoilt", &table) != 0)
		return 1;
	if (lock_whole(table.fd, F_OFD_SETLK, F_WRLCK) != F_WRLCK)
		return complain("no lock of the description", errno);
	if (lseek(table.fd, 77, SEEK_SET) != 77 || fcntl(table.fd, F_SETOWN, getpid()) < 0 ||
		fcntl(table.fd, F_SETFL, O_APPEND | O_NONBLOCK) < 0)
		return complain("cannot change the description", errno);
	if (fcntl(table.fd, F_SETLEASE, F_RDLCK) == 0 || fcntl(table.fd, F_SETLEASE, F_WRLCK) == 0)
		return complain("a lease was given", 0);
	if (fcntl(table.fd, F_NOTIFY, DN_MODIFY) == 0)
		return complain("a notification was given", 0);
	return 0;
}

static int find_table_unspoilt(void *argument)
{
	struct team_table table;

	if (join("spoilt", &table) != 0)
		return 1;
	if (lock_whole(table.fd, F_OFD_GETLK, F_WRLCK) != F_UNLCK)
		return complain("the lock outlived its process", 0);
	if (lseek(table.fd, 0, SEEK_CUR) != 0 || fcntl(table.fd, F_GETOWN) != 0 ||
		(fcntl(table.fd, F_GETFL) & (O_APPEND | O_NONBLOCK)))
		return complain("the description is the one of another process", 0);
	return 0;
}

CASE("what a client does to its description of a table ends with the client")
{
	assert_int_equal(as_nobody(spoil_table, NULL), 0);
	assert_int_equal(as_nobody(find_table_unspoilt, NULL), 0);
}

/* Locks each table by its description, and ends. */
static int lock_many_tables(void *argument)
{
	struct team_table table;
	char name[TEAM_NAME_BYTES];

	for (unsigned i = 0; i < *(unsigned *)argument; i++) {
		snprintf(name, sizeof name, "locked%u", i);
		if (join(name, &table) != 0 ||
			lock_whole(table.fd, F_OFD_SETLK, F_WRLCK) != F_WRLCK)
			return 1;
	}
	return 0;
}

static int join_more(void *argument)
{
	struct team_table table;
	char name[TEAM_NAME_BYTES];

	for (unsigned i = 0; i < TABLES_OF_UID_MAX; i++) {
		snprintf(name, sizeof name, "later%u", i);
		if (join(name, &table) != 0)
			return 1;
		team_table_done(&table);
	}
	return 0;
}

CASE("tables that were locked by their description are let go of when the client has ended")
{
	unsigned n = 16; /* may be alive */

	assert_int_equal(as_nobody(lock_many_tables, &n), 0);
	assert_int_equal(as_nobody(join_more, NULL), 0);
}

/* --- other clients --- */

/* 200 fresh reads, each of which must come within the library's own limit of 100 ms. */
static int read_undisturbed(void *argument)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct uncore *uncore;
	int r;

	if (uncore_open(the_daemon.socket_path, &uncore) < 0)
		return complain(uncore_error_text(), 0);
	for (unsigned i = 0; i < 200; i++) {
		r = uncore_read(uncore, 0, UNCORE_FRESH, &sample);
		if (r < 0)
			return complain(uncore_error_text(), -r);
		usleep(1000);
	}
	uncore_close(uncore);
	return 0;
}

static _Noreturn int flood_doorbell(void *argument)
{
	struct wire_packet packet;

	connect_hello(&the_daemon, &packet);
	for (;;)
		for (unsigned i = 1; i < packet.n_fds; i++)
			eventfd_write(packet.fds[i], 1);
}

/* A client's debt must not be forgotten when it connects again. */
static _Noreturn int flood_and_reconnect(void *argument)
{
	struct wire_packet packet;

	for (;;) {
		int fd = connect_hello(&the_daemon, &packet);

		for (unsigned k = 0; k < 10000; k++)
			eventfd_write(packet.fds[1], 1);
		wire_packet_done(&packet);
		close(fd);
	}
}

/* Runs the attack beside a client that reads. */
static void read_beside(int (*attack)(void *))
{
	pid_t attacker = start_as(SOMEBODY, attack, NULL);
	int status;

	usleep(100000);
	status = as_nobody(read_undisturbed, NULL);
	kill(attacker, SIGKILL);
	wait_for(attacker, 5);
	assert_int_equal(status, 0);
}

CASE("a client that floods its doorbell delays nobody, and is throttled")
{
	uint64_t throttled;

	read_beside(flood_doorbell);
	throttled = daemon_socket_number(&the_daemon, 0, "throttled");
	assert_true(throttled > 0);
}

/* The bound is 10 % of one CPU for 2 s and a burst of 10 ms, and as much again for the noise. */
CASE("a client that reconnects does not get more than its budget")
{
	uint64_t before_ns = daemon_socket_number(&the_daemon, 0, "cpu_ns"), used_ns;
	pid_t attacker = start_as(SOMEBODY, flood_and_reconnect, NULL);

	sleep(2);
	kill(attacker, SIGKILL);
	wait_for(attacker, 5);
	usleep(200000);
	used_ns = daemon_socket_number(&the_daemon, 0, "cpu_ns") - before_ns;
	print_message("# reader used %llu ms in 2 s\n", (unsigned long long)used_ns / 1000000);
	assert_in_range(used_ns, 0, 2 * (2000000000 / 10 + 10000000));
}

/* --- quotas --- */

enum { QUOTA = 8 }; /* of the configuration below */

static int exceed_the_quota(void *argument)
{
	struct uncore *handles[QUOTA + 1] = {};
	int r;

	for (unsigned i = 0; i < QUOTA; i++)
		if (uncore_open(the_daemon.socket_path, &handles[i]) < 0)
			return complain(uncore_error_text(), 0);
	r = uncore_open(the_daemon.socket_path, &handles[QUOTA]);
	if (r != -EDQUOT)
		return complain("the connection over the quota was not refused", -r);
	if (!strstr(uncore_error_text(), "max_clients_per_user"))
		return complain(uncore_error_text(), 0);
	uncore_close(handles[0]);
	for (unsigned i = 0; i < 100; i++) {
		r = uncore_open(the_daemon.socket_path, &handles[0]);
		if (r == 0)
			break;
		usleep(10000);
	}
	if (r < 0)
		return complain("a freed place cannot be taken again", -r);
	/* Dies with all connections open. */
	kill(getpid(), SIGKILL);
	return 0;
}

/* The daemon notices that a flooder died when its second of being ignored is over. */
static void wait_until_alone(void)
{
	for (unsigned i = 0; i < 200 && daemon_number(&the_daemon, "clients") > 1; i++)
		usleep(20000);
	usleep(200000); /* the connection that asked has to go, too */
}

CASE("a user's quota holds, and the death of a client frees all it held")
{
	long before, after = 0;

	wait_until_alone();
	before = daemon_descriptors(&the_daemon);
	assert_int_equal(as_nobody(exceed_the_quota, NULL), 128 + SIGKILL);
	for (unsigned i = 0; i < 100; i++) {
		after = daemon_descriptors(&the_daemon);
		if (after == before)
			break;
		usleep(20000);
	}
	assert_int_equal(after, before);
	assert_true(daemon_number(&the_daemon, "refused") > 0);
}

int main(void)
{
	return run_on_daemon(
		"standin", "[server]\nmax_clients_per_user = 8\n[reader]\nburst_ms = 10\n");
}
