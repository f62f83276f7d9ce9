/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "common/macro.h"
#include "tests/harness/test.h"

enum { LONG = 200 };

static const char sentence[] = "This sentence has more words than a line of a narrow terminal has "
			       "room for, and so it is folded.";

/* A terminal of so many columns; 0: it does not say how many. */
static FILE *open_terminal(unsigned short columns, int *ret_other_end)
{
	const struct winsize size = { .ws_row = 24, .ws_col = columns };
	int end;

	*ret_other_end = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_int_equal(grantpt(*ret_other_end), 0);
	assert_int_equal(unlockpt(*ret_other_end), 0);
	end = open(ptsname(*ret_other_end), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_int_equal(ioctl(end, TIOCSWINSZ, &size), 0);
	return fdopen(end, "w");
}

/* The longest line of @text. */
static size_t longest(char *text)
{
	size_t most = 0;
	char *line;

	while ((line = strsep(&text, "\r\n")))
		most = strlen(line) > most ? strlen(line) : most;
	return most;
}

CASE("a plain text has no control character, none that changes the order of others, and only UTF-8")
{
	static const struct {
		const char *text, *printed;
	} rows[] = {
		{ "solve", "solve" },
		{ "", "" },
		{ "L\u00f6sung \u4e2d \U0001f600 \u200b", "L\u00f6sung \u4e2d \U0001f600 \u200b" },
		{ "a\nb\x1b[m\x7f", "a?b?[m?" },
		{ "\xc2\x9b", "??" }, /* C1 */
		{ "\xc0\xaf \xed\xa0\x80 \xf4\x90\x80\x80",
			"?? ??? ????" }, /* too long, a surrogate, too high */
		{ "\xe4\xb8", "??" },    /* cut off */
		{ "a\u202eb", "a???b" }, /* UAX #9: from right to left */
		{ "\u061c\u200e\u200f\u202a\u2066\u2069", "?????????????????" },
		{ "\u2028", "???" }, /* a new line */
		{ "\u200d\u2027\u202f\u2065\u206a", "\u200d\u2027\u202f\u2065\u206a" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char printed[LONG] = "", plain[LONG];
		_cleanup_file_ FILE *out = fmemopen(printed, sizeof printed, "w");

		assert_int_equal(
			text_is_plain(rows[i].text), strcmp(rows[i].text, rows[i].printed) == 0);
		text_print_plain(out, rows[i].text);
		fflush(out);
		assert_string_equal(printed, rows[i].printed);
		text_make_plain(strcpy(plain, rows[i].text));
		assert_string_equal(plain, rows[i].printed);
	}
}

CASE("a line is as long as the terminal is wide, within bounds, and has all the room in a file")
{
	static const struct {
		unsigned short columns;
		size_t line;
	} rows[] = { { 0, LONG }, { 10, TEXT_WIDTH_MIN }, { 40, 40 }, { 79, 79 }, { 300, LONG } };
	_cleanup_file_ FILE *file = fopen("/dev/null", "we");

	assert_int_equal(text_line(file, LONG), LONG);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_close_ int other_end = -1;
		_cleanup_file_ FILE *terminal = open_terminal(rows[i].columns, &other_end);

		assert_int_equal(text_line(terminal, LONG), rows[i].line);
	}
}

CASE("a sentence is folded at the edge of a narrow terminal, and at 80 columns in a file")
{
	_cleanup_close_ int other_end = -1;
	_cleanup_file_ FILE *terminal = open_terminal(48, &other_end);
	_cleanup_free_ char *in_file = NULL;
	char seen[512] = "";
	size_t size;
	FILE *file = open_memstream(&in_file, &size);

	text_fold(file, sentence, 0, 2);
	fclose(file);
	assert_in_range(longest(in_file), 49, TEXT_WIDTH);
	text_fold(terminal, sentence, 0, 2);
	fflush(terminal);
	for (ssize_t n, length = 0; !strstr(seen, "folded."); length += n) {
		n = read(other_end, seen + length, sizeof seen - 1 - (size_t)length);
		assert_true(n > 0);
	}
	assert_in_range(longest(seen), 40, 48);
}
