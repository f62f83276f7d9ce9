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
#include <unistd.h>

#include "common/array.h"
#include "common/macro.h"
#include "daemon/base/privilege.h"
#include "daemon/base/text-file.h"

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* asm-generic/socket.h since Linux 6.16 */
#endif

enum {
	STACK_BYTES = 128 * 1024,
	HONEST_MESSAGES = 8, /* an honest client sends fewer */
	FDINFO_MAX = 1024,
	LOOK_US = 1000,
};

/* --- messages left to receive --- */

/*
 * Peeks at the next message with room for neither bytes nor descriptors, and returns its size.
 * MSG_CTRUNC shows that something is attached (net/core/scm.c, scm_recv). During the call the
 * kernel takes references to attached files and drops them again. These are never the last ones:
 * the queue keeps its own (net/unix/af_unix.c, unix_peek_fds), and only the caller receives from
 * it.
 */
static ssize_t peek(int socket_fd, int *ret_flags)
{
	struct msghdr packet = {};
	ssize_t n = recvmsg(socket_fd, &packet, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);

	*ret_flags = packet.msg_flags;
	return n;
}

/* A connection inherits the options that the listening socket had when the client called
 * connect(2), and uncored does not set this option afterwards. */
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
 * Receives messages of an honest client, up to a message with descriptors, an empty message, or the
 * end. Without this the close would leave an error at the client's end, and an old library would
 * take that error for the answer.
 */
static void socket_closer_drain(int socket_fd)
{
	int flags;

	for (unsigned n = 0; n < HONEST_MESSAGES; n++) {
		if (peek(socket_fd, &flags) <= 0 || flags & MSG_CTRUNC)
			break;
		recv(socket_fd, NULL, 0, MSG_DONTWAIT);
	}
}

/*
 * True only at the end of the connection: nothing can be sent to us any more, and no message is
 * left to receive. Then close(2) waits for no file. An empty message looks like the end of the
 * connection, except that every message has credentials and the end has none. A pending error of a
 * peer that has left says nothing about messages, so it is taken first.
 */
static bool socket_is_at_end(int socket_fd)
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
 * False only if no message that is left to receive has descriptors attached, however many messages
 * there are. The kernel counts attached descriptors since Linux 5.6 (net/unix/af_unix.c,
 * unix_show_fdinfo). It counts them when they are sent, so the number is final once @socket_fd is
 * shut down. Reading it takes 3 to 6 us, as long as receiving a few messages, and a tenth of the
 * time for starting a thread.
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

static void socket_closer_wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) < 0)
		; /* EINTR */
}

/* unshare(2) gives the thread its own descriptor table, in which all open descriptors stay open
 * until the thread exits. */
static void *hold(void *argument)
{
	struct holder *holder = argument;

	privilege_drop();
	holder->holds = unshare(CLONE_FILES) == 0;
	sem_post(&holder->has_copy);
	socket_closer_wait_for(&holder->may_exit);
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
	socket_closer_wait_for(&holder->has_copy);
	return true;
}

/*
 * Waits until the thread has released its memory, which it does before it drops its files
 * (kernel/exit.c, do_exit: exit_mm, exit_files). The thread is exiting by then, so its sockets do
 * not linger (net/ipv4/af_inet.c, inet_release: PF_EXITING).
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
	if (array_room(&closer->waiting, closer->n_waiting, sizeof *closer->waiting) == 0)
		closer->waiting[closer->n_waiting++] = *socket_fd;
	*socket_fd = -1; /* without memory it stays open: a leak is better than a hang */
}

void socket_closer_close_listening(struct socket_closer *closer, int *socket_fd)
{
	if (*socket_fd >= 0)
		keep_waiting(closer, socket_fd);
	socket_closer_close_waiting(closer);
}

/* If the socket is not bare, a client could attach a descriptor after the check, so the socket is
 * shut down first. */
static bool is_empty(int socket_fd)
{
	bool is_bare = socket_is_bare(socket_fd);
	int flags;

	if (!is_bare)
		shutdown(socket_fd, SHUT_RDWR);
	socket_closer_drain(socket_fd);
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
	socket_closer_drain(*socket_fd);
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

void socket_closer_close_alone(int *socket_fd)
{
	struct socket_closer closer = {};

	socket_closer_close(&closer, socket_fd);
	while (closer.n_waiting) {
		usleep(LOOK_US);
		socket_closer_close_waiting(&closer);
	}
	socket_closer_done(&closer);
}
