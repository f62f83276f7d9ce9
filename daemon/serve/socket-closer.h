/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Closes sockets that others have sent to. Messages that nobody has received go with the socket,
 * and so do the descriptors attached to them; where such a descriptor is the last of its file, its
 * file is closed by whoever closes the socket. That may take as long as the sender likes: a TCP
 * socket with SO_LINGER waits for a peer that does not read. The main thread must not.
 *
 * A thread that exits does not linger. So one is started that has its own copy of the table of
 * descriptors; the main thread closes the socket, which is not the last descriptor of it; and the
 * thread exits, with which the last one goes. Nothing remains to be waited for or to be charged,
 * but for what uncored-security(7) names.
 */
#pragma once

#include <stdbool.h>

/* Sockets for which there was no thread: tried again with the next. */
struct socket_closer {
	int *waiting;
	unsigned n_waiting;
};

/*
 * Has the next message at @socket_fd descriptors attached? It is not received, and none of the
 * descriptors is. 1 or 0; -EAGAIN and other errno of recvmsg(2): nothing was seen, and a message
 * may be there all the same.
 */
int socket_has_descriptors(int socket_fd);

/*
 * Is @socket_fd at the end of its connection, with nothing left to receive, so that close(2) waits
 * for no file? What the client watches its end with is woken by that, though. From here on each
 * message brings the credentials of its sender.
 */
bool socket_is_at_end(int socket_fd);

/*
 * Shuts *@socket_fd, a connected Unix socket, down and closes it, by way of a thread if descriptors
 * were left to receive. It is -1 then. Never waits for a file. To be called by one thread alone,
 * which neither keeps the descriptor elsewhere nor lets another thread open or close any meanwhile.
 */
void socket_closer_close(struct socket_closer *closer, int *socket_fd);

/* The same for a listening socket, whose clients may have sent: does not shut it down, for it may
 * be systemd's, too. */
void socket_closer_close_listening(struct socket_closer *closer, int *socket_fd);

/* What could not be closed by now is left to the end of the process, which does not linger. */
void socket_closer_done(struct socket_closer *closer);
