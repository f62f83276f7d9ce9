/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors whose last close(2) blocks for an hour, attached to messages: the thread that
 * drops them waits. Run as it is, where Linux 6.16 refuses such messages on the daemon's behalf;
 * and with the argument `before-6.16`, where setsockopt(2) knows no SO_PASSRIGHTS.
 */
#include "tests/harness/lingering.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/macro.h"
#include "common/wire.h"
#include "tests/hostile/attack.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* asm-generic/socket.h since Linux 6.16 */
#endif

enum { HELD = 16, AHEAD = 70, EARLY = 12 /* listen(2) of daemon-process.c has room for them */ };

/* --- the attacker's part --- */

enum step {
	IN_HELLO, /* the first message */
	AFTER_HELLO,
	BEHIND_OTHERS, /* more requests than are read in a second: it is closed unread */
	BEHIND_NOTHING,
	WITH_ANSWER_UNREAD, /* leaves an error at the daemon's end */
	STEPS
};

static void greet(int fd, enum step step)
{
	union wire_message message;

	wire_begin(&message, WIRE_HELLO);
	message.hello.version = WIRE_VERSION;
	if (step == BEHIND_NOTHING)
		send(fd, "", 0, MSG_NOSIGNAL | MSG_DONTWAIT);
	else if (step != IN_HELLO)
		wire_send(fd, &message, NULL, 0);
	wire_begin(&message, WIRE_INFO);
	for (unsigned i = 0; step == BEHIND_OTHERS && i < AHEAD; i++)
		wire_send(fd, &message, NULL, 0);
}

/*
 * Leaves the last reference of a lingering descriptor to the other end of @fd, if that end accepts
 * it.
 */
static void attach(int fd, struct lingering *ret)
{
	const struct linger none = {};
	union wire_message info;

	wire_begin(&info, WIRE_INFO);
	if (!lingering_open(ret))
		_exit(96);
	if (!lingering_send(fd, &info, sizeof info.info, ret->fd))
		setsockopt(ret->fd, SOL_SOCKET, SO_LINGER, &none, sizeof none);
	close_fd(&ret->fd);
}

static void attack_once(enum step step, struct lingering *ret)
{
	struct wire_packet packet;
	int fd = attack_connect();

	greet(fd, step);
	if (step == AFTER_HELLO && wire_receive(fd, WIRE_FROM_DAEMON, &packet) == 1)
		wire_packet_done(&packet);
	attach(fd, ret);
	close(fd);
}

static void ignore(int number)
{
	(void)number;
}

/*
 * A daemon that closes first leaves the last reference to this process, whose wait a signal ends.
 */
static void never_wait_long(void)
{
	const struct sigaction action = { .sa_handler = ignore, .sa_flags = SA_RESTART };
	const struct itimerspec often = { { 0, 5000000 }, { 0, 5000000 } };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	timer_t timer;

	if (sigaction(SIGUSR1, &action, NULL) < 0 ||
		timer_create(CLOCK_MONOTONIC, &event, &timer) < 0 ||
		timer_settime(timer, 0, &often, NULL) < 0)
		_exit(95);
}

/* The peers of the last few stay open, so that these descriptors linger. */
static _Noreturn int leave_lingering(void *argument)
{
	struct lingering held[HELD];

	never_wait_long();
	for (unsigned i = 0; i < HELD; i++)
		held[i] = (struct lingering){ -1, -1 };
	for (unsigned i = 0;; i++) {
		lingering_close(&held[i % HELD]);
		attack_once(i % STEPS, &held[i % HELD]);
		attack_did(1);
		if (i == HELD)
			attack_is_on();
	}
}

CASE("descriptors that linger")
{
	attack_beside_victim(&(struct attack){
		.name = "descriptors that linger",
		.body = leave_lingering,
		.n_processes = 2,
		.deeds = 200,
		.busy_percent = 90,
	});
}

/* Takes all connections that it may have, and attaches descriptors to those that are refused. */
static _Noreturn int leave_lingering_over_quota(void *argument)
{
	int doorbells[CONNECTIONS_MAX];

	attack_hold(doorbells, CONNECTIONS_MAX);
	leave_lingering(argument);
}

CASE("descriptors that linger, in connections that are refused")
{
	const struct attack attack = {
		.name = "descriptors that linger, refused",
		.body = leave_lingering_over_quota,
		.n_processes = 1,
		.deeds = 200,
		.busy_percent = 90,
	};

	attack_reconfigure("[server]\nmax_clients_per_user = 8\n");
	attack_beside_victim(&attack);
}

/* --- before the daemon, and at its end --- */

static int come_once(void *argument)
{
	const struct daemon_process *daemon = argument;
	struct wire_packet packet;
	int fd = connect_hello(daemon, &packet);

	wire_packet_done(&packet);
	close(fd);
	return 0;
}

struct early {
	int fds[EARLY];
	struct lingering lingering[EARLY];
};

static void connect_early(const struct daemon_process *daemon, struct early *ret)
{
	for (unsigned i = 0; i < EARLY; i++) {
		ret->fds[i] = connect_raw(daemon);
		greet(ret->fds[i], i % STEPS);
	}
}

/* Attaches while there is no daemon that could close first. */
static void attach_early(struct early *early)
{
	for (unsigned i = 0; i < EARLY; i++)
		attach(early->fds[i], &early->lingering[i]);
}

static void leave(struct early *early)
{
	for (unsigned i = 0; i < EARLY; i++) {
		close_fd(&early->fds[i]);
		lingering_close(&early->lingering[i]);
	}
}

/* The socket is systemd's, and no daemon has set yet what it must not take. */
CASE("descriptors sent before the daemon started hold nobody up")
{
	struct daemon_process daemon = {};
	struct early early;
	const int on = 1;

	daemon_start_activated(&daemon, "standin", "[server]\nmax_clients_per_user = 4\n", false);
	daemon_kill(&daemon);
	setsockopt(daemon.manager.listen_fd, SOL_SOCKET, SO_PASSRIGHTS, &on, sizeof on);
	connect_early(&daemon, &early);
	attach_early(&early);
	daemon_restart(&daemon, "standin");
	assert_int_equal(wait_for(start_as(NOBODY, come_once, &daemon), 5), 0);
	daemon_stop(&daemon);
	leave(&early);
}

/* Some descriptors are in accepted connections, the others in connections that never will be. */
CASE("descriptors sent before the daemon ends do not hold it up")
{
	struct daemon_process daemon = {};
	struct early accepted, waiting;

	daemon_start(&daemon, "standin", "[server]\nrequests_per_second = 1\n");
	connect_early(&daemon, &accepted);
	assert_int_equal(wait_for(start_as(NOBODY, come_once, &daemon), 5), 0);
	kill(daemon.pid, SIGSTOP);
	connect_early(&daemon, &waiting);
	attach_early(&accepted);
	attach_early(&waiting);
	kill(daemon.pid, SIGTERM);
	kill(daemon.pid, SIGCONT);
	daemon_stop(&daemon);
	leave(&accepted);
	leave(&waiting);
}

int main(int argc, char *argv[])
{
	if (argc > 1 && (strcmp(argv[1], "before-6.16") != 0 || !attack_before_6_16())) {
		puts("1..0 # SKIP cannot set a filter of system calls up");
		return 0;
	}
	return attack_run();
}
