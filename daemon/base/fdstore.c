/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/fdstore.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include "common/macro.h"
#include "daemon/base/notify.h"

/* 0: @fd is not a perf event. */
static uint64_t event_id(int fd)
{
	uint64_t id = 0;

	return ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0 ? 0 : id;
}

static void stored_done(struct fdstore_item *item)
{
	close_fd(&item->fd);
	free(item->name);
}

int fdstore_receive(struct fdstore *store, struct fault *fault)
{
	char **names = NULL;
	int n = sd_listen_fds_with_names(1, &names);

	*store = (struct fdstore){};
	if (n < 0)
		return fault_set(
			fault, n, "Cannot take the descriptors of systemd: %s.", strerror(-n));
	store->items = calloc((size_t)n + 1, sizeof *store->items);
	if (!store->items) {
		for (int i = 0; i < n; i++)
			free(names[i]);
		free(names);
		return fault_set(fault, -ENOMEM, "Out of memory.");
	}
	for (int i = 0; i < n; i++) {
		int fd = SD_LISTEN_FDS_START + i;

		store->items[i] = (struct fdstore_item){ fd, names[i], event_id(fd) };
	}
	store->n = (unsigned)n;
	free(names);
	return 0;
}

unsigned fdstore_take_sockets(struct fdstore *store, int *ret_fd)
{
	unsigned n_left = 0, n_sockets = 0;

	for (unsigned i = 0; i < store->n; i++) {
		struct fdstore_item *item = &store->items[i];

		if (sd_is_socket(item->fd, AF_UNSPEC, 0, -1) <= 0) {
			store->items[n_left++] = *item;
			continue;
		}
		if (!n_sockets++)
			*ret_fd = take_fd(&item->fd);
		stored_done(item);
	}
	store->n = n_left;
	return n_sockets;
}

int fdstore_take(struct fdstore *store, const char *name)
{
	for (unsigned i = 0; i < store->n; i++)
		if (store->items[i].fd >= 0 && !strcmp(store->items[i].name, name))
			return take_fd(&store->items[i].fd);
	return -ENOENT;
}

int fdstore_take_event(struct fdstore *store, uint64_t id)
{
	for (unsigned i = 0; i < store->n; i++)
		if (store->items[i].fd >= 0 && store->items[i].id == id)
			return take_fd(&store->items[i].fd);
	return -ENOENT;
}

static bool was_taken(const struct fdstore *store, const char *name)
{
	for (unsigned i = 0; i < store->n; i++)
		if (store->items[i].fd < 0 && !strcmp(store->items[i].name, name))
			return true;
	return false;
}

void fdstore_drop(struct fdstore *store, bool all)
{
	for (unsigned i = 0; i < store->n; i++) {
		const struct fdstore_item *item = &store->items[i];

		if (all || (item->fd >= 0 && !was_taken(store, item->name)))
			fdstore_forget(item->name);
	}
	fdstore_done(store);
}

void fdstore_done(struct fdstore *store)
{
	for (unsigned i = 0; i < store->n; i++)
		stored_done(&store->items[i]);
	free(store->items);
	*store = (struct fdstore){};
}

static int fdstore_tell(const char *what, const char *name, const int fds[], unsigned n_fds)
{
	_cleanup_free_ char *message = NULL;

	if (asprintf(&message, "%s\nFDNAME=%s", what, name) < 0)
		return -ENOMEM;
	return notify_send(message, fds, n_fds);
}

/* FDPOLL=0: a perf event without a ring buffer polls as hung up, and systemd would drop it (seen
 * with systemd 252). */
int fdstore_keep(const char *name, const int fds[], unsigned n_fds)
{
	return fdstore_tell("FDSTORE=1\nFDPOLL=0", name, fds, n_fds);
}

int fdstore_forget(const char *name)
{
	return fdstore_tell("FDSTOREREMOVE=1", name, NULL, 0);
}
