/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Restarts uncored if counters have stopped for good although their socket has a CPU online again:
 * opening new ones takes the privilege that uncored has given up. Without a service manager nothing
 * is done, because ending would lose the counts of all other counters.
 */
#include "daemon/serve/serving.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

#include "common/clock.h"
#include "daemon/base/log.h"
#include "daemon/machine/pmu.h"

/* If a restart did not help, another one right after it will not help, either. */
static const uint64_t AGAIN_AFTER_NS = 60000000000U;

/* A CPU that cannot be taken offline has no such file. */
static bool is_online(int cpu)
{
	char path[64], text[8];

	snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/online", cpu);
	return text_file_read(AT_FDCWD, path, text, sizeof text) < 0 || *text == '1';
}

static bool was_tried(const struct ledger_header *ledger, uint64_t now_ns)
{
	return ledger->restarted_ns && now_ns - ledger->restarted_ns < AGAIN_AFTER_NS;
}

/* Any CPU of the socket can be in charge of its counters. */
static bool has_cpu(const struct topology *topology, unsigned socket)
{
	for (unsigned cpu = 0; cpu < topology->n_cpus; cpu++)
		if (topology->socket_of_cpu[cpu] == (int)socket && is_online((int)cpu))
			return true;
	return false;
}

/* A box that stopped and could count again, or NULL. */
static const struct plan_box *find_stopped(const struct counters *counters)
{
	for (unsigned s = 0; s < counters->n_readers; s++) {
		int stopped = reader_state(&counters->readers[s]).stopped;
		unsigned first = counters->plan.sockets[s].first_box;

		if (stopped >= 0 && has_cpu(&counters->topology, s))
			return &counters->plan.boxes[first + stopped];
	}
	return NULL;
}

static int on_stopped(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct server *server = userdata;
	struct ledger_header *ledger = server->counters->generation.ledger.header;
	const struct plan_box *box = find_stopped(server->counters);
	uint64_t now_ns = clock_now_ns();
	eventfd_t count;

	(void)source;
	(void)events;
	eventfd_read(fd, &count);
	if (!box || was_tried(ledger, now_ns))
		return 0;
	ledger->restarted_ns = now_ns;
	log_info("The counters of %s on socket %u stand still, although a CPU of it is online: "
		 "uncored ends, so that it is started again and opens new ones.",
		box->pmu, box->socket);
	return sd_event_exit(server->event, RESTART_EXIT_STATUS);
}

int restart_watch(struct server *server)
{
	if (!server->counters->is_kept)
		return 0;
	return sd_event_add_io(
		server->event, NULL, server->counters->stopped_fd, EPOLLIN, on_stopped, server);
}
