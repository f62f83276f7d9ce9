/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/close/socket-closer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/macro.h"
#include "tests/harness/lingering.h"
#include "tests/harness/test.h"

enum { PATIENCE_S = 10 };

static struct socket_closer closer;

/* A thread that closes a lingering socket is in close(2) for longer than the alarm permits. */
static int set_alarm(void **state)
{
	alarm(PATIENCE_S);
	return remember_descriptors(state);
}

static int check_rest(void **state)
{
	socket_closer_done(&closer);
	alarm(0);
	return compare_descriptors(state);
}

#define UNDERTAKER_CASE(sentence) CASE_WITHIN(sentence, set_alarm, check_rest)

static void make_pair(int pair[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
}

/* Does @fd show that the other end was closed? */
static bool is_over(int fd)
{
	struct pollfd poll_fd = { .fd = fd };

	return poll(&poll_fd, 1, PATIENCE_S * 1000) == 1 && poll_fd.revents & POLLHUP;
}

UNDERTAKER_CASE("descriptors are found before they are received")
{
	int pair[2];
	char byte;

	make_pair(pair);
	assert_int_equal(socket_has_descriptors(pair[1]), -EAGAIN);
	send(pair[0], "a", 1, 0);
	assert_int_equal(socket_has_descriptors(pair[1]), 0);
	assert_true(lingering_send(pair[0], "b", 1, pair[0]));
	assert_int_equal(socket_has_descriptors(pair[1]), 0);
	assert_int_equal(recv(pair[1], &byte, 1, 0), 1);
	assert_int_equal(socket_has_descriptors(pair[1]), 1);
	assert_int_equal(socket_has_descriptors(pair[1]), 1);
	close(pair[0]);
	close(pair[1]);
}

/* If the closer kept a descriptor, the count of descriptors at the end would be wrong. */
UNDERTAKER_CASE("harmless messages go with the socket")
{
	int pair[2];

	make_pair(pair);
	send(pair[0], "a", 1, 0);
	send(pair[0], "b", 1, 0);
	socket_closer_close(&closer, &pair[1]);
	assert_int_equal(pair[1], -1);
	assert_true(is_over(pair[0]));
	close(pair[0]);
}

/* Sends @n messages of @size first, then one of @last_size with a lingering descriptor. */
static void close_with(unsigned n, size_t size, size_t last_size)
{
	struct lingering lingering;
	int pair[2];

	make_pair(pair);
	for (unsigned i = 0; i < n; i++)
		send(pair[0], "abc", size, 0);
	assert_true(lingering_open(&lingering));
	assert_true(lingering_send(pair[0], "abc", last_size, lingering.fd));
	close_fd(&lingering.fd);
	socket_closer_close(&closer, &pair[1]);
	assert_int_equal(pair[1], -1);
	assert_true(is_over(pair[0]));
	close(pair[0]);
	lingering_close(&lingering);
}

UNDERTAKER_CASE("a descriptor that lingers holds nobody up")
{
	close_with(0, 0, 3);
}

UNDERTAKER_CASE("a descriptor that lingers behind other messages holds nobody up")
{
	close_with(3, 3, 3);
}

UNDERTAKER_CASE("a descriptor that lingers behind many messages holds nobody up")
{
	close_with(100, 3, 3);
}

UNDERTAKER_CASE("a descriptor that lingers behind empty messages holds nobody up")
{
	close_with(2, 0, 0);
}

/* A peer that goes with an answer unread leaves an error behind, which comes before its messages.
 */
UNDERTAKER_CASE("a descriptor that lingers behind a gone peer's error holds nobody up")
{
	struct lingering lingering;
	int pair[2];

	make_pair(pair);
	send(pair[1], "answer", 6, 0);
	assert_true(lingering_open(&lingering));
	assert_true(lingering_send(pair[0], "abc", 3, lingering.fd));
	close_fd(&lingering.fd);
	close(pair[0]);
	assert_int_equal(socket_has_descriptors(pair[1]), -ECONNRESET);
	assert_int_equal(socket_has_descriptors(pair[1]), 1);
	socket_closer_close(&closer, &pair[1]);
	lingering_close(&lingering);
}

/*
 * Closes where RLIMIT_NPROC permits no thread, as a user other than root. Status 0: the close
 * waited, and was made.
 */
static int do_without_threads(void)
{
	const struct rlimit none = { 0, 4096 }, many = { 4096, 4096 };
	struct lingering lingering;
	int pair[2];

	alarm(PATIENCE_S);
	make_pair(pair);
	if (!lingering_open(&lingering) || !lingering_send(pair[0], "abc", 3, lingering.fd))
		return 1;
	close_fd(&lingering.fd);
	if (setrlimit(RLIMIT_NPROC, &none) < 0 || setuid(65533) < 0)
		return 2;
	socket_closer_close(&closer, &pair[1]);
	if (pair[1] != -1 || closer.n_waiting != 1)
		return 3;
	if (setrlimit(RLIMIT_NPROC, &many) < 0)
		return 4;
	close(pair[0]);
	make_pair(pair);
	lingering_send(pair[0], "abc", 3, pair[0]);
	socket_closer_close(&closer, &pair[1]);
	return closer.n_waiting == 0 ? 0 : 5;
}

/* Runs @body, which returns 0 if all is well, in a process of its own, as root. */
static void run_alone(int (*body)(void))
{
	pid_t pid;
	int status;

	if (geteuid() != 0)
		skip();
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(body());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

UNDERTAKER_CASE("without a thread a close waits until the next one")
{
	run_alone(do_without_threads);
}

/* Where there is no thread, closes a connection that holds all messages that fit into it. */
static int close_full(void)
{
	const struct rlimit none = { 0, 0 };
	int pair[2];

	make_pair(pair);
	while (send(pair[0], "abc", 3, MSG_DONTWAIT) > 0)
		;
	if (setrlimit(RLIMIT_NPROC, &none) < 0 || setuid(65533) < 0)
		return 2;
	socket_closer_close(&closer, &pair[1]);
	return pair[1] == -1 && closer.n_waiting == 0 && is_over(pair[0]) ? 0 : 3;
}

UNDERTAKER_CASE("a full connection without descriptors needs no thread")
{
	run_alone(close_full);
}
