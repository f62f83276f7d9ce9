/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/serving.h"

#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>

#include "daemon/base/notify.h"
#include "daemon/serve/acceptor.h"
#include "daemon/serve/loop.h"
#include "daemon/serve/parking.h"
#include "daemon/serve/peer.h"
#include "daemon/serve/reload.h"
#include "daemon/serve/restart.h"
#include "daemon/serve/teams-watch.h"
#include "daemon/serve/watchdog.h"

enum { WAKE_ACCURACY_US = 250 };

struct serving {
	struct server *server;
	struct acceptor acceptor;
	struct watchdog watchdog;
};

/* A lookup has ended: the uid may belong to another account than the one charged so far. */
static int on_answer(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct server *server = userdata;
	eventfd_t count;
	uint32_t uid;

	(void)source;
	(void)events;
	eventfd_read(fd, &count);
	while (owners_take_answer(server->owners, &uid)) {
		unsigned account = server_account_of(server, uid);

		if (account == ACCOUNTS_NONE)
			continue;
		users_set_account(&server->users, uid, account);
		for (struct peer *peer = server->peers; peer; peer = peer->next)
			if (peer->uid == uid)
				peer_set_account(peer, account);
	}
	return 0;
}

static void say_ready(const struct server *server)
{
	const struct counters *counters = server->counters;
	const char *refused = server->config->refused.text;

	if (!notify_ready("%s%sServing %s, %u sockets, %u counter boxes.", refused,
		    *refused ? " So the configuration as it was before holds. " : "",
		    counters->platform->name, counters->plan.n_sockets, counters->plan.n_boxes))
		loop_notify_again(server->event);
}

static int on_hangup(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	struct server *server = userdata;

	(void)source;
	(void)info;
	reload(server);
	say_ready(server);
	return 0;
}

static void at_rest(void *userdata)
{
	struct serving *serving = userdata;

	acceptor_at_rest(&serving->acceptor);
}

static int add_wake(struct server *server)
{
	int r = sd_event_add_time(server->event, &server->wake_source, CLOCK_MONOTONIC, UINT64_MAX,
		WAKE_ACCURACY_US, parking_on_wake, server);

	return r < 0 ? r : sd_event_source_set_enabled(server->wake_source, SD_EVENT_OFF);
}

static int start(struct serving *serving, const struct counters *counters)
{
	struct server *server = serving->server;
	int r = loop_new(&server->event, on_hangup, server);

	if (r >= 0)
		r = acceptor_start(&serving->acceptor, server);
	if (r >= 0)
		r = sd_event_add_io(
			server->event, NULL, owners_fd(server->owners), EPOLLIN, on_answer, server);
	if (r >= 0)
		r = add_wake(server);
	if (r >= 0)
		r = restart_watch(server);
	if (r >= 0)
		r = teams_watch_start(server);
	if (r >= 0)
		r = watchdog_start(
			&serving->watchdog, server->event, counters->readers, counters->n_readers);
	return r;
}

static void stop(struct serving *serving)
{
	while (serving->server->peers)
		peer_free(serving->server->peers);
	if (serving->acceptor.server)
		acceptor_stop(&serving->acceptor);
}

int serving_run(struct server *server, struct counters *counters, struct fault *fault)
{
	struct serving serving = { .server = server };
	int r = server_begin(server, counters);

	if (r >= 0)
		r = start(&serving, counters);
	if (r < 0) {
		fault_set(fault, r, "Cannot set up the event loop: %s.", strerror(-r));
	} else {
		say_ready(server);
		r = loop_run(server->event, at_rest, &serving);
		notify_stopping();
		if (r < 0)
			fault_set(fault, r, "The event loop failed: %s.", strerror(-r));
	}
	stop(&serving);
	return r;
}
