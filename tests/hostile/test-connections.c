/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients that come and go, too many clients, and connections that never become a client. */
#include "tests/hostile/attack.h"

#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/wire.h"

enum { CONNECTS = 1000, STORM = 64, FORKS = 32 };

static _Noreturn int connect_and_close(void *argument)
{
	attack_is_on();
	for (;;) {
		close(attack_connect());
		attack_did(1);
	}
}

CASE("connecting without end")
{
	attack_beside_victim(&(struct attack){
		.name = "connecting without end",
		.body = connect_and_close,
		.n_processes = 1,
		.deeds = CONNECTS,
	});
}

CASE("connecting without end from 64 processes")
{
	attack_beside_victim(&(struct attack){
		.name = "64 processes that connect without end",
		.body = connect_and_close,
		.n_processes = STORM,
		.deeds = CONNECTS,
	});
}

static int connect_in_silence(void *argument)
{
	for (unsigned i = 0; i < 2 * CONNECTIONS_MAX; i++)
		attack_connect();
	attack_is_on();
	pause();
	return 0;
}

CASE("connecting and never saying hello")
{
	attack_beside_victim(&(struct attack){
		.name = "1024 connections that say nothing",
		.body = connect_in_silence,
		.n_processes = 1,
		.busy_percent = 5,
	});
}

/* Takes all connections that it can get, again and again. */
static _Noreturn int grab_connections(void)
{
	int doorbells[CONNECTIONS_MAX];

	for (;;) {
		unsigned n = attack_hold(doorbells, CONNECTIONS_MAX);

		attack_did(1);
		for (unsigned i = 0; i < n; i++)
			attack_ring(doorbells[i]);
	}
}

static int fork_bomb(void *argument)
{
	for (unsigned i = 0; i < FORKS; i++)
		if (fork() == 0)
			grab_connections();
	attack_is_on();
	pause();
	return 0;
}

CASE("processes without end that take connections")
{
	attack_beside_victim(&(struct attack){
		.name = "32 processes that grab connections",
		.body = fork_bomb,
		.n_processes = 1,
		.deeds = 200,
	});
}

/* Leaves the greeting at step @step; closes the descriptors that came in either order. */
static void leave_at(unsigned step)
{
	union wire_message hello;
	struct wire_packet packet = { .n_fds = 0 };
	int fd = attack_connect();

	wire_begin(&hello, WIRE_HELLO);
	hello.hello.version = WIRE_VERSION;
	if (step == 0)
		shutdown(fd, SHUT_RD);
	else if (step == 1)
		shutdown(fd, SHUT_WR);
	if (step == 2)
		send(fd, &hello, sizeof hello.hello / 2, MSG_NOSIGNAL);
	else if (step != 3)
		wire_send(fd, &hello, NULL, 0);
	if (step == 4)
		shutdown(fd, SHUT_RD);
	if (step >= 5 && wire_receive(fd, WIRE_FROM_DAEMON, &packet) != 1)
		packet.n_fds = 0;
	if (step == 6)
		wire_packet_done(&packet);
	close(fd);
	if (packet.n_fds > 1)
		attack_ring(packet.fds[1]); /* after the daemon's end has gone */
	wire_packet_done(&packet);
}

static _Noreturn int leave_at_every_step(void *argument)
{
	attack_is_on();
	for (unsigned i = 0;; i++) {
		leave_at(i % 8);
		attack_did(1);
	}
}

CASE("closing at every step of the greeting")
{
	attack_beside_victim(&(struct attack){
		.name = "closing at every step of the greeting",
		.body = leave_at_every_step,
		.n_processes = 1,
		.deeds = 200,
	});
}

static int stop_with_all_in_hand(void *argument)
{
	int doorbells[CONNECTIONS_MAX];
	unsigned n = attack_hold(doorbells, CONNECTIONS_MAX);

	for (unsigned i = 0; i < n; i++)
		attack_ring(doorbells[i]);
	attack_did(n);
	attack_is_on();
	raise(SIGSTOP);
	return 0;
}

CASE("stopping with every connection in hand")
{
	attack_beside_victim(&(struct attack){
		.name = "stopped with 512 connections, all rung",
		.body = stop_with_all_in_hand,
		.n_processes = 1,
		.deeds = CONNECTIONS_MAX,
		.busy_percent = 5,
	});
}

int main(void)
{
	return attack_run();
}
