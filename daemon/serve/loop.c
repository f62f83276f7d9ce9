/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "daemon/base/notify.h"

enum { AGAIN_US = 1000000, ACCURACY_US = 250 };

int loop_new(sd_event **ret, sd_event_signal_handler_t on_hangup, void *userdata)
{
	int r = sd_event_new(ret);

	if (r >= 0)
		r = sd_event_add_signal(*ret, NULL, SIGTERM, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(*ret, NULL, SIGINT, NULL, NULL);
	if (r >= 0)
		r = sd_event_add_signal(*ret, NULL, SIGHUP, on_hangup, userdata);
	return r;
}

int loop_timer_new(
	sd_event *event, sd_event_source **ret, sd_event_time_handler_t on_time, void *userdata)
{
	int r = sd_event_add_time(
		event, ret, CLOCK_MONOTONIC, UINT64_MAX, ACCURACY_US, on_time, userdata);

	return r < 0 ? r : sd_event_source_set_enabled(*ret, SD_EVENT_OFF);
}

bool loop_wake_at(sd_event_source *timer, uint64_t due_ns)
{
	uint64_t due_us = due_ns / 1000 + 1, set_us;
	int enabled;

	if (sd_event_source_get_enabled(timer, &enabled) < 0 ||
		sd_event_source_get_time(timer, &set_us) < 0 ||
		(enabled != SD_EVENT_OFF && set_us <= due_us))
		return false;
	sd_event_source_set_time(timer, due_us);
	sd_event_source_set_enabled(timer, SD_EVENT_ONESHOT);
	return true;
}

static int on_again(sd_event_source *source, uint64_t usec, void *userdata)
{
	(void)usec;
	(void)userdata;
	if (notify_again())
		return sd_event_source_set_enabled(source, SD_EVENT_OFF);
	return sd_event_source_set_time_relative(source, AGAIN_US);
}

void loop_notify_again(sd_event *event)
{
	sd_event_source *again = NULL;

	if (sd_event_add_time_relative(
		    event, &again, CLOCK_MONOTONIC, AGAIN_US, 0, on_again, NULL) < 0)
		return;
	sd_event_source_set_enabled(again, SD_EVENT_ON);
	sd_event_source_set_floating(again, true);
	sd_event_source_unref(again);
}

/* sd-event allocates memory while it turns. A failed turn has no effect: descriptors that are
 * readable stay readable, and timers that are due stay due. */
static void wait_for_memory(void)
{
	const struct timespec pause = { .tv_nsec = 10000000 };

	nanosleep(&pause, NULL);
}

int loop_run(sd_event *event, void (*at_rest)(void *userdata), void *userdata)
{
	bool rests = !at_rest;
	int r = 0, status;

	while (sd_event_get_state(event) != SD_EVENT_FINISHED) {
		r = sd_event_run(event, rests ? UINT64_MAX : 0);
		if (r == -ENOMEM)
			wait_for_memory();
		else if (r < 0)
			return r;
		if (r == 0 && at_rest)
			at_rest(userdata);
		rests = !at_rest || r == 0;
	}
	r = sd_event_get_exit_code(event, &status);
	return r < 0 ? r : status;
}
