/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore top: a screen of what the sockets do. One reading ends an interval and begins the next
 * one; uncored makes no sweep for it at any other time.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "client/command/frame/blocks.h"
#include "client/command/frame/command.h"
#include "client/command/frame/output.h"
#include "client/command/top/figures.h"
#include "client/command/top/others.h"
#include "client/command/top/screen.h"
#include "client/command/top/terminal.h"
#include "client/command/top/top-options.h"
#include "common/clock.h"
#include "common/macro.h"
#include "common/text.h"

static const uint64_t DEFAULT_NS = 1000000000, AGAIN_NS = 1000000000;

struct top {
	struct top_options options;
	struct figures figures;
	struct others others;
	struct screen_form form;
	uint64_t tick_ns; /* end of the interval */
	bool is_paused, is_help, by_rate, has_ended;
};

static void top_done(struct top *top)
{
	terminal_close();
	figures_done(&top->figures);
	others_done(&top->others);
}

/* --- time --- */

static uint64_t interval_ns(const struct top *top)
{
	const uint64_t least_ns = figures_daemon(&top->figures).min_interval_ns;

	return top->options.interval_ns > least_ns ? top->options.interval_ns : least_ns;
}

static void tick(struct top *top)
{
	figures_take(&top->figures);
	if (top->figures.reader.handle)
		others_look(&top->others, top->options.socket_path,
			figures_daemon(&top->figures).n_clients);
	top->tick_ns = *top->figures.failure ? clock_deadline_ns(AGAIN_NS)
					     : clock_next_tick_ns(top->tick_ns, interval_ns(top));
}

/* An interval begins now. */
static void top_begin(struct top *top)
{
	top->tick_ns = clock_now_ns();
	tick(top);
}

static void begin_anew(struct top *top)
{
	figures_break(&top->figures);
	if (!top->is_paused)
		top_begin(top);
}

/* --- the screen --- */

static void top_write_time(char ret[16])
{
	const time_t now = time(NULL);
	struct tm parts;

	if (!localtime_r(&now, &parts) || !strftime(ret, 16, "%H:%M:%S", &parts))
		*ret = '\0';
}

static void write_screen(const struct top *top, FILE *out)
{
	const struct figures *figures = &top->figures;
	char host[64] = "?", now[16];
	const struct screen screen = {
		.host = host,
		.platform = figures->reader.platform,
		.time = now,
		.failure = figures->failure,
		.interval_ns = interval_ns(top),
		.is_held = interval_ns(top) > top->options.interval_ns,
		.is_paused = top->is_paused,
		.is_help = top->is_help,
		.by_rate = top->by_rate,
		.n_sockets = figures->n_sockets,
		.n = figures->n,
		.shown = figures->shown,
		.courses = figures->courses.all,
		.others = &top->others.seen,
	};

	gethostname(host, sizeof host - 1);
	text_make_plain(host);
	top_write_time(now);
	screen_write(out, &screen, &top->form);
}

/* False: the terminal is gone. */
static bool top_show(struct top *top)
{
	_cleanup_free_ char *text = NULL;
	size_t n;
	FILE *out = open_memstream(&text, &n);
	unsigned height;

	terminal_size(&top->form.width, &height);
	top->form.height = terminal_is_screen() ? height : 0;
	if (!out)
		return true;
	write_screen(top, out);
	return fclose(out) == 0 && terminal_show(text);
}

/* --- keys --- */

static void change_interval(struct top *top, bool longer)
{
	const struct option_row *row = &top_table.rows[0];
	const double ns = (double)top->options.interval_ns * (longer ? 2 : 0.5);

	if (ns >= row->least && ns <= row->most)
		top->options.interval_ns = (uint64_t)ns;
	top->tick_ns = clock_deadline_ns(interval_ns(top));
}

static void pause_or_go_on(struct top *top)
{
	top->is_paused = !top->is_paused;
	if (!top->is_paused)
		begin_anew(top);
}

static void change_parts(struct top *top)
{
	figures_want(&top->figures, (top->figures.wanted + 1) % FIGURES_PARTS);
	if (!top->is_paused)
		top_begin(top);
}

static void press(struct top *top, char key)
{
	if (top->is_help && key != 'q') {
		top->is_help = false;
		return;
	}
	switch (key) {
	case 'q':
		top->has_ended = true;
		break;
	case ' ':
		pause_or_go_on(top);
		break;
	case '+':
	case '-':
		change_interval(top, key == '+');
		break;
	case 'c':
		change_parts(top);
		break;
	case 's':
		top->by_rate = !top->by_rate;
		break;
	case 'h':
	case '?':
		top->is_help = true;
		break;
	default:
		break;
	}
}

/* --- the command --- */

static int top_watch(struct top *top)
{
	char key;

	while (!top->has_ended) {
		if (!top_show(top))
			return EXIT_FAILED;
		switch (terminal_wait(top->is_paused ? UINT64_MAX : top->tick_ns, &key)) {
		case TERMINAL_TIME:
			if (!top->is_paused && clock_now_ns() >= top->tick_ns)
				tick(top);
			break;
		case TERMINAL_KEY:
			press(top, key);
			break;
		case TERMINAL_CONTINUED:
			begin_anew(top);
			break;
		case TERMINAL_RESIZED:
			break;
		case TERMINAL_GONE:
			return EXIT_FAILED;
		}
	}
	return 0;
}

static int top_refuse(const char *what)
{
	fprintf(stderr,
		"uncore top: %s is not a terminal, and it is for people who watch one. `uncore "
		"stat "
		"-I 1s` prints the rates of every second in a line.\n",
		what);
	return EXIT_USAGE;
}

int command_top(int argc, char **argv)
{
	_cleanup_(top_done) struct top top = { .options.interval_ns = DEFAULT_NS };
	int status = option_parse(&top_table, argc, argv, &top.options, NULL);

	if (status < 0)
		status = option_no_argument(&top_table, argc, argv);
	if (status >= 0)
		return status;
	if (!isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO))
		return top_refuse(isatty(STDOUT_FILENO) ? "stdin" : "stdout");
	top.figures.reader.socket_path = top.options.socket_path;
	top.form.utf8 = blocks_are_utf8();
	top.form.colours = output_has_colours(stdout);
	top_begin(&top);
	if (*top.figures.failure) {
		fprintf(stderr, "uncore top: %s\n", top.figures.failure);
		return EXIT_FAILED;
	}
	terminal_open();
	return top_watch(&top);
}
