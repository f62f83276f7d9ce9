/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/libuncore/call.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include "client/libuncore/internal.h"
#include "common/bounds.h"
#include "common/clock.h"

#define AWAKE_NS        1000000U
#define ASLEEP_LEAST_US 1000U
#define ASLEEP_MOST_US  100000U

/* --- sentences --- */

static const struct {
	int error;
	const char *hint;
} hints[] = {
	{ -ENOENT, "Start it with `systemctl start uncored.socket`, or name another socket with "
		   "UNCORE_SOCKET. In a container, bind the folder of the node's socket." },
	{ -ECONNREFUSED,
		"The socket is there but no daemon listens on it: start it with `systemctl "
		"start uncored.socket`. In a container, bind the folder and not the socket, which "
		"is made anew at times." },
	{ -EACCES, "Its socket is not open to this user. The rule is mode and group in [access] of "
		   "uncored.conf, or SocketMode= and SocketGroup= of uncored.socket; the "
		   "administrator of this node can change it." },
	{ -EPROTONOSUPPORT, "uncored and libuncore are of releases that do not go together: "
			    "install the same of both (a container brings its own libuncore), "
			    "then `systemctl restart uncored`." },
	{ -EDQUOT, "This user has too many connections: close some, or ask the administrator of "
		   "this node to raise the limits in uncored.conf." },
	{ -EMFILE, "This process has too many open files: close some, or raise `ulimit -n`." },
	{ -ENOTSOCK,
		"That is a file or a folder, and not a socket. As shipped, uncored's socket is "
		"/run/uncored/socket." },
	{ -ENAMETOOLONG, "The path of a socket has at most 107 bytes: name it by a shorter link." },
	{ -EBADMSG, "It does not speak like uncored: is this the right socket?" },
};

static const char *hint_for(int error)
{
	for (size_t i = 0; i < ARRAY_SIZE(hints); i++)
		if (hints[i].error == error)
			return hints[i].hint;
	return "Look at `systemctl status uncored`.";
}

/* The kernel refuses a connection to a file as it refuses one to a socket without a daemon, or, to
 * who may not write the file, to a socket of others. */
static bool is_other_file(int error, const char *path)
{
	struct stat file;

	return (error == -ECONNREFUSED || error == -EACCES) && stat(path, &file) == 0 &&
	       !S_ISSOCK(file.st_mode);
}

int call_cannot_connect(int error, const struct call *call)
{
	const char *path = call->path;
	const int reason = is_other_file(error, path) ? -ENOTSOCK : error;

	if (error == -ETIMEDOUT)
		return error_say(error,
			"uncored at %s did not answer within %.3g s: look at `systemctl status "
			"uncored`.",
			path, (double)call->within_ns / 1e9);
	return error_say(error, "Cannot connect to uncored at %s: %m. %s", path, hint_for(reason));
}

/* The daemon's own text explains best why it refuses and what to do about it. */
static int refused(const char *path, const struct wire_error *answer)
{
	int error = answer->error < -4095 ? -EPROTO : answer->error; /* MAX_ERRNO of the kernel */

	return error_say(error, "uncored at %s refuses: %s", path,
		*answer->text ? answer->text : hint_for(error));
}

/* --- the greeting --- */

void call_done(struct call *call)
{
	close_fd(&call->fd);
}

struct call call_to(const char *path, uint64_t timeout_ns)
{
	if (!path)
		path = secure_getenv("UNCORE_SOCKET");
	return (struct call){
		.path = path && *path ? path : WIRE_SOCKET_PATH,
		.within_ns = timeout_ns,
		.deadline_ns = clock_deadline_ns(timeout_ns),
		.fd = -1,
	};
}

static int try_to_connect(const struct call *call, const struct sockaddr_un *address)
{
	int r = connect(call->fd, (const struct sockaddr *)address, sizeof *address);

	return r < 0 ? -errno : 0;
}

/*
 * While the daemon's backlog is full, a blocking connect() sleeps in a queue. When it wakes up,
 * another process that happened to run has taken the place, so it goes to the end of the queue:
 * beside 64 processes that connect without end, one connect in a hundred took 20 ms. So we
 * alternate between polling and sleeping: a process that polls already runs when a place becomes
 * free. It yields to the daemon, which frees the place, and to other processes that poll: without
 * that, 576 processes that came at once waited for 0.95 s instead of 0.13.
 */
static int look_for_place(const struct call *call, const struct sockaddr_un *address)
{
	uint64_t end_ns = clock_deadline_ns(AWAKE_NS);
	int r;

	do
		r = try_to_connect(call, address);
	while (r == -EAGAIN && clock_now_ns() < end_ns && sched_yield() == 0);
	return r;
}

/* Sleeps get longer in case the daemon hangs. To pass the deadline by an eighth is harmless. */
static int sleep_in_queue(
	const struct call *call, const struct sockaddr_un *address, uint64_t waited_ns)
{
	const uint64_t us = least_of(ASLEEP_LEAST_US + waited_ns / 1000 / 8, ASLEEP_MOST_US);
	const struct timeval limit = { .tv_usec = (suseconds_t)us };
	int r;

	if (setsockopt(call->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) < 0 ||
		fcntl(call->fd, F_SETFL, 0) < 0)
		return -errno;
	r = try_to_connect(call, address);
	return fcntl(call->fd, F_SETFL, O_NONBLOCK) < 0 ? -errno : r;
}

static bool is_full(int r)
{
	return r == -EAGAIN || r == -EINTR;
}

static int connect_in_time(const struct call *call, const struct sockaddr_un *address)
{
	const uint64_t since_ns = clock_now_ns();
	int r = -EAGAIN;

	while (is_full(r) && clock_now_ns() < call->deadline_ns) {
		r = look_for_place(call, address);
		if (is_full(r))
			r = sleep_in_queue(call, address, clock_now_ns() - since_ns);
	}
	return is_full(r) ? -ETIMEDOUT : r;
}

static int dial(struct call *call)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(call->path) >= sizeof address.sun_path)
		return -ENAMETOOLONG;
	strcpy(address.sun_path, call->path);
	call->fd = fd_beside_streams(
		socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
	return call->fd < 0 ? -errno : connect_in_time(call, &address);
}

/* Retries on EINTR: a profiler's signals end each ppoll(), whatever SA_RESTART says. */
int call_wait(const struct call *call)
{
	struct pollfd connection = { .fd = call->fd, .events = POLLIN };
	uint64_t left_ns;

	while ((left_ns = clock_left_ns(call->deadline_ns, 0)) > 0) {
		const struct timespec limit = clock_timespec(left_ns);
		int n = ppoll(&connection, 1, &limit, NULL);

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
	return -ETIMEDOUT;
}

static int move_files(struct wire_packet *packet)
{
	for (unsigned i = 0; i < packet->n_fds; i++) {
		packet->fds[i] = fd_beside_streams(packet->fds[i]);
		if (packet->fds[i] < 0) {
			const int r = -errno;

			wire_packet_done(packet);
			return r;
		}
	}
	return 0;
}

static int receive(const struct call *call, struct wire_packet *ret)
{
	bool was_reset = false;

	for (;;) {
		int r = call_wait(call);

		if (r < 0)
			return r;
		r = wire_receive(call->fd, WIRE_FROM_DAEMON, ret);
		if (r == 1)
			return move_files(ret);
		if (r == 0)
			return -ECONNRESET;
		/* The kernel reports a reset once, before an answer that may still be queued. */
		if (r != -EINTR && r != -EAGAIN && (r != -ECONNRESET || was_reset))
			return r;
		was_reset |= r == -ECONNRESET;
	}
}

int call_send(const struct call *call, const union wire_message *request)
{
	int r = wire_send(call->fd, request, NULL, 0);

	/* A daemon that refuses at once has already closed; its reason can still be received. */
	return r < 0 && r != -EPIPE && r != -ECONNRESET ? call_cannot_connect(r, call) : 0;
}

int call_take(const struct call *call, enum wire_opcode expected, struct wire_packet *ret)
{
	int r = receive(call, ret);

	if (r < 0)
		return call_cannot_connect(r, call);
	if (ret->message.header.opcode == expected)
		return 0;
	r = ret->message.header.opcode == WIRE_ERROR ? refused(call->path, &ret->message.error)
						     : call_cannot_connect(-EBADMSG, call);
	wire_packet_done(ret);
	return r;
}

int call_ask(const struct call *call, const union wire_message *request, enum wire_opcode expected,
	struct wire_packet *ret)
{
	int r = call_send(call, request);

	return r < 0 ? r : call_take(call, expected, ret);
}

int call_connect(struct call *call)
{
	int r = dial(call);

	return r < 0 ? call_cannot_connect(r, call) : 0;
}

static int greet_once(struct call *call, struct wire_packet *ret_welcome)
{
	union wire_message hello;
	int r = call_connect(call);

	if (r < 0)
		return r;
	wire_begin(&hello, WIRE_HELLO);
	hello.hello.version = WIRE_VERSION;
	return call_ask(call, &hello, WIRE_WELCOME, ret_welcome);
}

/* An uncored that ends closes what it has accepted and not yet answered. The next one listens at
 * the same socket already. */
int call_greet(struct call *call, struct wire_packet *ret_welcome)
{
	int r = greet_once(call, ret_welcome);

	if (r != -ECONNRESET)
		return r;
	close_fd(&call->fd);
	return greet_once(call, ret_welcome);
}

int call_ask_once(struct call *call, const union wire_message *request, enum wire_opcode expected,
	struct wire_packet *ret)
{
	int r = call_greet(call, ret);

	if (r < 0)
		return r;
	wire_packet_done(ret); /* the page is not wanted here */
	return call_ask(call, request, expected, ret);
}
