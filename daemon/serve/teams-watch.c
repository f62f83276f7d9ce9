/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/teams-watch.h"

#include <time.h>

#include "common/clock.h"

enum { ACCURACY_US = 1000000 };

static int on_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct server *server = userdata;
	uint64_t due_ns = teams_review(server->teams, clock_now_ns());

	(void)usec;
	sd_event_source_set_time(source, due_ns / 1000 + 1);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int teams_watch_start(struct server *server)
{
	return sd_event_add_time(
		server->event, NULL, CLOCK_MONOTONIC, 0, ACCURACY_US, on_time, server);
}
