/* SPDX-License-Identifier: BSD-3-Clause */
/* Bad messages to the real daemon: each gets its answer, and nobody else notices. */
#include "tests/harness/daemon-process.h"
#include "tests/harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/page.h"
#include "common/wire.h"

/* Sends these bytes and expects an error message with @error, and then the end or not. */
static void expect_error(const void *bytes, size_t size, int error, bool closes)
{
	struct wire_packet reply;
	int fd = connect_raw(&the_daemon);

	assert_int_equal(send(fd, bytes, size, MSG_NOSIGNAL), size);
	assert_int_equal(wire_receive(fd, WIRE_FROM_DAEMON, &reply), 1);
	assert_int_equal(reply.message.header.opcode, WIRE_ERROR);
	assert_int_equal(reply.message.error.error, error);
	assert_true(strlen(reply.message.error.text) > 20);
	if (closes)
		assert_int_equal(wire_receive(fd, WIRE_FROM_DAEMON, &reply), 0);
	close(fd);
}

static void assert_still_served(void)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct uncore *uncore;

	assert_int_equal(uncore_open(the_daemon.socket_path, &uncore), 0);
	assert_int_equal(uncore_read(uncore, 0, UNCORE_FRESH, &sample), 0);
	uncore_close(uncore);
}

CASE("malformed and oversized messages get an error and end the connection")
{
	char large[WIRE_MESSAGE_MAX * 4] = "";
	union wire_message message;

	expect_error("x", 1, -EBADMSG, true);
	expect_error(large, sizeof large, -EBADMSG, true);
	wire_begin(&message, WIRE_HELLO);
	message.header.size++;
	expect_error(&message, sizeof message.hello, -EBADMSG, true);
	wire_begin(&message, WIRE_HELLO);
	expect_error(&message, sizeof message.hello - 1, -EBADMSG, true);
	assert_still_served();
}

/* Greets as a client whose highest version is @version. Returns the version of WELCOME. */
static uint32_t version_answered_to(uint32_t version)
{
	union wire_message message;
	struct wire_packet reply;
	int fd = connect_raw(&the_daemon);

	wire_begin(&message, WIRE_HELLO);
	message.hello.version = version;
	assert_int_equal(wire_send(fd, &message, NULL, 0), 0);
	assert_int_equal(wire_receive(fd, WIRE_FROM_DAEMON, &reply), 1);
	assert_int_equal(reply.message.header.opcode, WIRE_WELCOME);
	wire_packet_done(&reply);
	close(fd);
	return reply.message.welcome.version;
}

CASE("a newer client is answered the lower version")
{
	assert_int_equal(version_answered_to(1), 1);
	assert_int_equal(version_answered_to(WIRE_VERSION + 1), WIRE_VERSION);
	assert_int_equal(version_answered_to(UINT32_MAX), WIRE_VERSION);
}

CASE("version 0 is refused in words")
{
	union wire_message message;

	wire_begin(&message, WIRE_HELLO);
	expect_error(&message, sizeof message.hello, -EPROTONOSUPPORT, false);
	assert_still_served();
}

CASE("unknown and untimely requests get an error")
{
	union wire_message message = { .header = { .opcode = 77, .size = sizeof message.header } };

	expect_error(&message, sizeof message.header, -EOPNOTSUPP, false);
	wire_begin(&message, WIRE_INFO);
	expect_error(&message, sizeof message.info, -EPROTO, false);
	wire_begin(&message, WIRE_WELCOME); /* is not a client's to send */
	expect_error(&message, sizeof message.welcome, -EOPNOTSUPP, false);
	assert_still_served();
}

CASE("the last reading of a table is asked for by name and run, also before HELLO")
{
	union wire_message message;

	wire_begin(&message, WIRE_LAST);
	message.team.wish = TEAM_LOOK;
	message.team.uid = TEAM_OWN;
	message.team.run = 1;
	strcpy(message.team.name, "no.such.team");
	expect_error(&message, sizeof message.team, -ENOENT, false);
	message.team.run = 0;
	expect_error(&message, sizeof message.team, -EBADMSG, true);
	message.team.run = 1;
	message.team.wish = TEAM_LOOK;
	message.team.uid = 0;
	expect_error(&message, sizeof message.team, geteuid() ? -EPERM : -ENOENT, false);
	assert_still_served();
}

/* Gets a table of the team, as a member does. Its descriptor is the caller's. */
static int join(const char *name, uint32_t *ret_run, int *ret_connection)
{
	union wire_message message;
	struct wire_packet reply;
	int fd;

	*ret_connection = connect_raw(&the_daemon);
	wire_begin(&message, WIRE_HELLO);
	message.hello.version = WIRE_VERSION;
	assert_int_equal(wire_send(*ret_connection, &message, NULL, 0), 0);
	assert_int_equal(wire_receive(*ret_connection, WIRE_FROM_DAEMON, &reply), 1);
	wire_packet_done(&reply);
	wire_begin(&message, WIRE_TEAM);
	message.team.wish = TEAM_JOIN;
	message.team.uid = TEAM_OWN;
	message.team.bytes = 1 << 20;
	message.team.layout = 77;
	strcpy(message.team.name, name);
	assert_int_equal(wire_send(*ret_connection, &message, NULL, 0), 0);
	assert_int_equal(wire_receive(*ret_connection, WIRE_FROM_DAEMON, &reply), 1);
	assert_int_equal(reply.message.header.opcode, WIRE_TABLE);
	*ret_run = reply.message.table.run;
	fd = reply.fds[0];
	reply.n_fds = 0;
	return fd;
}

/* The answer for the newest run of the team: 0 if there is a reading, or the error. */
static int ask_last(const char *name, uint32_t run, struct wire_packet *ret)
{
	union wire_message message;
	int fd = connect_raw(&the_daemon);

	wire_begin(&message, WIRE_LAST);
	message.team.wish = TEAM_LOOK;
	message.team.uid = TEAM_OWN;
	message.team.run = run;
	strcpy(message.team.name, name);
	assert_int_equal(wire_send(fd, &message, NULL, 0), 0);
	assert_int_equal(wire_receive(fd, WIRE_FROM_DAEMON, ret), 1);
	close(fd);
	return ret->message.header.opcode == WIRE_ERROR ? ret->message.error.error : 0;
}

static int wait_for_last(const char *name, uint32_t run, struct wire_packet *ret)
{
	int r;

	while ((r = ask_last(name, run, ret)) == -EAGAIN)
		usleep(1000);
	return r;
}

/* Writes so many bytes into a table, for which somebody else holds a lock, or nobody. */
static int leave_table(const char *name, size_t n_bytes, bool is_locked, uint32_t *ret_run)
{
	char *bytes = calloc(1, n_bytes);
	int connection, table = join(name, ret_run, &connection), r;
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 5, .l_len = 1 };
	struct wire_packet reply;

	assert_int_equal(pwrite(table, bytes, n_bytes, 0), n_bytes);
	free(bytes);
	if (is_locked)
		assert_int_equal(fcntl(table, F_SETLK, &lock), 0);
	close(connection);
	r = is_locked ? wait_for_last(name, *ret_run, &reply) : 0;
	close(table);
	return r;
}

CASE("a table that was filled, and that nobody holds a lock on any more, gets one reading")
{
	struct wire_packet first, second;
	struct page_sweep sweeps[PAGE_SOCKETS_MAX], again[PAGE_SOCKETS_MAX];
	uint32_t run;

	assert_int_equal(leave_table("filled", 1 << 17, true, &run), -ENOENT);
	assert_int_equal(wait_for_last("filled", run, &first), 0);
	assert_int_equal(first.message.reading.n_sockets, 2);
	assert_true(first.message.reading.alive_ns <= first.message.reading.noticed_ns);
	assert_int_equal(first.n_fds, 1);
	assert_int_equal(pread(first.fds[0], sweeps, sizeof sweeps, 0), 2 * sizeof *sweeps);
	assert_true(sweeps[0].number && sweeps[1].number);
	assert_true(sweeps[0].begin_ns >= first.message.reading.noticed_ns);
	assert_still_served();
	assert_int_equal(ask_last("filled", run, &second), 0);
	assert_int_equal(pread(second.fds[0], again, sizeof again, 0), 2 * sizeof *sweeps);
	assert_memory_equal(again, sweeps, 2 * sizeof *sweeps);
	wire_packet_done(&first);
	wire_packet_done(&second);
}

CASE("a table with no more than its header was reported, or never filled, and gets none")
{
	struct wire_packet reply;
	uint32_t run;

	leave_table("header", TEAM_REPORTED_BYTES, false, &run);
	assert_int_equal(wait_for_last("header", run, &reply), -ENOENT);
}

/* The kernel refuses them, which has had SO_PASSRIGHTS since 6.16, or the daemon does. */
CASE("requests with descriptors are refused")
{
	union wire_message message;
	struct wire_packet reply;
	int fd = connect_raw(&the_daemon);
	int fds[] = { STDIN_FILENO, STDIN_FILENO, STDIN_FILENO };
	int r;

	wire_begin(&message, WIRE_HELLO);
	message.hello.version = WIRE_VERSION;
	r = wire_send(fd, &message, fds, 3);
	if (r != -EPERM) {
		assert_int_equal(r, 0);
		assert_int_equal(wire_receive(fd, WIRE_FROM_DAEMON, &reply), 1);
		assert_int_equal(reply.message.header.opcode, WIRE_ERROR);
		assert_int_equal(reply.message.error.error, -EBADMSG);
		assert_int_equal(wire_receive(fd, WIRE_FROM_DAEMON, &reply), 0);
	}
	close(fd);
	assert_still_served();
}

int main(void)
{
	return run_on_daemon("standin", "[server]\nrequests_per_second = 10000\n");
}
