/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/harness/service-manager.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "tests/harness/test.h"

enum {
	READY_TIMEOUT_MS = 10000,
	SILENCE_TIMEOUT_S = 60,
	FDS_PER_MESSAGE_MAX = 253 /* SCM_MAX_FD of the kernel */
};

struct message {
	char text[1024];
	int fds[FDS_PER_MESSAGE_MAX];
	unsigned n_fds;
};

void manager_open(struct service_manager *manager, const char *notify_path, bool keeps)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	*manager = (struct service_manager){ .keeps = keeps, .listen_fd = -1 };
	snprintf(manager->notify_path, sizeof manager->notify_path, "%s", notify_path);
	snprintf(address.sun_path, sizeof address.sun_path, "%s", notify_path);
	unlink(notify_path);
	manager->notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_true(manager->notify_fd >= 0);
	assert_int_equal(bind(manager->notify_fd, (const void *)&address, sizeof address), 0);
}

void manager_close(struct service_manager *manager)
{
	manager_lose(manager, NULL);
	close_fd(&manager->listen_fd);
	close_fd(&manager->notify_fd);
	unlink(manager->notify_path);
}

/* --- messages --- */

static bool receive(const struct service_manager *manager, struct message *ret)
{
	union {
		char bytes[CMSG_SPACE(FDS_PER_MESSAGE_MAX * sizeof(int))];
		struct cmsghdr aligned;
	} control;
	struct iovec part = { ret->text, sizeof ret->text - 1 };
	struct msghdr header = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control,
	};
	ssize_t n = recvmsg(manager->notify_fd, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *cmsg;

	if (n < 0)
		return false;
	ret->text[n] = '\0';
	ret->n_fds = 0;
	cmsg = CMSG_FIRSTHDR(&header);
	if (cmsg && cmsg->cmsg_type == SCM_RIGHTS) {
		ret->n_fds = (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		memcpy(ret->fds, CMSG_DATA(cmsg), ret->n_fds * sizeof(int));
	}
	return true;
}

static bool says(const struct message *message, const char *line)
{
	return strstr(message->text, line) != NULL;
}

static void read_name(const struct message *message, char ret[256])
{
	const char *at = strstr(message->text, "FDNAME=");

	assert_non_null(at);
	assert_int_equal(sscanf(at, "FDNAME=%255[^\n]", ret), 1);
}

/* A perf event would be dropped at once without FDPOLL=0: it polls as hung up. */
static void keep(struct service_manager *manager, const struct message *message)
{
	assert_true(says(message, "FDPOLL=0"));
	for (unsigned i = 0; i < message->n_fds; i++) {
		struct manager_kept *kept = &manager->kept[manager->n_kept++];

		assert_true(manager->n_kept <= MANAGER_KEPT_MAX);
		kept->fd = message->fds[i];
		read_name(message, kept->name);
	}
}

static void obey(struct service_manager *manager, const struct message *message)
{
	char name[256];

	if (says(message, "FDSTORE=1") && manager->keeps) {
		keep(manager, message);
		return;
	}
	for (unsigned i = 0; i < message->n_fds; i++)
		close(message->fds[i]);
	if (says(message, "FDSTOREREMOVE=1")) {
		read_name(message, name);
		manager_lose(manager, name);
	}
}

static void note_sign_of_life(struct service_manager *manager, const struct message *message)
{
	bool is_ping = says(message, "WATCHDOG=1");

	manager->n_pings += is_ping;
	if (is_ping || says(message, "READY=1"))
		manager->alive_ns = clock_now_ns();
}

static void note_status(struct service_manager *manager, const struct message *message)
{
	const char *at = strstr(message->text, "STATUS=");

	if (at)
		sscanf(at, "STATUS=%1023[^\n]", manager->status);
}

bool manager_dispatch(struct service_manager *manager)
{
	struct message message;
	bool ready = false;

	while (receive(manager, &message)) {
		manager->n_messages++;
		note_status(manager, &message);
		obey(manager, &message);
		manager->n_reloads += says(&message, "RELOADING=1\nMONOTONIC_USEC=");
		note_sign_of_life(manager, &message);
		ready |= says(&message, "READY=1");
	}
	return ready;
}

bool manager_wait_until_ready(struct service_manager *manager)
{
	struct pollfd poll_fd = { .fd = manager->notify_fd, .events = POLLIN };

	while (poll(&poll_fd, 1, READY_TIMEOUT_MS) == 1)
		if (manager_dispatch(manager))
			return true;
	return false;
}

bool manager_wait_until_silent(struct service_manager *manager, unsigned interval_s)
{
	uint64_t deadline_ns = clock_now_ns() + SILENCE_TIMEOUT_S * UINT64_C(1000000000);

	manager_dispatch(manager); /* the test may have been busy with other things for long */
	while (clock_now_ns() < deadline_ns) {
		uint64_t ends_ns = manager->alive_ns + interval_s * UINT64_C(1000000000);
		struct pollfd poll_fd = { .fd = manager->notify_fd, .events = POLLIN };
		uint64_t now_ns = clock_now_ns();

		if (now_ns >= ends_ns)
			return true;
		poll(&poll_fd, 1, (int)((ends_ns - now_ns) / 1000000) + 1);
		manager_dispatch(manager);
	}
	return false;
}

int manager_find(const struct service_manager *manager, const char *name)
{
	for (unsigned i = 0; i < manager->n_kept; i++)
		if (!strcmp(manager->kept[i].name, name))
			return manager->kept[i].fd;
	return -1;
}

void manager_lose(struct service_manager *manager, const char *name)
{
	unsigned n = 0;

	for (unsigned i = 0; i < manager->n_kept; i++)
		if (!name || !strcmp(manager->kept[i].name, name))
			close(manager->kept[i].fd);
		else
			manager->kept[n++] = manager->kept[i];
	manager->n_kept = n;
}

/* --- the next process --- */

void manager_set_watchdog(unsigned interval_s)
{
	char number[24];

	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	if (!interval_s)
		return;
	snprintf(number, sizeof number, "%" PRIu64, interval_s * UINT64_C(1000000));
	setenv("WATCHDOG_USEC", number, 1);
	snprintf(number, sizeof number, "%d", getpid());
	setenv("WATCHDOG_PID", number, 1);
}

static void pass(int fd, const char *name, unsigned *n, char *names, size_t size_bytes)
{
	size_t length = strlen(names);

	dup2(fd, SD_LISTEN_FDS_START + (int)*n);
	snprintf(names + length, size_bytes - length, "%s%s", *n ? ":" : "", name);
	++*n;
}

void manager_pass_all(const struct service_manager *manager)
{
	static char names[MANAGER_KEPT_MAX * 64];
	static int fds[MANAGER_KEPT_MAX];
	const int above = SD_LISTEN_FDS_START + MANAGER_KEPT_MAX + 1;
	unsigned n = 0;
	char number[16];
	int socket_fd =
		manager->listen_fd < 0 ? -1 : fcntl(manager->listen_fd, F_DUPFD_CLOEXEC, above);

	/* Frees the numbers from 3 on, which any of the descriptors may have. */
	for (unsigned i = 0; i < manager->n_kept; i++)
		fds[i] = fcntl(manager->kept[i].fd, F_DUPFD_CLOEXEC, above);
	if (socket_fd >= 0)
		pass(socket_fd, "uncored.socket", &n, names, sizeof names);
	for (unsigned i = 0; i < manager->n_kept; i++)
		pass(fds[i], manager->kept[i].name, &n, names, sizeof names);
	snprintf(number, sizeof number, "%u", n);
	setenv("LISTEN_FDS", number, 1);
	setenv("LISTEN_FDNAMES", names, 1);
	snprintf(number, sizeof number, "%d", getpid());
	setenv("LISTEN_PID", number, 1);
}
