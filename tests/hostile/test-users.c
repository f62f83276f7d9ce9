/* SPDX-License-Identifier: BSD-3-Clause */
/* One user with the subordinate ids that newuidmap(1) gives: to the kernel each is another user. */
#include "tests/hostile/attack.h"

#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/wire.h"

enum { SUBORDINATES = 400, PLACES = 1024 };

/* The daemon has doorbells and wake-ups of each id, and keeps those of a limited number of users
 * that may come back. */
enum { USER_DESCRIPTORS = 3, KEPT_DESCRIPTORS = 64 * USER_DESCRIPTORS };

/* The daemon sees the effective id of a client. */
static void become_next(void)
{
	static unsigned n;

	if (seteuid(0) < 0 || seteuid(FIRST_SUBORDINATE + n++ % SUBORDINATES) < 0)
		_exit(93);
}

static void take_place(void)
{
	struct wire_packet packet;

	become_next();
	if (attack_hello(attack_connect(), &packet)) {
		wire_packet_done(&packet);
		attack_did(1);
	} else {
		usleep(1000);
	}
}

/* Takes all places, and each place that becomes free. */
static _Noreturn int take_all_places(void *argument)
{
	for (unsigned i = 0; i < PLACES + PLACES / 4; i++)
		take_place();
	attack_is_on();
	for (;;)
		take_place();
}

CASE("taking all places with subordinate ids")
{
	attack_beside_victim(&(struct attack){
		.name = "all places taken with 400 ids",
		.body = take_all_places,
		.n_processes = 1,
		.begins_as_root = true,
		.memfds = PLACES,
		.descriptors = ACCOUNT_DESCRIPTORS + SUBORDINATES * USER_DESCRIPTORS,
		.kept = KEPT_DESCRIPTORS,
	});
}

/* A new user for each read; none of them has spent anything. */
static _Noreturn int read_as_many(void *argument)
{
	attack_is_on();
	for (;;) {
		struct uncore_sample sample = UNCORE_SAMPLE_INIT;
		struct uncore *uncore;

		become_next();
		if (uncore_open(the_daemon.socket_path, &uncore) < 0)
			continue;
		attack_did(uncore_read(uncore, 0, UNCORE_FRESH, &sample) == 0);
		uncore_close(uncore);
	}
}

CASE("reading with one subordinate id after the other")
{
	attack_beside_victim(&(struct attack){
		.name = "reads, each with another of 400 ids",
		.body = read_as_many,
		.n_processes = 4,
		.begins_as_root = true,
		.deeds = 1,
		.memfds = 2 * SUBORDINATES,
		.kept = KEPT_DESCRIPTORS,
	});
}

int main(void)
{
	return attack_run();
}
