/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/bells.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/macro.h"
#include "daemon/memory.h"

static size_t size_bytes(const struct bells *bells)
{
	return bells->n_sockets * sizeof *bells->of_sockets;
}

static struct bells *bells_free(struct bells *bells)
{
	if (bells->of_sockets)
		munmap(bells->of_sockets, size_bytes(bells));
	close_fd(&bells->read_fd);
	free(bells);
	return NULL;
}

static int open_memory(struct bells *bells)
{
	_cleanup_close_ int fd = memory_new("uncored-bells", size_bytes(bells), 0444);

	if (fd < 0)
		return fd;
	bells->of_sockets = memory_map(fd, size_bytes(bells));
	if (!bells->of_sockets)
		return -errno;
	bells->read_fd = memory_reopen_read_only(fd);
	return bells->read_fd < 0 ? bells->read_fd : 0;
}

static int bells_new(uid_t uid, unsigned n_sockets, struct bells **ret)
{
	struct bells *bells = malloc(sizeof *bells);
	int r;

	if (!bells)
		return -ENOMEM;
	*bells = (struct bells){ .uid = uid, .n_sockets = n_sockets, .read_fd = -1 };
	r = open_memory(bells);
	if (r < 0) {
		bells_free(bells);
		return r;
	}
	*ret = bells;
	return 0;
}

int bells_ref(struct bells **list, uid_t uid, unsigned n_sockets, struct bells **ret)
{
	struct bells *bells = *list;
	int r;

	while (bells && bells->uid != uid)
		bells = bells->next;
	if (!bells) {
		r = bells_new(uid, n_sockets, &bells);
		if (r < 0)
			return r;
		bells->next = *list;
		*list = bells;
	}
	bells->n_refs++;
	*ret = bells;
	return 0;
}

struct bells *bells_unref(struct bells **list, struct bells *bells)
{
	if (!bells || --bells->n_refs)
		return NULL;
	while (*list != bells)
		list = &(*list)->next;
	*list = bells->next;
	return bells_free(bells);
}
