/* SPDX-License-Identifier: BSD-3-Clause */
/* Bad messages to the real daemon: each gets its answer, and nobody else notices. */
#include "tests/harness/daemon-process.h"
#include "tests/harness/test.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
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

static void malformed_messages_end_the_connection(void **state)
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

static void a_newer_client_is_answered_the_lower_version(void **state)
{
	assert_int_equal(version_answered_to(1), 1);
	assert_int_equal(version_answered_to(WIRE_VERSION + 1), WIRE_VERSION);
	assert_int_equal(version_answered_to(UINT32_MAX), WIRE_VERSION);
}

static void version_0_is_refused_in_words(void **state)
{
	union wire_message message;

	wire_begin(&message, WIRE_HELLO);
	expect_error(&message, sizeof message.hello, -EPROTONOSUPPORT, false);
	assert_still_served();
}

static void unknown_and_untimely_requests_get_an_error(void **state)
{
	union wire_message message = { .header = { .opcode = 77, .size = sizeof message.header } };

	expect_error(&message, sizeof message.header, -EOPNOTSUPP, false);
	wire_begin(&message, WIRE_INFO);
	expect_error(&message, sizeof message.info, -EPROTO, false);
	wire_begin(&message, WIRE_WELCOME); /* is not a client's to send */
	expect_error(&message, sizeof message.welcome, -EOPNOTSUPP, false);
	assert_still_served();
}

/* The kernel refuses them, which has had SO_PASSRIGHTS since 6.16, or the daemon does. */
static void requests_with_descriptors_are_refused(void **state)
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
	const struct CMUnitTest cases[] = {
		CASE("malformed and oversized messages get an error and end the connection",
			malformed_messages_end_the_connection),
		CASE("a newer client is answered the lower version",
			a_newer_client_is_answered_the_lower_version),
		CASE("version 0 is refused in words", version_0_is_refused_in_words),
		CASE("unknown and untimely requests get an error",
			unknown_and_untimely_requests_get_an_error),
		CASE("requests with descriptors are refused",
			requests_with_descriptors_are_refused),
	};

	return run_on_daemon("protocol", "standin", "[server]\nrequests_per_second = 10000\n",
		cases, sizeof cases / sizeof *cases);
}
