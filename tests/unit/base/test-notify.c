/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages to a service manager that reads them, or does not. */
#include "daemon/base/notify.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/macro.h"
#include "tests/harness/service-manager.h"
#include "tests/harness/test.h"

enum { MESSAGES = 2000 /* more than any socket has room for */ };

static struct service_manager manager;

static int set_up(void **state)
{
	char path[64];

	*state = (void *)count_open_descriptors();
	snprintf(path, sizeof path, "/tmp/uncore-notify-%d", getpid());
	manager_open(&manager, path, true);
	setenv("NOTIFY_SOCKET", path, 1);
	return 0;
}

static int tear_down(void **state)
{
	manager_close(&manager);
	unsetenv("NOTIFY_SOCKET");
	return compare_descriptors(state);
}

#define NOTIFY_CASE(sentence) CASE_WITHIN(sentence, set_up, tear_down)

NOTIFY_CASE("descriptors reach the manager")
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(notify_send("FDSTORE=1\nFDPOLL=0\nFDNAME=pipe", fds, 2), 0);
	assert_false(manager_dispatch(&manager));
	assert_int_equal(manager.n_kept, 2);
	close(fds[0]);
	close(fds[1]);
}

NOTIFY_CASE("a name without a file is a manager, too")
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	char name[64], text[64];
	ssize_t n;

	n = snprintf(name, sizeof name, "@uncore-notify-%d", getpid());
	memcpy(address.sun_path + 1, name + 1, (size_t)n - 1);
	assert_int_equal(bind(fd, (const void *)&address,
				 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + (size_t)n)),
		0);
	setenv("NOTIFY_SOCKET", name, 1);
	assert_int_equal(notify_send("STOPPING=1", NULL, 0), 0);
	n = recv(fd, text, sizeof text, MSG_DONTWAIT);
	assert_int_equal(n, strlen("STOPPING=1"));
	assert_memory_equal(text, "STOPPING=1", (size_t)n);
}

NOTIFY_CASE("without a manager nothing is sent")
{
	setenv("NOTIFY_SOCKET", "/nowhere/at/all", 1);
	assert_int_equal(notify_send("READY=1", NULL, 0), -ENOENT);
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(notify_send("READY=1", NULL, 0), -ENOTCONN);
}

/* Where a message waited, this case would never end: so it has a time limit of its own. */
NOTIFY_CASE("a manager that does not read holds nobody up")
{
	alarm(60);
	notify_ready("Serving.");
	for (unsigned i = 0; i < MESSAGES; i++)
		notify_send("FDSTOREREMOVE=1\nFDNAME=none", NULL, 0);
	assert_int_equal(notify_send("FDSTOREREMOVE=1\nFDNAME=none", NULL, 0), -EAGAIN);
	notify_alive();
	manager_dispatch(&manager);
	assert_int_equal(manager.n_pings, 0);
	assert_int_equal(notify_send("FDSTOREREMOVE=1\nFDNAME=none", NULL, 0), 0);
	alarm(0);
}

NOTIFY_CASE("a state for which there was no room comes with a later sign of life")
{
	alarm(60);
	while (notify_send("FDSTOREREMOVE=1\nFDNAME=none", NULL, 0) == 0)
		;
	assert_false(notify_ready("Serving %s.", "nothing"));
	assert_false(notify_again());
	assert_false(manager_dispatch(&manager));
	notify_alive();
	assert_true(manager_dispatch(&manager));
	assert_string_equal(manager.status, "Serving nothing.");
	assert_int_equal(manager.n_pings, 1);
	notify_alive();
	assert_true(notify_again());
	assert_false(manager_dispatch(&manager));
	assert_int_equal(manager.n_pings, 2);
	alarm(0);
}
