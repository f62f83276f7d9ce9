/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/top/screen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/top/page.h"
#include "common/macro.h"
#include "common/text.h"

enum { KEYS_FROM = 5, OTHERS_FROM = 12 }; /* lines of a screen that has room for them */

/* --- the lines --- */

static void write_title(const struct top_page *page)
{
	const struct screen *screen = page->screen;

	top_page_style(page, STYLE_HEADING);
	fputs("uncore top", page->out);
	top_page_style(page, screen->is_paused ? STYLE_DOUBT : STYLE_PLAIN);
	fputs(screen->is_paused ? "  PAUSED" : "", page->out);
	top_page_style(page, STYLE_PLAIN);
	fprintf(page->out, "  %s  every %g s%s  %s  %s\n", screen->time,
		(double)screen->interval_ns / 1e9, screen->is_held ? ", as the site demands" : "",
		screen->host, screen->platform);
}

static void screen_write_others(const struct top_page *page)
{
	const struct screen_others *others = page->screen->others;
	const char *warning = format_warning(page->screen->platform);

	if (warning)
		top_page_write_line(page, STYLE_DOUBT, warning);
	if (page->form->height && page->form->height < OTHERS_FROM)
		return;
	if (*others->warning)
		top_page_write_line(page, STYLE_DOUBT, others->warning);
	if (*others->line)
		top_page_write_line(page, STYLE_PLAIN, others->line);
}

static void write_users(const struct top_page *page)
{
	const struct screen_others *others = page->screen->others;
	char line[96];

	if (!others->n_users || page->detail < PAGE_USERS)
		return;
	snprintf(line, sizeof line, "\n%-28s %8s %8s %8s", "who reads", "clients", "sweeps/s",
		"CPU %");
	top_page_write_line(page, STYLE_HEADING, line);
	for (uint32_t i = 0; i < others->n_users; i++) {
		const struct screen_user *user = &others->users[i];

		fprintf(page->out, "%-28s %8" PRIu64 " %8.1f %8.2f\n", user->name, user->n_clients,
			user->sweeps_per_s, user->cpu_percent);
	}
}

static const char help[] = "q       end\n"
			   "space   pause: uncored is asked for nothing meanwhile\n"
			   "+ -     a longer interval, a shorter one\n"
			   "c       NUMA nodes, memory channels, or neither\n"
			   "s       the busiest socket first, or by number\n"
			   "h ?     this page; any key leaves it\n"
			   "\n"
			   "GB/s are 1e9 bytes per second. Everything that a socket\n"
			   "moves is counted, whoever causes it. uncore(1) says more.\n";

static void write_middle(const struct top_page *page)
{
	const struct screen *screen = page->screen;
	const unsigned width = page->form->width;

	screen_write_others(page);
	if (screen->is_help) {
		fputs(help, page->out);
	} else if (*screen->failure) {
		top_page_style(page, STYLE_BAD);
		text_fold_to(page->out, screen->failure, 0, 0, width);
		top_page_style(page, STYLE_PLAIN);
		text_fold_to(page->out, "It is asked again every second.", 0, 0, width);
	} else if (!screen->n) {
		fputs("The first figures come after one interval.\n", page->out);
	} else {
		top_page_write_sockets(page);
		write_users(page);
	}
}

static const char *keys_of(const struct screen_form *form)
{
	return form->width < 60 ? "q quit  space pause  h help"
				: "q quit  space pause  + - interval  c channels  s sort  h help";
}

/* --- within the screen --- */

static unsigned count_lines(const char *text)
{
	unsigned n = 0;

	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n;
}

/* The title and what follows it, with as much detail as @room lines have room for; 0: with all.
 * NULL: there is no memory. */
static char *screen_make_text(struct top_page *page, unsigned room)
{
	char *text = NULL;
	size_t n;

	for (page->detail = PAGE_USERS;; page->detail--) {
		page->out = open_memstream(&text, &n);
		if (!page->out)
			return NULL;
		write_title(page);
		write_middle(page);
		fclose(page->out);
		if (!room || count_lines(text) <= room || page->detail == PAGE_LINES)
			return text;
		free(take_ptr(text));
	}
}

/* Writes one line, cut at the width. Escape sequences have none. Returns what follows the line. */
static const char *screen_write_line(FILE *out, const char *text, const struct screen_form *form)
{
	unsigned column = 0;

	while (*text && *text != '\n') {
		const size_t escape = *text == '\033' ? strcspn(text, "m") + 1 : 0;
		const size_t n = escape ? escape : text_plain_bytes(text);

		if (escape || (n && column < form->width && (n == 1 || form->utf8)))
			fwrite(text, 1, n, out);
		else if (column < form->width)
			fputc('?', out);
		column += !escape;
		text += n ? n : 1;
	}
	fputc('\n', out);
	return *text ? text + 1 : text;
}

void screen_write(FILE *out, const struct screen *screen, const struct screen_form *form)
{
	struct top_page page = { .screen = screen, .form = form };
	const bool has_keys = form->height >= KEYS_FROM;
	const unsigned room = form->height - has_keys; /* 0: no end */
	_cleanup_free_ char *text = screen_make_text(&page, room);
	const char *at = text;
	unsigned n, n_shown;

	if (!text)
		return;
	n = count_lines(text);
	n_shown = room && n > room ? room - 1 : n;
	for (unsigned i = 0; i < n_shown; i++)
		at = screen_write_line(out, at, form);
	if (n_shown < n)
		screen_write_line(out, "and more, for which there is no room", form);
	for (unsigned i = n; has_keys && i < room; i++)
		fputc('\n', out);
	if (has_keys)
		screen_write_line(out, keys_of(form), form);
}
