/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/close/socket-closer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "common/macro.h"
#include "daemon/base/privilege.h"
#include "daemon/base/text-file.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* asm-generic/socket.h since Linux 6.16 */
#endif

enum {
	STACK_BYTES = 128 * 1024,
	HONEST_MESSAGES = 8, /* and more */
	FDINFO_MAX = 1024,
};

/* --- messages left to receive --- */

/*
 * Looks at the next message with room for neither bytes nor descriptors, and returns its size.
 * MSG_CTRUNC tells that something would be attached (net/core/scm.c, scm_recv). Meanwhile the
 * kernel takes references of its own to attached files and gives them back. The queue keeps its own
 * (net/unix/af_unix.c, unix_peek_fds), and nobody but the caller receives from it.
 */
static ssize_t peek(int socket_fd, int *ret_flags)
{
	struct msghdr packet = {};
	ssize_t n = recvmsg(socket_fd, &packet, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);

	*ret_flags = packet.msg_flags;
	return n;
}

/* A connection has the options that the listening socket had when the client called connect(2), and
 * nothing sets this one afterwards. */
bool socket_is_bare(int socket_fd)
{
	int takes_descriptors;
	socklen_t size = sizeof takes_descriptors;

	return getsockopt(socket_fd, SOL_SOCKET, SO_PASSRIGHTS, &takes_descriptors, &size) == 0 &&
	       !takes_descriptors;
}

int socket_has_descriptors(int socket_fd)
{
	int flags;

	if (peek(socket_fd, &flags) < 0)
		return -errno;
	return flags & MSG_CTRUNC ? 1 : 0;
}

/*
 * Receives what an honest client sends, up to a message with descriptors, an empty one, or the end.
 * Without this the close would leave an error at the client's end, and an old library takes the
 * error for the answer.
 */
static void drain(int socket_fd)
{
	int flags;

	for (unsigned n = 0; n < HONEST_MESSAGES; n++) {
		if (peek(socket_fd, &flags) <= 0 || flags & MSG_CTRUNC)
			break;
		recv(socket_fd, NULL, 0, MSG_DONTWAIT);
	}
}

/*
 * True only at the end of the connection: nothing can be sent to us any more, and nothing sent is
 * left to receive. An empty message looks like the end of the connection, except that each message
 * has credentials and the end has none. A pending error, of a peer that has gone, tells nothing.
 */
bool socket_is_at_end(int socket_fd)
{
	const int on = 1;
	int error, flags;
	socklen_t size = sizeof error;

	if (setsockopt(socket_fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) < 0 ||
		getsockopt(socket_fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		return false;
	return peek(socket_fd, &flags) == 0 && !(flags & MSG_CTRUNC);
}

/*
 * False only if no message left to receive has descriptors attached, however many there are. The
 * kernel counts them since Linux 5.6 (net/unix/af_unix.c, unix_show_fdinfo), at the time of
 * sending: it tells the truth once @socket_fd is shut down. To look takes 3 to 6 us, as long as to
 * receive a few messages and a tenth of starting a thread.
 */
static bool may_hold_descriptors(int socket_fd)
{
	static const char key[] = "\nscm_fds: ";
	char path[32], text[FDINFO_MAX];
	const char *count;

	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", socket_fd);
	if (text_file_read(AT_FDCWD, path, text, sizeof text) < 0)
		return true;
	count = strstr(text, key);
	return !count || strtoul(count + strlen(key), NULL, 10) != 0;
}

/* --- the thread that holds and exits --- */

struct holder {
	pthread_t thread;
	sem_t has_copy, may_exit;
	bool holds;
};

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) < 0)
		; /* EINTR */
}

/* From here on the thread has its own table, in which all open descriptors stay open; exiting drops
 * it. */
static void *hold(void *argument)
{
	struct holder *holder = argument;

	privilege_drop();
	holder->holds = unshare(CLONE_FILES) == 0;
	sem_post(&holder->has_copy);
	wait_for(&holder->may_exit);
	return NULL;
}

static bool holder_start(struct holder *holder)
{
	pthread_attr_t attr;
	int r;

	sem_init(&holder->has_copy, 0, 0);
	sem_init(&holder->may_exit, 0, 0);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	r = pthread_create(&holder->thread, &attr, hold, holder);
	pthread_attr_destroy(&attr);
	if (r)
		return false;
	wait_for(&holder->has_copy);
	return true;
}

/*
 * Waits for the thread to be done with its memory, which happens before the thread drops its files
 * (kernel/exit.c, do_exit: exit_mm, exit_files). The thread is exiting by then, so sockets do not
 * linger (net/ipv4/af_inet.c, inet_release: PF_EXITING).
 */
static void holder_stop(struct holder *holder)
{
	sem_post(&holder->may_exit);
	pthread_join(holder->thread, NULL);
}

void socket_closer_close_waiting(struct socket_closer *closer)
{
	struct holder holder = {};

	if (!closer->n_waiting || !holder_start(&holder))
		return;
	while (holder.holds && closer->n_waiting)
		close_fd(&closer->waiting[--closer->n_waiting]);
	holder_stop(&holder);
}

/* --- for the server --- */

static void keep_waiting(struct socket_closer *closer, int *socket_fd)
{
	int *grown = reallocarray(closer->waiting, closer->n_waiting + 1, sizeof *closer->waiting);

	if (grown) {
		closer->waiting = grown;
		closer->waiting[closer->n_waiting++] = *socket_fd;
	}
	*socket_fd = -1; /* no memory: better to lose a descriptor than to hang */
}

void socket_closer_close_listening(struct socket_closer *closer, int *socket_fd)
{
	if (*socket_fd >= 0)
		keep_waiting(closer, socket_fd);
	socket_closer_close_waiting(closer);
}

/* Without SO_PASSRIGHTS a client could attach a descriptor after a mere look. */
static bool is_empty(int socket_fd)
{
	bool is_bare = socket_is_bare(socket_fd);
	int flags;

	if (!is_bare)
		shutdown(socket_fd, SHUT_RDWR);
	drain(socket_fd);
	return is_bare ? peek(socket_fd, &flags) <= 0 : socket_is_at_end(socket_fd);
}

bool socket_close_if_empty(int *socket_fd)
{
	if (!is_empty(*socket_fd))
		return false;
	close_fd(socket_fd);
	return true;
}

void socket_closer_put(struct socket_closer *closer, int *socket_fd)
{
	bool is_bare = *socket_fd >= 0 && socket_is_bare(*socket_fd);

	if (*socket_fd < 0)
		return;
	/* After this nobody can send to it any more. */
	shutdown(*socket_fd, SHUT_RDWR);
	drain(*socket_fd);
	if (is_bare || !may_hold_descriptors(*socket_fd))
		close_fd(socket_fd);
	else
		keep_waiting(closer, socket_fd);
}

void socket_closer_close(struct socket_closer *closer, int *socket_fd)
{
	socket_closer_put(closer, socket_fd);
	socket_closer_close_waiting(closer);
}

void socket_closer_done(struct socket_closer *closer)
{
	free(closer->waiting);
	*closer = (struct socket_closer){};
}
