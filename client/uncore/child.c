/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/uncore/child.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "common/macro.h"

void child_take_signals(struct child_signals *ret)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	/* Whoever started us may ignore SIGCHLD; then there would be no status to wait for. */
	struct sigaction standard = { .sa_handler = SIG_DFL };

	sigaction(SIGINT, &ignore, &ret->interrupt);
	sigaction(SIGQUIT, &ignore, &ret->quit);
	sigaction(SIGCHLD, &standard, &ret->chld);
	sigemptyset(&ret->awaited);
	sigaddset(&ret->awaited, SIGCHLD);
	sigaddset(&ret->awaited, SIGTERM);
	sigaddset(&ret->awaited, SIGHUP);
	sigprocmask(SIG_BLOCK, &ret->awaited, &ret->mask);
}

/* In the child; the gate closes by itself when the command is started. */
static void become_command(char **argv, const struct child_signals *signals, int gate)
{
	char go;
	int error;

	sigaction(SIGINT, &signals->interrupt, NULL);
	sigaction(SIGQUIT, &signals->quit, NULL);
	sigaction(SIGCHLD, &signals->chld, NULL);
	sigprocmask(SIG_SETMASK, &signals->mask, NULL);
	if (read(gate, &go, 1) == 1) {
		execvp(argv[0], argv);
		error = errno;
		if (write(gate, &error, sizeof error) < 0)
			_exit(126);
	}
	_exit(127);
}

int child_new(char **argv, const struct child_signals *signals, struct child *ret)
{
	int gate[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, gate) < 0)
		return -errno;
	pid = fork();
	if (pid == 0) {
		close(gate[0]);
		become_command(argv, signals, gate[1]);
	}
	close(gate[1]);
	if (pid < 0) {
		int r = -errno;

		close(gate[0]);
		return r;
	}
	*ret = (struct child){ .pid = pid, .gate = gate[0] };
	return 0;
}

static void reap(const struct child *child)
{
	while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR)
		;
}

int child_go(struct child *child)
{
	int error = 0;
	ssize_t n = -1;

	/* An end of file is the answer: the other side closed in execvp(). */
	if (send(child->gate, "g", 1, MSG_NOSIGNAL) == 1)
		n = read(child->gate, &error, sizeof error);
	close_fd(&child->gate);
	if (n != sizeof error)
		return 0; /* it runs, or has been killed, which child_wait() will tell */
	reap(child);
	return -error;
}

void child_cancel(struct child *child)
{
	close_fd(&child->gate);
	reap(child);
}

static int wait_for_signal(const sigset_t *awaited, uint64_t deadline_ns)
{
	struct timespec now, left;
	uint64_t now_ns, left_ns;

	if (deadline_ns == UINT64_MAX)
		return sigwaitinfo(awaited, NULL);
	clock_gettime(CLOCK_MONOTONIC, &now);
	now_ns = (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
	left_ns = deadline_ns > now_ns ? deadline_ns - now_ns : 0;
	left.tv_sec = (time_t)(left_ns / 1000000000U);
	left.tv_nsec = (long)(left_ns % 1000000000U);
	return sigtimedwait(awaited, NULL, &left);
}

int child_wait(const struct child *child, const struct child_signals *signals, uint64_t deadline_ns,
	int *ret_status)
{
	for (;;) {
		pid_t pid = waitpid(child->pid, ret_status, WNOHANG);
		int signal_number;

		if (pid == child->pid)
			return 1;
		if (pid < 0 && errno != EINTR)
			return -errno;
		signal_number = wait_for_signal(&signals->awaited, deadline_ns);
		if (signal_number < 0 && errno == EAGAIN)
			return 0;
		if (signal_number == SIGTERM || signal_number == SIGHUP)
			kill(child->pid, signal_number);
	}
}
