/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Closes sockets that others have sent to. A close also frees the messages that nobody has
 * received, and the descriptors attached to them. If such a descriptor is the last one of its file,
 * the thread that closes the socket closes that file, too. The sender can make that take as long as
 * it likes: a TCP socket with SO_LINGER waits for a peer that does not read. The main thread must
 * not wait for it.
 *
 * The kernel tells how many descriptors are attached to all messages that are left. If there are
 * any, closing the socket takes a helper thread, because a thread that exits does not linger. The
 * helper has its own copy of the descriptor table. The main thread closes its descriptor of the
 * socket, which is not the last one. Then the helper exits and drops the last one. So there is
 * nothing left to wait for or to charge, except for what uncored-security(7) names.
 */
#pragma once

#include <stdbool.h>

/* Sockets that wait for a helper thread. If none can be started, they are tried again later. */
struct socket_closer {
	int *waiting;
	unsigned n_waiting;
};

/* True: the kernel has kept descriptors away from @socket_fd since the beginning of its connection
 * (listener_take_bare_messages()). Then no attached file can make close(2) wait. */
bool socket_is_bare(int socket_fd);

/*
 * Does the next message at @socket_fd have descriptors attached? Receives neither the message nor
 * any of the descriptors. Returns 1 or 0; -EAGAIN and other errno of recvmsg(2): no message was
 * seen, but there may be one all the same.
 */
int socket_has_descriptors(int socket_fd);

/*
 * Closes *@socket_fd, a connected Unix socket, and sets it to -1, if it holds no more than an
 * honest client sends: then close(2) waits for no file, and wakes the watchers of the client's end
 * only a few times. False: it is still open.
 */
bool socket_close_if_empty(int *socket_fd);

/*
 * Shuts down and closes *@socket_fd, a connected Unix socket, and sets it to -1. Uses a helper
 * thread if descriptors may be left to receive. Never waits for a file. While one thread calls
 * this, nobody may have another descriptor of the socket, and no other thread may open or close
 * one.
 */
void socket_closer_close(struct socket_closer *closer, int *socket_fd);

/* The same for a thread that may wait: without a helper thread it tries again until there is one.
 */
void socket_closer_close_alone(int *socket_fd);

/* The same for several sockets: the first function is called for each, and the second at the end.
 * Sockets that need a helper thread wait for the second function and share one thread. */
void socket_closer_put(struct socket_closer *closer, int *socket_fd);
void socket_closer_close_waiting(struct socket_closer *closer);

/* The same for a listening socket, which may hold messages on connections that were not accepted.
 * Does not shut it down, because systemd may use it, too. */
void socket_closer_close_listening(struct socket_closer *closer, int *socket_fd);

/* Leaves open the sockets that could not be closed. The exit of the process closes them, and does
 * not linger. */
void socket_closer_done(struct socket_closer *closer);
