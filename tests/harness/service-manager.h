/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of a service manager that uncored talks to. uncored says READY and leaves descriptors on
 * a notify socket, and the manager passes the descriptors to the next process, as systemd does
 * (sd_notify(3), sd_listen_fds(3)).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { MANAGER_KEPT_MAX = 2048 };

struct manager_kept {
	int fd;
	char name[256];
};

struct service_manager {
	bool keeps; /* false: has no store, and closes what comes */
	int notify_fd;
	char notify_path[96];
	int listen_fd;       /* to pass; -1: none */
	unsigned n_messages; /* of any kind */
	unsigned n_reloads;  /* announced */
	unsigned n_pings;    /* WATCHDOG=1 */
	uint64_t alive_ns;   /* the last sign of life: READY=1 or WATCHDOG=1 */
	char status[1024];   /* the last one told */
	unsigned n_kept;
	struct manager_kept kept[MANAGER_KEPT_MAX];
};

/* Listens for messages at @notify_path. */
void manager_open(struct service_manager *manager, const char *notify_path, bool keeps);

/* Does all that the messages so far ask for. True: READY=1 was among them. */
bool manager_dispatch(struct service_manager *manager);

/* Dispatches messages until one says READY; false: none did in ten seconds. */
bool manager_wait_until_ready(struct service_manager *manager);

/*
 * Waits until there has been no sign of life for @interval_s, and for a minute at most. False:
 * there still are signs of life.
 */
bool manager_wait_until_silent(struct service_manager *manager, unsigned interval_s);

/* In the child, before execve(2): asks for a sign of life in each interval, or, for 0, for none. */
void manager_set_watchdog(unsigned interval_s);

/* In the child, immediately before execve(2): passes the socket, if there is one, and the store. */
void manager_pass_all(const struct service_manager *manager);

/* The descriptor of this name; -1: none is kept. It stays the manager's. */
int manager_find(const struct service_manager *manager, const char *name);

/* Drops the descriptor kept under @name; NULL: all of them, as when a service is stopped. */
void manager_lose(struct service_manager *manager, const char *name);

void manager_close(struct service_manager *manager);
