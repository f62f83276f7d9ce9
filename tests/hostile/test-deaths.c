/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of teams that look as if all their processes had been killed, so that uncored reads for
 * them; and requests for what it has read.
 */
#include "tests/hostile/attack.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/libuncore/team-call.h"
#include "common/wire.h"

enum { LAYOUT = 7, TABLE_BYTES = 1 << 20, FILLED_BYTES = 1 << 16, ASKED = 200 };
enum { TABLES = 16, LOCKS = 4096 };

static int join(const char *name, struct team_table *ret)
{
	const struct team_wish wish = { .name = name, .layout = LAYOUT, .bytes = TABLE_BYTES };

	return team_join(the_daemon.socket_path, &wish, ret);
}

static void lock(int fd, off_t byte)
{
	struct flock one = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };

	if (fcntl(fd, F_SETLK, &one) < 0)
		_exit(96);
}

static void fill(int fd)
{
	static char bytes[FILLED_BYTES];

	if (pwrite(fd, bytes, sizeof bytes, 0) != sizeof bytes)
		_exit(94);
}

/* A team that lives while a connection begins, and not any more when that ends. False: uncored gave
 * no table. */
static bool pretend_death(struct team_table *ret)
{
	static unsigned n;
	struct wire_packet welcome;
	char name[TEAM_NAME_BYTES];
	int fd;

	snprintf(name, sizeof name, "dead-%d-%u", (int)getpid(), n++);
	if (join(name, ret) < 0)
		return false;
	fill(ret->fd);
	lock(ret->fd, 0);
	fd = attack_greet(&welcome);
	wire_packet_done(&welcome);
	team_table_done(ret); /* and with it the lock: see fcntl(2) */
	close(fd);
	return true;
}

static _Noreturn int die_without_end(void *argument)
{
	struct team_table table;

	attack_is_on();
	for (;;)
		attack_did(pretend_death(&table));
}

CASE("teams without end whose processes seem to have been killed")
{
	attack_beside_victim(&(struct attack){
		.name = "teams that seem to have died, from 8 processes",
		.body = die_without_end,
		.n_processes = 8,
		.deeds = 20,
		.memfds = 256,
		.descriptors = 400,
		.kept = 256,
	});
}

/* Keeps the last answers, which have descriptors. */
static _Noreturn int ask_without_end(void *argument)
{
	static struct wire_packet answers[ASKED];
	struct team_table table = { .uid = TEAM_OWN };
	struct wire_packet welcome;
	union wire_message request;
	int fd;

	while (!pretend_death(&table))
		;
	fd = attack_greet(&welcome);
	wire_begin(&request, WIRE_LAST);
	request.team.wish = TEAM_LOOK;
	request.team.uid = TEAM_OWN;
	request.team.run = table.run;
	memcpy(request.team.name, table.name, sizeof request.team.name);
	attack_is_on();
	for (unsigned i = 0;; i = (i + 1) % ASKED) {
		wire_packet_done(&answers[i]);
		if (wire_send(fd, &request, NULL, 0) < 0 ||
			wire_receive(fd, WIRE_FROM_DAEMON, &answers[i]) != 1)
			_exit(95);
		attack_did(answers[i].n_fds == 1);
	}
}

CASE("asking for a last reading without end, and keeping the answers")
{
	attack_beside_victim(&(struct attack){
		.name = "last readings asked for, from 4 processes",
		.body = ask_without_end,
		.n_processes = 4,
		.deeds = ASKED,
		.memfds = 4 * ASKED + 256,
		.descriptors = 400,
		.kept = 256,
	});
}

/* The kernel walks all locks outside of the slots before it finds the one of a slot. */
static void make_slow(int fd)
{
	fill(fd);
	for (unsigned i = 0; i < LOCKS; i++)
		lock(fd, TEAM_SLOTS_MAX + 2 * i);
}

/* Another process keeps the tables alive. */
static void hold_slots(const int fds[])
{
	const pid_t parent = getpid();
	int ends[2];
	char byte;

	if (pipe(ends) < 0)
		_exit(98);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (unsigned i = 0; i < TABLES; i++)
			lock(fds[i], 0);
		close(ends[0]);
		close(ends[1]);
		while (getppid() == parent)
			sleep(1);
		_exit(0);
	}
	close(ends[1]);
	if (read(ends[0], &byte, 1) != 0)
		_exit(99);
}

/* With tables that take uncored long to look at, each time. */
static _Noreturn int leave_without_end(void *argument)
{
	static int fds[TABLES];
	struct wire_packet welcome;
	struct team_table table;
	char name[TEAM_NAME_BYTES];

	for (unsigned i = 0; i < TABLES; i++) {
		snprintf(name, sizeof name, "locks-%u", i);
		/* Each one costs more; the next waits until it is paid, or fails. */
		while (join(name, &table) < 0)
			usleep(10000);
		fds[i] = table.fd;
		make_slow(fds[i]);
	}
	hold_slots(fds);
	attack_is_on();
	for (;;) {
		int fd = attack_greet(&welcome);

		wire_packet_done(&welcome);
		close(fd);
		attack_did(1);
	}
}

CASE("leaving without end, with 16 living tables that have 4096 locks each")
{
	attack_beside_victim(&(struct attack){
		.name = "leaving with tables full of locks",
		.body = leave_without_end,
		.n_processes = 1,
		.deeds = 20,
		.seconds = 3, /* a second would be for the most part the burst that the account has
				 saved up */
		.busy_percent = 25,
		.memfds = 256,
		.descriptors = 400,
		.kept = 256,
	});
}

int main(void)
{
	return attack_run();
}
