/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "common/macro.h"
#include "daemon/close/socket-closer.h"

/*
 * How many connections wait to be accepted; further clients wait in connect(2). One process that
 * connects without pause fills any queue, and each newcomer waits behind the whole queue. With
 * SOMAXCONN a victim's uncore_open() took 70 ms instead of 0.14 ms; with 32 it takes 0.7 ms.
 */
enum { BACKLOG = LISTENER_AT_ONCE - 1 };

#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76 /* asm-generic/socket.h since Linux 6.5 */
#endif
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* asm-generic/socket.h since Linux 6.16 */
#endif

static void refuse_labels(int fd)
{
	static const int options[] = { SO_PASSCRED, SO_PASSSEC, SO_PASSPIDFD };
	const int off = 0;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		setsockopt(fd, SOL_SOCKET, options[i], &off, sizeof off);
}

/* Best effort: without SO_PASSRIGHTS, closing a socket takes more work (socket-closer.h). */
void listener_take_bare_messages(int fd)
{
	const int off = 0;

	refuse_labels(fd);
	setsockopt(fd, SOL_SOCKET, SO_PASSRIGHTS, &off, sizeof off);
}

/* Leaves SO_PASSRIGHTS as it is, because socket_is_bare() learns from it what may have been
 * attached. */
void listener_take_bare_newcomer(int fd)
{
	if (!socket_is_bare(fd))
		refuse_labels(fd);
}

static int take_activated(struct listener *listener, int fd, struct fault *fault)
{
	listener->fd = fd;
	if (sd_is_socket_unix(fd, SOCK_SEQPACKET, 1, NULL, 0) <= 0)
		return fault_set(fault, -EINVAL,
			"systemd passed a descriptor that is not a listening SOCK_SEQPACKET "
			"socket: the socket unit needs ListenSequentialPacket=.");
	listener_take_bare_messages(fd);
	/* A site may have a socket unit of its own, without Backlog=. */
	return fcntl(fd, F_SETFL, O_NONBLOCK) < 0 || listen(fd, BACKLOG) < 0 ? -errno : 0;
}

/* A daemon that was killed leaves its socket file, but nobody listens there. */
static bool is_left_over(const struct sockaddr_un *address)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	/* A file that is not a socket refuses connect(2), too. */
	if (fd < 0 || lstat(address->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return false;
	return connect(fd, (const void *)address, sizeof *address) < 0 && errno == ECONNREFUSED;
}

static int bind_path(int fd, const struct sockaddr_un *address)
{
	if (bind(fd, (const void *)address, sizeof *address) == 0)
		return 0;
	if (errno != EADDRINUSE || !is_left_over(address))
		return -errno;
	unlink(address->sun_path);
	return bind(fd, (const void *)address, sizeof *address) < 0 ? -errno : 0;
}

int listener_set_permissions(const struct listener *listener, struct fault *fault)
{
	const struct config *config = listener->config;
	const struct policy_access *access = &config->access;

	if (!listener->owns_path)
		return 0;
	if (chmod(config->socket_path, config->socket_mode) < 0)
		return fault_set(fault, -errno, "Cannot set the permissions of the socket %s: %m.",
			config->socket_path);
	if (chown(config->socket_path, -1, access->by_group ? access->group : getegid()) < 0)
		return fault_set(fault, -errno,
			"Cannot give the socket %s to group %s: %m. uncored must be a member of "
			"it: name it in SupplementaryGroups= of the unit.",
			config->socket_path, access->group_text);
	return 0;
}

bool listener_socket(const struct listener *listener, struct rules_socket *ret)
{
	struct sockaddr_un address = {};
	socklen_t size = sizeof address - 1; /* the path may lack its NUL */
	struct stat st;

	if (getsockname(listener->fd, (void *)&address, &size) < 0 ||
		stat(address.sun_path, &st) < 0)
		return false;
	*ret = (struct rules_socket){ st.st_uid, st.st_gid, st.st_mode & 0777 };
	return true;
}

static int make_socket(struct listener *listener, struct fault *fault)
{
	const struct config *config = listener->config;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r;

	if (fd < 0)
		return fault_set(fault, -errno, "Cannot make a socket: %m.");
	memcpy(address.sun_path, config->socket_path, sizeof address.sun_path);
	r = bind_path(fd, &address);
	if (r == -EADDRINUSE)
		return fault_set(fault, r,
			"%s is taken by another uncored, which must be stopped first, or by a file "
			"that is not a socket.",
			address.sun_path);
	if (r < 0)
		return fault_set(fault, r,
			"Cannot bind the socket %s: %s. Its directory must exist and be writable "
			"for uncored; name another with --socket.",
			address.sun_path, strerror(-r));
	listener->owns_path = true;
	r = listener_set_permissions(listener, fault);
	if (r < 0)
		return r;
	listener_take_bare_messages(fd);
	if (listen(fd, BACKLOG) < 0)
		return fault_set(fault, -errno, "Cannot listen at %s: %m.", address.sun_path);
	listener->fd = take_fd(&fd);
	return 0;
}

int listener_open(struct listener *listener, const struct config *config, struct fdstore *store,
	struct fault *fault)
{
	int fd = -1;
	unsigned n = fdstore_take_sockets(store, &fd);

	*listener = (struct listener){ .config = config, .fd = -1 };
	if (n > 1) {
		close_fd(&fd);
		return fault_set(fault, -EINVAL,
			"systemd passed %u sockets, uncored serves one: the socket unit may have "
			"one Listen line.",
			n);
	}
	return n == 1 ? take_activated(listener, fd, fault) : make_socket(listener, fault);
}

void listener_close(struct listener *listener)
{
	struct socket_closer closer = {};

	if (listener->owns_path)
		unlink(listener->config->socket_path);
	socket_closer_close_listening(&closer, &listener->fd);
	socket_closer_done(&closer);
}
