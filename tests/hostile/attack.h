/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An attack on the_daemon by one user, and an ordinary client of another user beside it, the
 * victim, which measures its fresh reads alone and during the attack.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tests/system/daemon-process.h"

enum { CONNECTIONS_MAX = 512 }; /* of one user: max_clients_per_user as shipped */

struct attack {
	const char *name;
	/*
	 * Runs in processes of its own, as the attacker; calls attack_is_on() when it is in
	 * position and goes on until it is killed. It must not use cmocka's asserts.
	 */
	int (*body)(void *argument);
	unsigned n_processes;
	uint64_t deeds;        /* how many attack_did() there must be before it is over */
	unsigned busy_percent; /* CPU time that the daemon's main thread may take meanwhile */
};

/*
 * Measures, attacks, measures, kills the attacker. Fails the case unless, in the best of some
 * batches, the victim's median stays in its limit; and if a newcomer is not served meanwhile, the
 * main thread is busier than it may be or does not come to rest, or keeps a descriptor.
 */
void attack_beside_victim(const struct attack *attack);

/* For the body. */
void attack_is_on(void);
void attack_did(uint64_t deeds);

/*
 * Connects without a limit for waiting, and exits the process if that fails for another reason than
 * the daemon's closing. Says hello; false: it was refused, and the connection is closed.
 */
int attack_connect(void);
struct wire_packet;
bool attack_hello(int fd, struct wire_packet *ret);

/* Takes as many connections, with their doorbells, as the quota gives; returns how many. */
unsigned attack_hold(int doorbells[], unsigned most);

/* @n threads that run @body, each with the next of @arguments, which are @stride bytes apart. */
void attack_start_threads(unsigned n, void *(*body)(void *), void *arguments, size_t stride);

/* The last case of each program: all the attacks have left the daemon no larger. */
void nothing_is_left(void **state);

/* main() of each program. */
int attack_run(const char *name, const struct CMUnitTest cases[], size_t n_cases);
