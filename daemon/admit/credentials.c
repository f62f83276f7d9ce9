/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/admit/credentials.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

/* The first call only asks how many groups there are. */
static int credentials_read_groups(int socket_fd, struct rules_user *ret)
{
	socklen_t size = 0;
	uint32_t *groups;

	if (getsockopt(socket_fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &size) == 0)
		return 0;
	if (errno != ERANGE)
		return -errno;
	groups = malloc(size);
	if (!groups)
		return -ENOMEM;
	ret->groups = groups;
	if (getsockopt(socket_fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size) < 0)
		return -errno;
	ret->n_groups = size / sizeof *groups;
	return 0;
}

static int read_credentials(int socket_fd, struct ucred *ret)
{
	socklen_t size = sizeof *ret;

	return getsockopt(socket_fd, SOL_SOCKET, SO_PEERCRED, ret, &size) < 0 ? -errno : 0;
}

pid_t credentials_pid(int socket_fd)
{
	struct ucred credentials;

	return read_credentials(socket_fd, &credentials) < 0 ? 0 : credentials.pid;
}

int credentials_of(int socket_fd, struct rules_user *ret)
{
	struct ucred credentials;
	int r = read_credentials(socket_fd, &credentials);

	*ret = (struct rules_user){};
	if (r < 0)
		return r;
	ret->uid = credentials.uid;
	ret->gid = credentials.gid;
	r = credentials_read_groups(socket_fd, ret);
	if (r < 0)
		credentials_done(ret);
	return r;
}

void credentials_done(struct rules_user *peer)
{
	free((uint32_t *)peer->groups);
	peer->groups = NULL;
	peer->n_groups = 0;
}
