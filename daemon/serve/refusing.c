/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/refusing.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include "common/bounds.h"
#include "common/clock.h"
#include "common/macro.h"
#include "common/wire.h"
#include "daemon/base/call-filter.h"
#include "daemon/base/log.h"
#include "daemon/base/memfd.h"
#include "daemon/base/notify.h"
#include "daemon/base/privilege.h"
#include "daemon/serve/loop.h"
#include "daemon/serve/serving.h"

static const uint64_t AGAIN_AFTER_NS = 60000000000U;
static const uint64_t NEXT_AFTER_NS = 600000000000U; /* after an earlier end */
/* At most TURNS turns in TURNS_USEC, even if clients flood the socket or descriptors are short. */
enum { TURNS_USEC = 100000, TURNS = 1000 };

static const char stamp_name[] = "refusing"; /* in the service manager's store */

int refusing_error(int error)
{
	static const struct {
		int is, becomes;
	} errors[] = {
		{ -EACCES, -EPERM },
		{ -EPERM, -EPERM },
		{ -EINVAL, -EINVAL },
		{ -EEXIST, -EINVAL }, /* two platform files for one machine */
		{ -ENOMEM, -ENOMEM },
		{ -EAGAIN, -ENOMEM }, /* no more threads */
		{ -EMFILE, -ENOMEM },
		{ -ENFILE, -ENOMEM },
	};

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++)
		if (errors[i].is == error)
			return errors[i].becomes;
	return -ENODEV;
}

/* --- the time of the last end --- */

void refusing_init(struct refusing *refusing, struct fdstore *store)
{
	_cleanup_close_ int fd = fdstore_take(store, stamp_name);

	if (fd < 0 || pread(fd, &refusing->ended_ns, sizeof refusing->ended_ns, 0) !=
			      sizeof refusing->ended_ns)
		refusing->ended_ns = 0;
}

static int keep_stamp(uint64_t now_ns)
{
	_cleanup_close_ int fd = memfd_new("uncored-refusing", sizeof now_ns, 0600);

	if (fd < 0)
		return fd;
	if (pwrite(fd, &now_ns, sizeof now_ns, 0) != sizeof now_ns)
		return -errno;
	fdstore_forget(stamp_name);
	return fdstore_keep(stamp_name, &fd, 1);
}

/* --- answering --- */

/* -EAGAIN: no memory for a thread's stack. A lack of descriptors does not count: it lasts until the
 * limit is changed. */
static bool wants_memory(const struct refusing *refusing)
{
	return refusing->error == -ENOMEM || refusing->error == -EAGAIN;
}

static void refusing_answer(struct refusing *refusing, int fd)
{
	union wire_message reply;

	listener_take_bare_newcomer(fd);
	wire_error(&reply, refusing_error(refusing->error), "%s %s", refusing->why.text,
		wants_memory(refusing) ? "uncored tries again by itself."
				       : "After a change it takes `systemctl restart uncored`.");
	wire_send(fd, &reply, NULL, 0);
	socket_closer_close(&refusing->closer, &fd);
}

/* A client gets no answer if it has left already or no descriptor is free for it. */
static int refusing_on_connection(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	int accepted = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)source;
	(void)events;
	if (accepted >= 0)
		refusing_answer(userdata, accepted);
	return 0;
}

/* --- the end --- */

/* Without a service manager nobody would start another process. */
static void refusing_end(const struct refusing *refusing)
{
	int r = keep_stamp(clock_now_ns());

	if (r < 0) {
		log_warning("uncored gave up its privilege, and no service manager would start it "
			    "again (%s): start it anew.",
			strerror(-r));
		return;
	}
	log_info("uncored ends, so that it is started again and finds out whether it can serve "
		 "now.");
	sd_event_exit(refusing->event, RESTART_EXIT_STATUS);
}

static int refusing_on_hangup(
	sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	(void)source;
	(void)info;
	refusing_end(userdata);
	return 0;
}

static int refusing_on_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)source;
	(void)usec;
	refusing_end(userdata);
	return 0;
}

/* Memory may become free without anybody sending a SIGHUP. After an end that did not help, waits
 * longer before the next. */
static void await_memory(const struct refusing *refusing)
{
	uint64_t at_ns = clock_now_ns() + AGAIN_AFTER_NS;

	if (refusing->ended_ns)
		at_ns = most_of(at_ns, refusing->ended_ns + NEXT_AFTER_NS);
	if (wants_memory(refusing))
		loop_wake_at(refusing->timer, at_ns);
}

/* --- the loop --- */

static int add_sources(struct refusing *refusing)
{
	sd_event_source *connections = NULL;
	int r = loop_new(&refusing->event, refusing_on_hangup, refusing);

	if (r >= 0)
		r = loop_timer_new(refusing->event, &refusing->timer, refusing_on_time, refusing);
	if (r >= 0)
		r = watchdog_start(&refusing->watchdog, refusing->event, NULL, 0);
	if (r >= 0)
		r = sd_event_add_io(refusing->event, &connections, refusing->listener->fd, EPOLLIN,
			refusing_on_connection, refusing);
	if (r >= 0)
		r = sd_event_source_set_ratelimit(connections, TURNS_USEC, TURNS);
	if (r >= 0)
		r = sd_event_source_set_floating(connections, true);
	sd_event_source_unref(connections);
	return r;
}

int refusing_run(struct refusing *refusing, struct fault *fault)
{
	int r = privilege_drop();

	call_filter_set(); /* best effort: some kernels have no such filters */
	if (r >= 0)
		r = add_sources(refusing);
	if (r >= 0) {
		log_error("uncored serves nothing, and tells that to all who connect: %s",
			refusing->why.text);
		if (!notify_ready("Serving nothing: %s", refusing->why.text))
			loop_notify_again(refusing->event);
		await_memory(refusing);
		r = loop_run(refusing->event, NULL, NULL);
		notify_stopping();
	}
	sd_event_source_unref(refusing->timer);
	refusing->event = sd_event_unref(refusing->event);
	socket_closer_done(&refusing->closer);
	return r < 0 ? fault_set(fault, r, "The event loop failed: %s.", strerror(-r)) : r;
}
