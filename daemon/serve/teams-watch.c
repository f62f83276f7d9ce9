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
	return sd_event_source_set_enabled(
		source, server->teams->n ? SD_EVENT_ONESHOT : SD_EVENT_OFF);
}

int teams_watch_start(struct server *server)
{
	return sd_event_add_time(server->event, &server->teams_source, CLOCK_MONOTONIC, 0,
		ACCURACY_US, on_time, server);
}

void teams_watch_new(struct server *server)
{
	int enabled;

	if (sd_event_source_get_enabled(server->teams_source, &enabled) < 0 || enabled)
		return;
	sd_event_source_set_time_relative(server->teams_source, TEAMS_MEMORY_S * UINT64_C(1000000));
	sd_event_source_set_enabled(server->teams_source, SD_EVENT_ONESHOT);
}
