/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/notify.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "common/clock.h"
#include "common/macro.h"
#include "daemon/base/log.h"

enum {
	STATE_BYTES = 1024,
	FDS_MAX = 253, /* of one message: SCM_MAX_FD of the kernel */
};

/* How long messages wait for a manager that does not read. Once clients are served, they wait, too.
 */
static const int64_t START_NS = 10000000000, SERVING_NS = 100000000;

static struct {
	bool is_ready;
	bool state_waits; /* the manager was not told of it yet */
	char state[STATE_BYTES];
	int64_t spent_ns; /* time waited since the last message that was sent */
	struct log_limit silence;
} notify;

/* --- the socket --- */

/* A path, or a name of the abstract namespace, which begins with a NUL. */
static int connect_to_manager(int fd, const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	size_t length = strlen(path);

	if (length >= sizeof address.sun_path)
		return -ENAMETOOLONG;
	memcpy(address.sun_path, path, length + 1);
	if (*path == '@')
		address.sun_path[0] = '\0';
	length += offsetof(struct sockaddr_un, sun_path);
	return connect(fd, (const void *)&address, (socklen_t)length) < 0 ? -errno : 0;
}

/* False: there is no room, and no time left. */
static bool wait_for_room(int fd)
{
	struct pollfd room = { .fd = fd, .events = POLLOUT };
	int64_t left_ns = (notify.is_ready ? SERVING_NS : START_NS) - notify.spent_ns;
	uint64_t before_ns = clock_now_ns();
	int n = left_ns > 0 ? poll(&room, 1, (int)(left_ns / CLOCK_NS_PER_MS) + 1) : 0;

	notify.spent_ns += (int64_t)(clock_now_ns() - before_ns);
	return n > 0 || (n < 0 && errno == EINTR);
}

static int send_message(int fd, const struct msghdr *message, bool may_wait)
{
	while (sendmsg(fd, message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		if (errno != EINTR && (errno != EAGAIN || !may_wait || !wait_for_room(fd)))
			return -errno;
	notify.spent_ns = 0;
	return 0;
}

/* --- messages --- */

static void add_fds(struct msghdr *header, const int fds[], unsigned n_fds)
{
	struct cmsghdr *control = header->msg_control;

	header->msg_controllen = CMSG_SPACE(n_fds * sizeof *fds);
	control->cmsg_level = SOL_SOCKET;
	control->cmsg_type = SCM_RIGHTS;
	control->cmsg_len = CMSG_LEN(n_fds * sizeof *fds);
	memcpy(CMSG_DATA(control), fds, n_fds * sizeof *fds);
}

static void say_silence(void)
{
	uint64_t n_silent;

	if (log_limit_permits(&notify.silence, clock_now_ns(), &n_silent))
		log_warning("The service manager does not take the messages of uncored: its socket "
			    "$NOTIFY_SOCKET is full. uncored goes on without waiting for it, and "
			    "tells it again later (%" PRIu64 " more since the last such line).",
			n_silent);
}

static int send_text(const char *text, const int fds[], unsigned n_fds, bool may_wait)
{
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(FDS_MAX * sizeof(int))] = {};
	struct iovec part = { (char *)text, strlen(text) };
	struct msghdr header = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control };
	const char *path = getenv("NOTIFY_SOCKET");
	_cleanup_close_ int fd = -1;
	int r;

	if (!path || !*path)
		return -ENOTCONN;
	if (n_fds > FDS_MAX)
		return -E2BIG;
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (n_fds)
		add_fds(&header, fds, n_fds);
	else
		header.msg_control = NULL;
	r = connect_to_manager(fd, path);
	if (r >= 0)
		r = send_message(fd, &header, may_wait);
	if (r == -EAGAIN)
		say_silence();
	return r;
}

int notify_send(const char *message, const int fds[], unsigned n_fds)
{
	return send_text(message, fds, n_fds, true);
}

/* --- the state of the service --- */

static void tell_state(bool may_wait)
{
	notify.state_waits = send_text(notify.state, NULL, 0, may_wait) == -EAGAIN;
}

bool notify_ready(const char *format, ...)
{
	static const char ready[] = "READY=1\nSTATUS=";
	va_list arguments;

	strcpy(notify.state, ready);
	va_start(arguments, format);
	vsnprintf(notify.state + strlen(ready), sizeof notify.state - strlen(ready), format,
		arguments);
	va_end(arguments);
	tell_state(true);
	notify.is_ready = true;
	return !notify.state_waits;
}

bool notify_again(void)
{
	if (notify.state_waits)
		tell_state(false);
	return !notify.state_waits;
}

void notify_reloading(void)
{
	char text[64];

	snprintf(text, sizeof text, "RELOADING=1\nMONOTONIC_USEC=%" PRIu64, clock_now_ns() / 1000);
	send_text(text, NULL, 0, true);
}

void notify_alive(void)
{
	notify_again();
	send_text("WATCHDOG=1", NULL, 0, false);
}

void notify_stopping(void)
{
	send_text("STOPPING=1", NULL, 0, true);
}
