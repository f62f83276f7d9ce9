/* SPDX-License-Identifier: BSD-3-Clause */
/* What the running daemon has taken away from itself and from those who connect to it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/macro.h"
#include "tests/system/daemon-process.h"

enum { BACKLOG = 32, CONNECTIONS_MAX = 100 };

/* How many connections the queue of a daemon that accepts none takes in. */
static unsigned fill_queue(const struct daemon_process *daemon)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fds[CONNECTIONS_MAX];
	unsigned n = 0;
	int status;

	snprintf(address.sun_path, sizeof address.sun_path, "%s", daemon->socket_path);
	kill(daemon->pid, SIGSTOP);
	assert_int_equal(waitpid(daemon->pid, &status, WUNTRACED), daemon->pid);
	for (; n < CONNECTIONS_MAX; n++) {
		fds[n] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		assert_true(fds[n] >= 0);
		if (connect(fds[n], (const void *)&address, sizeof address) < 0)
			break;
	}
	if (n < CONNECTIONS_MAX)
		assert_int_equal(errno, EAGAIN);
	for (unsigned i = 0; i <= n && i < CONNECTIONS_MAX; i++)
		close(fds[i]);
	kill(daemon->pid, SIGCONT);
	return n;
}

static void its_own_socket_has_a_short_queue(void **state)
{
	(void)state;
	/* The kernel lets one more in (net/unix/af_unix.c, unix_recvq_full). */
	assert_int_equal(fill_queue(&the_daemon), BACKLOG + 1);
}

static void a_passed_socket_has_a_short_queue(void **state)
{
	struct daemon_process activated = {};

	(void)state;
	daemon_start_activated(&activated, "standin", NULL, false);
	assert_int_equal(fill_queue(&activated), BACKLOG + 1);
	daemon_stop(&activated);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE("at most 32 connections wait at its own socket",
			its_own_socket_has_a_short_queue),
		CASE("at most 32 connections wait at a socket that systemd passes",
			a_passed_socket_has_a_short_queue),
	};

	return run_on_daemon("confinement", "standin", NULL, cases, sizeof cases / sizeof *cases);
}
