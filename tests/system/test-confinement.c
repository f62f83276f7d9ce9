/* SPDX-License-Identifier: BSD-3-Clause */
/* Privileges that the running daemon has given up, and limits of its clients. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/macro.h"
#include "tests/harness/daemon-process.h"

enum { BACKLOG = 32, CONNECTIONS_MAX = 100 };

/* A line of /proc/PID/task/TID/status, as a number in @base. */
static uint64_t status_number(pid_t pid, pid_t tid, const char *key, int base)
{
	char path[64], line[128];
	size_t length = strlen(key);
	_cleanup_file_ FILE *file = NULL;

	snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, tid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof line, file))
		if (!strncmp(line, key, length) && line[length] == ':')
			return strtoull(line + length + 1, NULL, base);
	skip(); /* an older kernel has no such line */
	return 0;
}

CASE("each thread has given up all capabilities, and calls, by one filter")
{
	enum { FILTER = 2 /* SECCOMP_MODE_FILTER */ };
	uint64_t n_filters = status_number(getpid(), getpid(), "Seccomp_filters", 10);
	pid_t pid = the_daemon.pid, tid;
	const struct dirent *entry;
	unsigned n_threads = 0;
	char path[64];
	DIR *directory;

	snprintf(path, sizeof path, "/proc/%d/task", pid);
	directory = opendir(path);
	assert_non_null(directory);
	while ((entry = readdir(directory))) {
		tid = atoi(entry->d_name);
		if (!tid)
			continue;
		n_threads++;
#ifndef __SANITIZE_THREAD__ /* ThreadSanitizer has a thread of its own, which gives up no          \
			       capability */
		assert_int_equal(status_number(pid, tid, "CapPrm", 16), 0);
#endif
		assert_int_equal(status_number(pid, tid, "NoNewPrivs", 10), 1);
		assert_int_equal(status_number(pid, tid, "Seccomp", 10), FILTER);
		assert_int_equal(status_number(pid, tid, "Seccomp_filters", 10), n_filters + 1);
	}
	closedir(directory);
	assert_true(n_threads >= 1 + standin_sockets());
}

/* How many connections wait in the queue of a daemon that accepts none. */
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

CASE("at most 32 connections wait at its own socket")
{
	/* The kernel lets one more in (net/unix/af_unix.c, unix_recvq_full). */
	assert_int_equal(fill_queue(&the_daemon), BACKLOG + 1);
}

CASE("at most 32 connections wait at a socket that systemd passes")
{
	struct daemon_process activated = {};

	daemon_start_activated(&activated, "standin", NULL, false);
	assert_int_equal(fill_queue(&activated), BACKLOG + 1);
	daemon_stop(&activated);
}

int main(void)
{
	return run_on_daemon("standin", NULL);
}
