/* SPDX-License-Identifier: BSD-3-Clause */
/* The event loop of the main thread, with the signals that every loop of uncored handles. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

/*
 * Makes a loop that SIGTERM and SIGINT end with status 0, and that calls @on_hangup with @userdata
 * for each SIGHUP. The three signals must be blocked. Errors of sd_event_new(3),
 * sd_event_add_signal(3).
 */
int loop_new(sd_event **ret, sd_event_signal_handler_t on_hangup, void *userdata);

/* Makes a timer of CLOCK_MONOTONIC that is off. Errors of sd_event_add_time(3). */
int loop_timer_new(
	sd_event *event, sd_event_source **ret, sd_event_time_handler_t on_time, void *userdata);

/* Has @timer fire once, no later than @due_ns. False: it does so already. */
bool loop_wake_at(sd_event_source *timer, uint64_t due_ns);

/* Calls notify_again() each second until the service manager has room for the message. */
void loop_notify_again(sd_event *event);

/*
 * Runs the loop until sd_event_exit(3), and returns the loop's status, or an error that will not
 * pass. Repeats a turn that fails because memory is short. Calls @at_rest with @userdata, unless
 * @at_rest is NULL, each time that all events are done and the loop is about to sleep.
 */
int loop_run(sd_event *event, void (*at_rest)(void *userdata), void *userdata);
