/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/child.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "common/clock.h"
#include "common/macro.h"

/* How a signal to us is handled while a command runs. */
static const struct {
	int number;
	bool stop;    /* no further run is started */
	bool pass_on; /* false: the terminal also sends it to the command */
} policy[] = {
	{ SIGINT, true, false },
	{ SIGQUIT, true, false },
	{ SIGTERM, true, true },
	{ SIGHUP, true, true },
	{ SIGUSR1, false, true },
	{ SIGUSR2, false, true },
	{ SIGALRM, false, true },
};

/* Our action before; the command inherits it. */
static struct sigaction file_limit = { .sa_handler = SIG_DFL };

void child_outlive_file_limit(void)
{
	const struct sigaction ignore = { .sa_handler = SIG_IGN };

	sigaction(SIGXFSZ, &ignore, &file_limit);
}

void child_return_file_limit(void)
{
	sigaction(SIGXFSZ, &file_limit, NULL);
}

static bool child_ignores_signal(int number)
{
	struct sigaction action;

	return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

void child_take_signals(struct child_signals *ret)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	/* Our parent may ignore SIGCHLD, and we inherit that. Then there would be no status to wait
	 * for. */
	struct sigaction standard = { .sa_handler = SIG_DFL };

	ret->stop = 0;
	ret->wakes = false;
	sigaction(SIGCHLD, &standard, &ret->chld);
	/* If the reader of our figures goes away, we must still return the command's status. */
	sigaction(SIGPIPE, &ignore, &ret->pipe);
	sigemptyset(&ret->awaited);
	sigaddset(&ret->awaited, SIGCHLD);
	/* A blocked signal becomes pending even if it is ignored, so ignored signals stay
	 * unblocked. */
	for (size_t i = 0; i < ARRAY_SIZE(policy); i++)
		if (!child_ignores_signal(policy[i].number))
			sigaddset(&ret->awaited, policy[i].number);
	sigprocmask(SIG_BLOCK, &ret->awaited, &ret->mask);
}

void child_return_signals(const struct child_signals *signals)
{
	sigaction(SIGCHLD, &signals->chld, NULL);
	sigaction(SIGPIPE, &signals->pipe, NULL);
	child_return_file_limit();
	sigprocmask(SIG_SETMASK, &signals->mask, NULL);
}

void child_note_stop(void (*note)(int number))
{
	const struct sigaction once = { .sa_handler = note, .sa_flags = SA_RESETHAND | SA_RESTART };

	for (size_t i = 0; i < ARRAY_SIZE(policy); i++)
		if (policy[i].stop && !child_ignores_signal(policy[i].number))
			sigaction(policy[i].number, &once, NULL);
}

/* @pid 0: there is no command to pass the signal on to. */
static void handle_signal(struct child_signals *signals, int number, pid_t pid)
{
	for (size_t i = 0; i < ARRAY_SIZE(policy); i++) {
		if (policy[i].number != number)
			continue;
		if (policy[i].stop)
			signals->stop = number;
		if (pid && policy[i].pass_on)
			kill(pid, number);
	}
}

bool child_told_to_stop(struct child_signals *signals)
{
	const struct timespec at_once = {};
	int number;

	while ((number = sigtimedwait(&signals->awaited, NULL, &at_once)) > 0)
		handle_signal(signals, number, 0);
	return signals->stop;
}

/* In the child. The gate closes by itself when the command starts. */
static void child_become_command(char **argv, const struct child_signals *signals, int gate)
{
	char go;
	int error;

	child_return_signals(signals);
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
		child_become_command(argv, signals, gate[1]);
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

	/* End of file means success: execvp() closed the other end. */
	if (send(child->gate, "g", 1, MSG_NOSIGNAL) == 1)
		n = read(child->gate, &error, sizeof error);
	close_fd(&child->gate);
	if (n != sizeof error)
		return 0; /* it runs, or was killed: child_wait() tells */
	reap(child);
	return -error;
}

void child_cancel(struct child *child)
{
	close_fd(&child->gate);
	reap(child);
}

/* The number of a signal; -1 with errno EAGAIN at the deadline. */
static int wait_for_signal(const sigset_t *awaited, uint64_t deadline_ns)
{
	const struct timespec left = clock_timespec(clock_left_ns(deadline_ns, 0));

	if (deadline_ns == UINT64_MAX)
		return sigwaitinfo(awaited, NULL);
	return sigtimedwait(awaited, NULL, &left);
}

bool child_pause(struct child_signals *signals, uint64_t deadline_ns)
{
	int number;

	while (!signals->stop &&
		((number = wait_for_signal(&signals->awaited, deadline_ns)) > 0 || errno == EINTR))
		handle_signal(signals, number, 0);
	return signals->stop;
}

int child_wait(const struct child *child, struct child_signals *signals, uint64_t deadline_ns,
	int *ret_status)
{
	for (;;) {
		pid_t pid = waitpid(child->pid, ret_status, WNOHANG);
		int number;

		if (pid == child->pid)
			return 1;
		if (pid < 0 && errno != EINTR)
			return -errno;
		number = wait_for_signal(&signals->awaited, deadline_ns);
		if (number < 0 && errno == EAGAIN)
			return 0;
		if (number > 0)
			handle_signal(signals, number, child->pid);
		if (signals->wakes && signals->stop)
			return 0;
	}
}
