/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/jsonwriter.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "common/macro.h"
#include "common/text.h"

int jsonwriter_init(struct jsonwriter *ret, bool pretty)
{
	*ret = (struct jsonwriter){ .pretty = pretty };
	ret->out = open_memstream(&ret->text, &ret->size_bytes);
	return ret->out ? 0 : -ENOMEM;
}

void jsonwriter_init_to(struct jsonwriter *ret, bool pretty, FILE *out)
{
	*ret = (struct jsonwriter){ .out = out, .pretty = pretty };
}

/* --- texts --- */

static const struct {
	char character;
	const char *escape;
} escapes[] = {
	{ '"', "\\\"" },
	{ '\\', "\\\\" },
	{ '\b', "\\b" },
	{ '\f', "\\f" },
	{ '\n', "\\n" },
	{ '\r', "\\r" },
	{ '\t', "\\t" },
};

static const char *escape_of(char character)
{
	for (size_t i = 0; i < ARRAY_SIZE(escapes); i++)
		if (escapes[i].character == character)
			return escapes[i].escape;
	return NULL;
}

/* Escapes control characters, which could steer a terminal; a byte that is not UTF-8 becomes
 * U+FFFD. */
static size_t write_unplain(FILE *out, const char *at)
{
	uint32_t character;
	const size_t n = text_read(at, &character);

	fprintf(out, "\\u%04x", n ? (unsigned)character : 0xfffd);
	return n ? n : 1;
}

static void jsonwriter_write_text(FILE *out, const char *text)
{
	fputc('"', out);
	while (*text) {
		const char *escape = escape_of(*text);
		size_t n = text_plain_bytes(text);

		if (escape) {
			fputs(escape, out);
			text++;
		} else if (n) {
			fwrite(text, 1, n, out);
			text += n;
		} else {
			text += write_unplain(out, text);
		}
	}
	fputc('"', out);
}

/* --- members --- */

static void jsonwriter_begin_line(const struct jsonwriter *json)
{
	if (json->pretty)
		fprintf(json->out, "\n%*s", 2 * (int)json->depth, "");
}

/* Writes the comma, the line's beginning and the key of a value. */
static void begin_value(struct jsonwriter *json, const char *key)
{
	if (json->follows)
		fputc(',', json->out);
	if (json->depth)
		jsonwriter_begin_line(json);
	if (key) {
		jsonwriter_write_text(json->out, key);
		fputc(':', json->out);
	}
	json->follows = true;
}

static void open_with(struct jsonwriter *json, const char *key, char opening, char closing)
{
	if (!json->out)
		return;
	assert(json->depth < JSONWRITER_DEPTH_MAX);
	begin_value(json, key);
	fputc(opening, json->out);
	json->closings[json->depth++] = closing;
	json->follows = false;
}

void jsonwriter_object(struct jsonwriter *json, const char *key)
{
	open_with(json, key, '{', '}');
}

void jsonwriter_array(struct jsonwriter *json, const char *key)
{
	open_with(json, key, '[', ']');
}

void jsonwriter_close(struct jsonwriter *json)
{
	if (!json->out)
		return;
	assert(json->depth > 0);
	json->depth--;
	if (json->follows)
		jsonwriter_begin_line(json);
	fputc(json->closings[json->depth], json->out);
	json->follows = true;
}

static void _printf_(3, 4)
	write_value(struct jsonwriter *json, const char *key, const char *format, ...)
{
	va_list args;

	if (!json->out)
		return;
	begin_value(json, key);
	va_start(args, format);
	vfprintf(json->out, format, args);
	va_end(args);
}

void jsonwriter_number(struct jsonwriter *json, const char *key, uint64_t number)
{
	write_value(json, key, "%" PRIu64, number);
}

void jsonwriter_signed(struct jsonwriter *json, const char *key, int64_t number)
{
	write_value(json, key, "%" PRId64, number);
}

void jsonwriter_known(struct jsonwriter *json, const char *key, bool is_known, int64_t number)
{
	if (is_known)
		jsonwriter_signed(json, key, number);
	else
		jsonwriter_text(json, key, NULL);
}

void jsonwriter_digits(struct jsonwriter *json, const char *key, const char *digits)
{
	write_value(json, key, "%s", digits);
}

void jsonwriter_flag(struct jsonwriter *json, const char *key, bool flag)
{
	jsonwriter_digits(json, key, flag ? "true" : "false");
}

/* printf(3) writes the locale's decimal point, which may be any text; JSON requires a point. */
static void write_point(FILE *out, const char *digits)
{
	while (*digits) {
		size_t n = strspn(digits, "+-0123456789e");

		fwrite(digits, 1, n, out);
		digits += n;
		if (*digits)
			fputc('.', out);
		digits += strcspn(digits, "+-0123456789e");
	}
}

void jsonwriter_real(struct jsonwriter *json, const char *key, double number)
{
	char digits[64];

	write_value(json, key, "%s", isfinite(number) ? "" : "null");
	if (!json->out || !isfinite(number))
		return;
	for (int precision = 15; precision <= 17; precision++) {
		snprintf(digits, sizeof digits, "%.*g", precision, number);
		if (strtod(digits, NULL) == number)
			break;
	}
	write_point(json->out, digits);
}

void jsonwriter_rounded(struct jsonwriter *json, const char *key, double number, int digits)
{
	char text[64];

	snprintf(text, sizeof text, "%.*g", digits, number);
	jsonwriter_real(json, key, strtod(text, NULL));
}

void jsonwriter_text(struct jsonwriter *json, const char *key, const char *text)
{
	write_value(json, key, "%s", text ? "" : "null");
	if (json->out && text)
		jsonwriter_write_text(json->out, text);
}

void jsonwriter_text_or_null(struct jsonwriter *json, const char *key, const char *text)
{
	jsonwriter_text(json, key, text && *text ? text : NULL);
}

void jsonwriter_text_if_any(struct jsonwriter *json, const char *key, const char *text)
{
	if (*text)
		jsonwriter_text(json, key, text);
}

int jsonwriter_finish(struct jsonwriter *json, char **ret_text)
{
	bool failed = !json->out || ferror(json->out);

	if (json->out && fclose(take_ptr(json->out)) == EOF)
		failed = true;
	if (failed)
		return -ENOMEM;
	*ret_text = take_ptr(json->text);
	return 0;
}

int jsonwriter_print(struct jsonwriter *json, FILE *out)
{
	_cleanup_free_ char *text = NULL;
	const int r = jsonwriter_finish(json, &text);

	if (r == 0)
		fprintf(out, "%s\n", text);
	return r;
}

void jsonwriter_done(struct jsonwriter *json)
{
	if (json->out)
		fclose(take_ptr(json->out));
	free(take_ptr(json->text));
}
