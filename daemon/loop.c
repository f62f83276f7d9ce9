/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/loop.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <time.h>

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

/* sd-event grows its tables while it turns. A turn that failed is as if it had not begun: what is
 * readable stays readable, what was due stays due. */
int loop_run(sd_event *event)
{
	const struct timespec pause = { .tv_nsec = 10000000 };
	int r;

	while ((r = sd_event_loop(event)) == -ENOMEM)
		nanosleep(&pause, NULL);
	return r;
}
