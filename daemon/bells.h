/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the clients of one user sleep until their sweep is there: one bell per socket
 * (common/page.h) in a small shared memory, made when the first of them says hello and freed when
 * the last has gone. Another user has no descriptor of it, and so nobody there who would be woken
 * with them. It is protected as the page is.
 */
#pragma once

#include <sys/types.h>

#include "common/page.h"

struct bells {
	struct bells *next;
	uid_t uid;
	unsigned n_refs; /* clients */
	unsigned n_sockets;
	int read_fd; /* what clients get */
	struct page_bell *of_sockets;
};

/*
 * The bells of @uid in *@list, which begins as NULL; made and linked there if there are none yet.
 * For bells_unref(). 0, -ENOMEM, errno of memfd_create(2), mmap(2), open(2).
 */
int bells_ref(struct bells **list, uid_t uid, unsigned n_sockets, struct bells **ret);

/* No reader may know them any more when the last one goes. NULL is nothing. Returns NULL. */
struct bells *bells_unref(struct bells **list, struct bells *bells);
