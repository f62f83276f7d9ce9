/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An attack on the_daemon by one user, and an ordinary client of another user beside it, the
 * victim, which connects and reads within the library's own limits. The victim's times are compared
 * with *rest*: the same victim while the same attackers attack another uncored of the same
 * computer, or beside what the attack names.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "tests/harness/daemon-process.h"

/* Of one user: max_clients_per_user as shipped, and the bound of uncored-security(7). */
enum { CONNECTIONS_MAX = 512, ACCOUNT_DESCRIPTORS = CONNECTIONS_MAX + 256 };

/* Users without a name. The 65,536 ids from FIRST_SUBORDINATE on are the attacker's, too. */
enum { ATTACKER = 1115112, NEWCOMER = 1180648, FIRST_SUBORDINATE = 524288 };

struct attack {
	const char *name;
	/*
	 * Runs in processes of its own, as the attacker. It calls attack_is_on() when it is in
	 * position, and goes on until it is killed. It must not use cmocka's asserts.
	 */
	int (*body)(void *argument);
	unsigned n_processes;
	/* As .body, in one process: what the_daemon bears at rest, too. NULL: nothing. */
	int (*at_rest)(void *argument);
	bool begins_as_root;   /* to prepare as root: the body calls attack_become() */
	uint64_t deeds;        /* the sum of attack_did() at which the attack is over */
	unsigned busy_percent; /* of a CPU, that the main thread may take more; 0: not asked */
	unsigned memfds;       /* the most that daemon and attackers may hold together; 0: a few */
	unsigned descriptors;  /* the most that the daemon may have more; 0: those of one account */
	unsigned kept;         /* descriptors, for users that have left; 0: next to none */
	unsigned seconds;      /* that a batch of the attack takes at least */
	bool other_victims;    /* another user is the victim in each batch */
	bool only_daemon;      /* is judged; calls of the victim and the newcomer are only shown */
};

/*
 * Attacks, kills the attackers, and measures rest. Fails the case if a call of the victim or a
 * newcomer fails, if the daemon's memory, memfds or descriptors go beyond their limits, or if it
 * does not come to rest or keeps a descriptor. The descriptors are counted each time that the
 * victim was let in. With $UNCORE_TEST_FACTS that is all, and no time decides.
 *
 * Without it the times count, by the clock on the wall. The victim's 99th percentiles of
 * uncore_open() and of fresh reads may be ten times those at rest, and the main thread may take so
 * much more of a CPU. The median of three batches decides.
 */
void attack_beside_victim(const struct attack *attack);

/*
 * For a case with attackers of its own: the deeds of all attackers so far; and waits for @deeds of
 * them, false: there were fewer for too long.
 */
uint64_t attack_deeds(void);
bool attack_wait_for_deeds(uint64_t deeds);

/* For the body. The first returns how many other attackers were in position before. */
unsigned attack_is_on(void);
void attack_did(uint64_t deeds);
void attack_become(uid_t uid);

/*
 * attack_connect() connects without a limit of time, and tries until there is a daemon.
 * attack_say_hello() leaves the answer to the caller. attack_hello() takes it; false: the client
 * was refused, and the connection is closed.
 */
int attack_connect(void);
void attack_say_hello(int fd);
struct wire_packet;
bool attack_hello(int fd, struct wire_packet *ret);

/* Connects and says hello until it is not refused. Returns the connection. */
int attack_greet(struct wire_packet *ret);

/* The word on which this user's clients sleep for socket 0, from a welcome. */
const uint32_t *attack_wakeup(const struct wire_packet *welcome);

/* Adds one to a doorbell, which is an eventfd or a pipe. False: it is full. */
bool attack_ring(int doorbell);

/* Takes as many connections, with their doorbells, as the quota gives; returns how many. */
unsigned attack_hold(int doorbells[], unsigned most);

/*
 * Starts @n threads that run @body, each with the next of @arguments, which are @stride bytes
 * apart.
 */
void attack_start_threads(unsigned n, void *(*body)(void *), void *arguments, size_t stride);

/*
 * Makes SO_PASSRIGHTS fail with ENOPROTOOPT, as in an older kernel, for this process and its
 * children.
 */
bool attack_before_6_16(void);

/* Epolls and duplicates of a descriptor: each pair is a watcher of it, so a thousand of each make a
 * million. */
enum { WATCHERS_EPOLLS = 2000, WATCHERS_DUPLICATES = 1500 };

struct watchers {
	unsigned n_epolls, n_duplicates;
	int epolls[WATCHERS_EPOLLS], duplicates[WATCHERS_DUPLICATES];
};

/* Watches @fd with so many epolls, which are made if they are missing, and new duplicates. Those of
 * before stay open. Returns how many watchers the kernel lets us have. */
unsigned attack_watch(struct watchers *watchers, int fd, unsigned n_epolls, unsigned n_duplicates);

/* The daemon's configuration, as shipped unless told: before attack_run(), and in a case. */
void attack_configure(const char *config);
void attack_reconfigure(const char *config);

/*
 * main() of each program. After its cases comes one more: the attacks have not left the daemon
 * larger.
 */
int attack_run(void);
