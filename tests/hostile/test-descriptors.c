/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A daemon with few descriptors, all of which one user wants; and descriptors that it sent, and
 * nobody received. The kernel counts the latter for a user, so the daemon has a user of its own, as
 * it has where it is installed.
 */
#include "tests/hostile/attack.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/wire.h"

enum { DESCRIPTORS = 128, SERVICE = 1246184 };

/* Takes every connection it gets, asks for more, leaves some, and begins again. */
static _Noreturn int take_all_descriptors(void *argument)
{
	int held[DESCRIPTORS];

	for (bool first = true;; first = false) {
		unsigned n = 0;

		for (unsigned i = 0; i < DESCRIPTORS; i++) {
			struct wire_packet packet;
			int fd = attack_connect();

			attack_did(1);
			if (i % 2) {
				held[n++] = fd; /* says nothing */
			} else if (attack_hello(fd, &packet)) {
				wire_packet_done(&packet);
				held[n++] = fd;
			}
		}
		if (first)
			attack_is_on();
		usleep(100000);
		while (n)
			close(held[--n]);
	}
}

CASE("one user wants all descriptors")
{
	attack_beside_victim(&(struct attack){
		.name = "all of 128 descriptors wanted by one user",
		.body = take_all_descriptors,
		.n_processes = 4,
		.deeds = 4 * DESCRIPTORS,
		.busy_percent = 50,
	});
}

/* --- answers that nobody receives --- */

/* How a client that keeps its end brings uncored to close the other one. */
static void say_nonsense(int fd)
{
	send(fd, "", 1, MSG_NOSIGNAL);
}

static void hang_up(int fd)
{
	shutdown(fd, SHUT_RDWR);
}

/* Each answer has five descriptors, so 30 of them are more than uncored may have under way. */
static _Noreturn void leave_answers(void (*leave)(int fd))
{
	enum { KEPT = 500 };

	for (unsigned i = 0; i < KEPT; i++) {
		int fd = attack_connect();

		attack_say_hello(fd);
		poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, -1);
		leave(fd);
		attack_did(1);
	}
	attack_is_on();
	for (;;)
		pause();
}

static _Noreturn int leave_by_nonsense(void *argument)
{
	leave_answers(say_nonsense);
}

static _Noreturn int leave_by_hanging_up(void *argument)
{
	leave_answers(hang_up);
}

CASE("answers that nobody receives, on connections that uncored closes")
{
	attack_beside_victim(&(struct attack){
		.name = "answers that nobody receives, behind nonsense",
		.body = leave_by_nonsense,
		.n_processes = 1,
		.deeds = 500,
	});
	attack_beside_victim(&(struct attack){
		.name = "answers that nobody receives, behind a shutdown",
		.body = leave_by_hanging_up,
		.n_processes = 1,
		.deeds = 500,
	});
}

static void become_own_user(const struct daemon_process *daemon)
{
	const struct rlimit realtime = { 1, 1 };

	setrlimit(RLIMIT_RTPRIO, &realtime); /* as in the unit; not in a container */
	if (chown(daemon->directory, SERVICE, SERVICE) < 0 ||
		chown(daemon->manager.notify_path, SERVICE, SERVICE) < 0 ||
		!become_service(SERVICE))
		_exit(98);
}

int main(void)
{
	the_daemon.descriptor_limit = DESCRIPTORS;
	the_daemon.in_child = become_own_user;
	return attack_run();
}
