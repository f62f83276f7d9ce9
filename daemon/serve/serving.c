/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/serving.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

#include "common/clock.h"
#include "common/macro.h"
#include "daemon/base/log.h"
#include "daemon/base/notify.h"
#include "daemon/serve/admission.h"
#include "daemon/serve/conversation.h"
#include "daemon/serve/listener.h"
#include "daemon/serve/loop.h"
#include "daemon/serve/peer.h"
#include "daemon/serve/reports.h"
#include "daemon/serve/requests.h"
#include "daemon/serve/watchdog.h"

/* --- accepting ---
 *
 * Newcomers have priority over the requests of peers. Accepting pauses while there is no room.
 */

enum { NO_ROOM_PAUSE_NS = 50000000 };

struct serving {
	struct server *server; /* borrowed */
	struct watchdog watchdog;
	sd_event_source *retry_source; /* on while accepting pauses */
	int waiting[LISTENER_AT_ONCE]; /* accepted; wait for room */
	unsigned n_waiting;
	struct log_limit lost, paused; /* log lines that clients can cause */
};

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct serving *serving = userdata;

	(void)source;
	(void)usec;
	server_resume_accepting(serving->server);
	return 0;
}

/* Limits the rate of these lines, because clients can cause them as often as they like. */
static void warn_at_times(struct log_limit *limit, const char *what, int error)
{
	uint64_t n_silent;

	if (log_limit_permits(limit, clock_now_ns(), &n_silent))
		log_warning("%s (%" PRIu64 " more times since the last such line): %s.", what,
			n_silent, strerror(error));
}

/* Charges the accounts whose descriptors they were, so nobody else pays for it. */
static void serving_settle(struct server *server)
{
	closers_settle(server->closers, &server->budget);
	server_take_cost(server);
}

/* Retrying at once would spin. So accepting pauses until a client leaves or the pause is over. */
static void pause_without_room(struct serving *serving, int error)
{
	warn_at_times(&serving->paused, "No new client can be taken in for now", error);
	sd_event_source_set_enabled(serving->server->listen_source, SD_EVENT_OFF);
	loop_wake_at(serving->retry_source, clock_now_ns() + NO_ROOM_PAUSE_NS);
}

/* Returns a connection, or -1 if none can be accepted for now. */
static int serving_accept_one(struct serving *serving, int fd)
{
	int accepted = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (accepted < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		pause_without_room(serving, errno);
	return accepted;
}

/* If there is no room for the connection, it waits until others_are_heard(). */
static void take_in(struct serving *serving, int fd, bool others_are_heard)
{
	int r = admission_accept(serving->server, &fd, others_are_heard);

	if (r == -EAGAIN)
		serving->waiting[serving->n_waiting++] = fd;
	else if (r < 0)
		warn_at_times(&serving->lost, "A client could not be taken in", -r);
}

/*
 * Accepts all waiting connections before it handles the first. When many clients keep connecting,
 * each place in the queue that becomes free is taken by a client that happens to run. A client that
 * sleeps until there is a place is woken in vain, again and again. If all places become free at
 * once, that client gets one.
 */
static void accept_all(struct serving *serving, int fd)
{
	int accepted[LISTENER_AT_ONCE];
	unsigned n = 0;

	while (n < ARRAY_SIZE(accepted) && (accepted[n] = serving_accept_one(serving, fd)) >= 0)
		n++;
	for (unsigned i = 0; i < n; i++)
		take_in(serving, accepted[i], false);
}

/*
 * Newcomers have priority over the requests of connected clients, because one of those may have
 * sent hundreds. But newcomers may keep coming. So after the first ones, accepting has the same
 * priority as requests until all events are done.
 */
static void prefer_newcomers(struct serving *serving, bool prefer)
{
	sd_event_source_set_priority(serving->server->listen_source,
		prefer ? SD_EVENT_PRIORITY_IMPORTANT : SD_EVENT_PRIORITY_NORMAL);
}

/* All events that were pending when the waiting connections were accepted are done now, so clients
 * that have left have made room. */
static void others_are_heard(struct serving *serving)
{
	unsigned n = serving->n_waiting;

	serving->n_waiting = 0;
	for (unsigned i = 0; i < n; i++)
		take_in(serving, serving->waiting[i], true);
}

static int serving_on_connection(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct serving *serving = userdata;

	(void)source;
	(void)events;
	others_are_heard(serving);
	serving_settle(serving->server);
	accept_all(serving, fd);
	prefer_newcomers(serving, false);
	return 0;
}

/* All events are done, and the loop is about to sleep. */
static void at_rest(void *userdata)
{
	struct serving *serving = userdata;

	others_are_heard(serving);
	prefer_newcomers(serving, true);
	serving_settle(serving->server);
}

/*
 * Makes the timer early, because there may be no descriptor left for it when it is needed. This
 * also makes the loop's own timer descriptor. If the loop had to make that one when a client
 * exceeds its rate, a lack of descriptors would end the loop.
 */
static int add_retry(struct serving *serving)
{
	return loop_timer_new(serving->server->event, &serving->retry_source, on_retry, serving);
}

static int on_received(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct server *server = userdata;

	(void)source;
	(void)fd;
	(void)events;
	serving_settle(server);
	return 0;
}

static int accept_start(struct serving *serving)
{
	struct server *server = serving->server;
	int r = sd_event_add_io(server->event, &server->listen_source, server->listener->fd,
		EPOLLIN, serving_on_connection, serving);
	if (r >= 0)
		r = sd_event_add_io(server->event, NULL, closers_poll_fd(server->closers), EPOLLIN,
			on_received, server);
	return r < 0 ? r : add_retry(serving);
}

/* --- the loop --- */

static int serving_on_hangup(
	sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	struct server *server = userdata;

	(void)source;
	(void)info;
	reload(server);
	state_tell(server);
	server_take_cost(server); /* charged to nobody */
	return 0;
}

static int serving_start(struct serving *serving, const struct counters *counters)
{
	struct server *server = serving->server;
	int r = loop_new(&server->event, serving_on_hangup, server);

	if (r >= 0)
		r = accept_start(serving);
	if (r >= 0)
		r = conversation_start(server);
	if (r >= 0)
		r = restart_watch(server);
	if (r >= 0)
		r = team_requests_watch(server);
	if (r >= 0)
		r = watchdog_start(
			&serving->watchdog, server->event, counters->readers, counters->n_readers);
	return r;
}

static void serving_stop(struct serving *serving)
{
	const struct closers_client nobody = {};

	while (serving->server->peers)
		peer_free(serving->server->peers);
	while (serving->n_waiting)
		closers_close_connection(serving->server->closers, ACCOUNTS_NONE, nobody,
			&serving->waiting[--serving->n_waiting]);
	sd_event_source_unref(serving->retry_source);
}

int serving_run(struct server *server, struct counters *counters, struct fault *fault)
{
	struct serving serving = { .server = server };
	int r = server_begin(server, counters);

	if (r >= 0)
		r = serving_start(&serving, counters);
	if (r < 0) {
		fault_set(fault, r, "Cannot set up the event loop: %s.", strerror(-r));
	} else {
		state_tell(server);
		r = loop_run(server->event, at_rest, &serving);
		notify_stopping();
		if (r < 0)
			fault_set(fault, r, "The event loop failed: %s.", strerror(-r));
	}
	serving_stop(&serving);
	return r;
}
