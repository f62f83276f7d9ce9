/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/top/terminal.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "client/command/frame/output.h"
#include "common/clock.h"
#include "common/macro.h"

/* The other screen, no cursor, no line that goes on in the next one. CAN ends an escape sequence
 * that was cut off. */
static const char ENTER[] = "\033[?1049h\033[?25l\033[?7l\033[2J";
static const char LEAVE[] = "\030\033[0m\033[?7h\033[?25h\033[?1049l";

static struct {
	bool is_screen;
	volatile sig_atomic_t is_entered, is_resized, is_stopped, is_continued;
	struct termios before;
	sigset_t mask; /* while it waits: the mask before */
} terminal;

/* --- the screen --- */

/* False: the terminal is gone. */
static bool terminal_write_all(const char *text, size_t n)
{
	while (n) {
		ssize_t written = write(STDOUT_FILENO, text, n);

		if (written < 0 && errno != EINTR)
			return false;
		text += written > 0 ? written : 0;
		n -= written > 0 ? (size_t)written : 0;
	}
	return true;
}

static void terminal_enter(void)
{
	struct termios keys = terminal.before;

	if (!terminal.is_screen)
		return;
	keys.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	keys.c_cc[VMIN] = 1;
	keys.c_cc[VTIME] = 0;
	if (tcsetattr(STDIN_FILENO, TCSANOW, &keys) == 0) {
		terminal.is_entered = true;
		terminal_write_all(ENTER, sizeof ENTER - 1);
	}
}

/* Also within a handler of signals. */
static void terminal_leave(void)
{
	if (!terminal.is_entered)
		return;
	terminal.is_entered = false;
	terminal_write_all(LEAVE, sizeof LEAVE - 1);
	tcsetattr(STDIN_FILENO, TCSANOW, &terminal.before);
}

/* --- signals --- */

/* The action was reset before the handler was called, so the signal ends the process after it. */
static void die(int number)
{
	terminal_leave();
	raise(number);
}

static void terminal_note_signal(int number)
{
	if (number == SIGWINCH)
		terminal.is_resized = true;
	else if (number == SIGTSTP)
		terminal.is_stopped = true;
	else
		terminal.is_continued = true;
}

static void handle(int number, void (*handler)(int), int flags)
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = flags }, old;

	/* What the parent ignores stays ignored, as nohup wants it. */
	if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

static void terminal_take_signals(void)
{
	sigset_t blocked;

	sigemptyset(&blocked);
	for (int i = 1; i <= SIGRTMAX; i++)
		switch (i) {
		case SIGWINCH:
		case SIGTSTP:
		case SIGCONT:
			sigaddset(&blocked, i);
			handle(i, terminal_note_signal, 0);
			break;
		case SIGKILL: /* nobody can catch these two, and the others do not end a process */
		case SIGSTOP:
		case SIGCHLD:
		case SIGURG:
		case SIGTTIN:
		case SIGTTOU:
			break;
		default:
			handle(i, die, (int)SA_RESETHAND);
		}
	/* Signals are only noted while it waits. */
	sigprocmask(SIG_BLOCK, &blocked, &terminal.mask);
}

/* Stops as the terminal asked for it, with the old screen, until somebody lets this process go on.
 */
static void terminal_stop(void)
{
	static const struct timespec at_once;
	sigset_t stopping, going_on, blocked;

	terminal_leave();
	signal(SIGTSTP, SIG_DFL);
	raise(SIGTSTP);
	sigemptyset(&stopping);
	sigaddset(&stopping, SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stopping, &blocked);
	sigprocmask(SIG_SETMASK, &blocked, NULL);
	handle(SIGTSTP, terminal_note_signal, 0);
	sigemptyset(&going_on);
	sigaddset(&going_on, SIGCONT);
	sigtimedwait(&going_on, NULL, &at_once);
	terminal_enter();
}

/* --- open and close --- */

void terminal_open(void)
{
	terminal.is_screen =
		output_has_escapes(stdout) && tcgetattr(STDIN_FILENO, &terminal.before) == 0;
	terminal_take_signals();
	terminal_enter();
}

void terminal_close(void)
{
	terminal_leave();
}

bool terminal_is_screen(void)
{
	return terminal.is_screen;
}

void terminal_size(unsigned *ret_width, unsigned *ret_height)
{
	struct winsize size = { .ws_col = 0 };

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	*ret_width = size.ws_col ? size.ws_col : 80;
	*ret_height = size.ws_row ? size.ws_row : 24;
}

/* --- the loop --- */

bool terminal_show(const char *text)
{
	_cleanup_free_ char *screen = NULL;
	size_t n;
	FILE *out = open_memstream(&screen, &n);

	if (!out)
		return true;
	if (terminal.is_screen)
		fputs("\033[H", out);
	/* The last line has no end, at which the screen would scroll. */
	for (; *text; text++)
		if (*text != '\n' || !terminal.is_screen)
			fputc(*text, out);
		else
			fputs(text[1] ? "\033[K\r\n" : "\033[K\033[J", out);
	if (!terminal.is_screen)
		fputc('\n', out);
	return fclose(out) == 0 && terminal_write_all(screen, n);
}

/* What a signal has said. TERMINAL_TIME: nothing. */
static enum terminal_event look_at_signals(void)
{
	if (terminal.is_stopped) {
		terminal.is_stopped = false;
		terminal_stop();
		return TERMINAL_CONTINUED;
	}
	if (terminal.is_continued) {
		terminal.is_continued = false;
		terminal_enter(); /* the shell, or another program, may have changed it */
		return TERMINAL_CONTINUED;
	}
	if (!terminal.is_resized)
		return TERMINAL_TIME;
	terminal.is_resized = false;
	return TERMINAL_RESIZED;
}

static enum terminal_event read_key(char *ret_key)
{
	struct pollfd more = { .fd = STDIN_FILENO, .events = POLLIN };
	char rest[16];
	ssize_t n = read(STDIN_FILENO, ret_key, 1);

	/* A key that sends several bytes begins with ESC, and is not one of ours. */
	if (n == 1 && *ret_key == '\033' && poll(&more, 1, 0) > 0)
		n = read(STDIN_FILENO, rest, sizeof rest);
	return n > 0 ? TERMINAL_KEY : TERMINAL_GONE;
}

enum terminal_event terminal_wait(uint64_t deadline_ns, char *ret_key)
{
	struct pollfd keys = { .fd = terminal.is_screen ? STDIN_FILENO : -1, .events = POLLIN };
	const struct timespec left = clock_timespec(clock_left_ns(deadline_ns, 0));
	int n = ppoll(&keys, 1, deadline_ns == UINT64_MAX ? NULL : &left, &terminal.mask);

	if (n < 0)
		return look_at_signals();
	return n ? read_key(ret_key) : TERMINAL_TIME;
}
