/* SPDX-License-Identifier: BSD-3-Clause */
/* The event loop of the main thread: the signals that every loop of uncored obeys, and its turns.
 */
#pragma once

#include <systemd/sd-event.h>

/*
 * Makes a loop that SIGTERM and SIGINT end with status 0, and that calls @on_hangup with @userdata
 * for each SIGHUP. The three signals must be blocked. Errors of sd_event_new(3),
 * sd_event_add_signal(3).
 */
int loop_new(sd_event **ret, sd_event_signal_handler_t on_hangup, void *userdata);

/* Tries notify_again() each second, until the service manager has room for it. */
void loop_notify_again(sd_event *event);

/*
 * Turns until sd_event_exit(3): returns its status, or an error that will not pass. A turn that
 * fails for want of memory is tried again. Calls @at_rest with @userdata, unless it is NULL, each
 * time that all events are done and the loop is about to sleep.
 */
int loop_run(sd_event *event, void (*at_rest)(void *userdata), void *userdata);
