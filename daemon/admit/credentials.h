/* SPDX-License-Identifier: BSD-3-Clause */
/* The user at the other end of a connection, as the kernel recorded it when that end connected. */
#pragma once

#include <sys/types.h>

#include "daemon/site/policy.h"

/* credentials_done() frees ret->groups. 0, -ENOMEM, errno of getsockopt(2). */
int credentials_of(int socket_fd, struct rules_user *ret);

void credentials_done(struct rules_user *peer);

/* The process that connected; 0: it is not visible here, for example in another container. */
pid_t credentials_pid(int socket_fd);
