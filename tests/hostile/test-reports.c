/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports asked for as often as is permitted, and clients that keep every descriptor of an answer.
 */
#include "tests/hostile/attack.h"

#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/wire.h"

enum { REQUESTS_PER_SECOND = 64, KEPT_REPORTS = 200, KEPT_GREETINGS = 4500 };

static bool ask(int fd)
{
	union wire_message info;

	wire_begin(&info, WIRE_INFO);
	return wire_send(fd, &info, NULL, 0) == 0;
}

/* Connects again, if the daemon has dropped the client. */
static void come_back(int *fd)
{
	struct wire_packet packet;

	close(*fd);
	*fd = attack_greet(&packet);
	wire_packet_done(&packet);
}

/* All connections ask at once, and again when all are answered and the limits permit it. */
static _Noreturn int ask_on_every_connection(void *argument)
{
	const uint64_t least_ns = 1000000000 / REQUESTS_PER_SECOND;
	static int fds[CONNECTIONS_MAX];
	struct wire_packet packet;
	unsigned n = 0;

	while (n < CONNECTIONS_MAX && attack_hello(fds[n] = attack_connect(), &packet)) {
		wire_packet_done(&packet);
		n++;
	}
	attack_is_on();
	for (;;) {
		uint64_t next_ns = clock_now_ns() + least_ns, now_ns;

		for (unsigned i = 0; i < n; i++)
			ask(fds[i]);
		for (unsigned i = 0; i < n; i++)
			if (wire_receive(fds[i], WIRE_FROM_DAEMON, &packet) == 1)
				wire_packet_done(&packet);
			else
				come_back(&fds[i]);
		attack_did(n);
		now_ns = clock_now_ns();
		if (now_ns < next_ns)
			usleep((useconds_t)((next_ns - now_ns) / 1000) + 1);
	}
}

CASE("asking for reports on every connection, within all limits")
{
	attack_beside_victim(&(struct attack){
		.name = "reports for 512 connections, within the limits",
		.body = ask_on_every_connection,
		.n_processes = 1,
		.deeds = CONNECTIONS_MAX,
	});
}

static _Noreturn int keep_reports(void *argument)
{
	struct wire_packet packet;
	int fd = attack_greet(&packet);

	attack_is_on();
	for (;;) {
		usleep(1000000 / REQUESTS_PER_SECOND + 1);
		if (ask(fd) && wire_receive(fd, WIRE_FROM_DAEMON, &packet) == 1)
			attack_did(1);
		else
			come_back(&fd);
	}
}

CASE("keeping every report")
{
	attack_beside_victim(&(struct attack){
		.name = "every report kept",
		.body = keep_reports,
		.n_processes = 1,
		.deeds = KEPT_REPORTS,
		.busy_percent = 5,
	});
}

/* Connects, keeps all that came, and leaves. */
static int keep_greetings(void *argument)
{
	struct wire_packet packet;

	attack_is_on();
	for (unsigned i = 0; i < KEPT_GREETINGS; i++) {
		int fd = attack_connect();

		if (!attack_hello(fd, &packet))
			continue;
		close(fd);
		attack_did(1);
	}
	pause();
	return 0;
}

CASE("keeping the descriptors of every greeting")
{
	attack_beside_victim(&(struct attack){
		.name = "what came with 4500 greetings kept",
		.body = keep_greetings,
		.n_processes = 1,
		.deeds = KEPT_GREETINGS / 10,
	});
}

int main(void)
{
	return attack_run();
}
