/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Closes sockets that others have sent to. Messages that nobody has received go with the socket,
 * and so do the descriptors attached to them. If such a descriptor is the last one of its file, the
 * thread that closes the socket closes that file, too. That may take as long as the sender likes: a
 * TCP socket with SO_LINGER waits for a peer that does not read. The main thread must not wait for
 * it.
 *
 * The kernel tells how many descriptors are attached to all messages that are left. If there are
 * any, the socket needs a thread, because a thread that exits does not linger. So one is started
 * that has its own copy of the table of descriptors. The main thread closes its descriptor of the
 * socket, which is not the last one. Then the started thread exits, and the last descriptor goes
 * with it. Nothing remains to be waited for or to be charged, except for what uncored-security(7)
 * names.
 */
#pragma once

#include <stdbool.h>

/* Sockets that wait for a thread, or for which none could be had: tried again with the next. */
struct socket_closer {
	int *waiting;
	unsigned n_waiting;
};

/*
 * Was the kernel told from the beginning of the connection @socket_fd to keep descriptors away
 * (listener_take_bare_messages())? Then nothing at it makes close(2) wait for a file.
 */
bool socket_is_bare(int socket_fd);

/*
 * Has the next message at @socket_fd descriptors attached? Receives neither the message nor any of
 * the descriptors. Returns 1 or 0; -EAGAIN and other errno of recvmsg(2): nothing was seen, and a
 * message may be there all the same.
 */
int socket_has_descriptors(int socket_fd);

/*
 * Is @socket_fd at the end of its connection, with nothing left to receive, so that close(2) waits
 * for no file? Closing it still wakes all watchers of the client's end. From this call on each
 * message brings the credentials of its sender.
 */
bool socket_is_at_end(int socket_fd);

/*
 * Closes *@socket_fd, a connected Unix socket, and sets it to -1, if it holds no more than an
 * honest client sends: then close(2) waits for no file, and wakes the watchers of the client's end
 * only a few times. False: it is still open.
 */
bool socket_close_if_empty(int *socket_fd);

/*
 * Shuts down and closes *@socket_fd, a connected Unix socket, and sets it to -1. Uses a thread if
 * descriptors may be left to receive. Never waits for a file. To be called by one thread alone,
 * which neither keeps the descriptor elsewhere nor lets another thread open or close any meanwhile.
 */
void socket_closer_close(struct socket_closer *closer, int *socket_fd);

/* The first does so for each of several; those that need a thread wait for the second, and share
 * one. */
void socket_closer_put(struct socket_closer *closer, int *socket_fd);
void socket_closer_close_waiting(struct socket_closer *closer);

/* The same for a listening socket, whose clients may have sent. Does not shut it down, because it
 * may be systemd's, too. */
void socket_closer_close_listening(struct socket_closer *closer, int *socket_fd);

/* Leaves the sockets that could not be closed by now to the end of the process, which does not
 * linger. */
void socket_closer_done(struct socket_closer *closer);
