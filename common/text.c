/* SPDX-License-Identifier: BSD-3-Clause */
/* Text of the caller that goes into JSON and onto a terminal, where none of its bytes may do
 * harm. */
#include "common/text.h"

#include <locale.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <wchar.h>

#include "common/macro.h"

/* How a character begins, how many bytes follow, and the lowest character of that form. */
static const struct {
	uint8_t mask, lead, n_following;
	uint32_t least;
} forms[] = {
	{ 0x80, 0x00, 0, 1 },
	{ 0xe0, 0xc0, 1, 0x80 },
	{ 0xf0, 0xe0, 2, 0x800 },
	{ 0xf8, 0xf0, 3, 0x10000 },
};

size_t text_read(const char *at, uint32_t *ret)
{
	const uint8_t *text = (const uint8_t *)at;

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		uint32_t character = *text & (uint8_t)~forms[i].mask;

		if ((*text & forms[i].mask) != forms[i].lead)
			continue;
		for (size_t k = 1; k <= forms[i].n_following; k++) {
			if ((text[k] & 0xc0) != 0x80) /* also true for the final NUL */
				return 0;
			character = character << 6 | (text[k] & 0x3f);
		}
		if (character < forms[i].least || character > 0x10ffff ||
			(character >= 0xd800 && character <= 0xdfff))
			return 0;
		*ret = character;
		return forms[i].n_following + 1U;
	}
	return 0;
}

/* C0, DEL and C1; and what breaks lines, or shows others in another order (UAX #9). */
static bool is_control(uint32_t character)
{
	return character < 0x20 || (character >= 0x7f && character < 0xa0) || character == 0x61c ||
	       character == 0x200e || character == 0x200f ||
	       (character >= 0x2028 && character <= 0x202e) ||
	       (character >= 0x2066 && character <= 0x2069);
}

size_t text_plain_bytes(const char *at)
{
	uint32_t character;
	size_t n;

	if (*at >= ' ' && *at < 0x7f) /* most are */
		return 1;
	n = text_read(at, &character);
	return n && !is_control(character) ? n : 0;
}

/* How many bytes of whole plain characters @text begins with. */
static size_t plain_bytes(const char *text)
{
	size_t n = 0;

	for (size_t more; (more = text_plain_bytes(text + n)); n += more)
		;
	return n;
}

bool text_is_plain(const char *text)
{
	return !text[plain_bytes(text)];
}

void text_print_plain(FILE *out, const char *text)
{
	for (size_t n; *text; text += n + !!text[n]) {
		n = plain_bytes(text);
		fwrite(text, 1, n, out);
		if (text[n])
			fputc('?', out);
	}
}

void text_make_plain(char *text)
{
	while (*(text += plain_bytes(text)))
		*text = '?';
}

char *text_put(uint32_t character, char *to)
{
	const size_t n = character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;

	for (size_t i = n; --i;) {
		to[i] = (char)(0x80 | (character & 0x3f));
		character >>= 6;
	}
	to[0] = (char)(n == 1 ? character : (0xf00U >> n & 0xff) | character);
	return to + n;
}

void text_append(char *text, size_t size_bytes, const char *format, ...)
{
	size_t length = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + length, size_bytes - length, format, args);
	va_end(args);
}

static bool is_ascii(const char *text, size_t n_bytes)
{
	for (size_t i = 0; i < n_bytes; i++)
		if (text[i] & 0x80)
			return false;
	return true;
}

/* By the locale of the thread. */
static size_t width_in_locale(const char *text, const char *end)
{
	size_t width = 0;

	while (text < end) {
		uint32_t character;
		const size_t n = text_read(text, &character);
		const int columns = n > 1 ? wcwidth((wchar_t)character) : 1;

		width += columns < 0 ? 1 : (size_t)columns; /* most characters have one */
		text += n ? n : 1;
	}
	return width;
}

/* Our texts are UTF-8 in every locale, LC_ALL=C among them, and a terminal shows their bytes as
 * such. A program's own locale is not ours to change: uselocale(3) is for this thread alone. Each
 * newlocale(3) maps a file. */
size_t text_width(const char *text, size_t n_bytes)
{
	locale_t utf8, before;
	size_t width;

	if (is_ascii(text, n_bytes))
		return n_bytes;
	utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
	before = uselocale(utf8); /* 0: there is none, and this changes nothing */
	width = width_in_locale(text, text + n_bytes);
	uselocale(before);
	if (utf8)
		freelocale(utf8);
	return width;
}

void text_fold_to(FILE *out, const char *text, size_t at, size_t indent, size_t width)
{
	size_t begun = at;

	while (*text) {
		size_t n = strcspn(text, " "), n_columns = text_width(text, n);

		if (at > begun && at + 1 + n_columns > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			begun = at = indent;
		} else if (at > begun) {
			fputc(' ', out);
			at++;
		}
		fprintf(out, "%.*s", (int)n, text);
		at += n_columns;
		text += n + strspn(text + n, " ");
	}
	fputc('\n', out);
}

size_t text_line(FILE *out, size_t most)
{
	struct winsize size = { .ws_col = 0 };

	if (ioctl(fileno(out), TIOCGWINSZ, &size) < 0 || !size.ws_col || size.ws_col > most)
		return most;
	return size.ws_col < TEXT_WIDTH_MIN ? TEXT_WIDTH_MIN : size.ws_col;
}

void text_fold(FILE *out, const char *text, size_t at, size_t indent)
{
	text_fold_to(out, text, at, indent, text_line(out, TEXT_WIDTH));
}
