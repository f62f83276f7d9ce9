/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/json-text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/text.h"

enum { DEPTH_MOST = 32 };

void json_text_done(struct json_text *text)
{
	free(text->values);
	*text = (struct json_text){ .n = 0 };
}

/* --- reading; each function returns the place after what it read, or NULL: it is wrong --- */

static char *json_text_skip_blanks(char *at)
{
	while (*at == ' ' || *at == '\n' || *at == '\t' || *at == '\r')
		at++;
	return at;
}

static char *skip_digits(char *at)
{
	const char *first = at;

	while (*at >= '0' && *at <= '9')
		at++;
	return at > first ? at : NULL;
}

static char *take_word(char *at, const char *word)
{
	const size_t n = strlen(word);

	return strncmp(at, word, n) == 0 ? at + n : NULL;
}

/* Takes 01 and 1., too. */
static char *json_text_take_number(char *at, struct json_value *value)
{
	const char *end;

	at += *at == '-';
	value->kind = JSON_REAL;
	end = at = skip_digits(at);
	if (at && *at == '.')
		at = at + 1 + strspn(at + 1, "0123456789");
	if (at && (*at == 'e' || *at == 'E'))
		at = skip_digits(at + 1 + (at[1] == '-' || at[1] == '+'));
	if (at == end)
		value->kind = JSON_WHOLE;
	return at;
}

static bool is_unicode(const char *digits)
{
	return strspn(digits, "0123456789abcdefABCDEF") >= 4;
}

static unsigned hex_of(const char *digits)
{
	const char text[] = { digits[0], digits[1], digits[2], digits[3], '\0' };

	return (unsigned)strtoul(text, NULL, 16);
}

/* Half of a pair has no meaning alone. */
static char *take_unicode(char *at, char **to)
{
	unsigned code, low;

	if (!is_unicode(at))
		return NULL;
	code = hex_of(at);
	at += 4;
	if (code >= 0xd800 && code < 0xe000) {
		low = code < 0xdc00 && at[0] == '\\' && at[1] == 'u' && is_unicode(at + 2)
			      ? hex_of(at + 2)
			      : 0;
		if (low >= 0xdc00 && low < 0xe000) {
			code = 0x10000 + ((code & 0x3ff) << 10) + (low & 0x3ff);
			at += 6;
		} else {
			code = 0xfffd;
		}
	}
	*to = text_put(code, *to);
	return at;
}

/* @at is after a backslash. No escape is shorter than what it means. */
static char *take_escape(char *at, char **to)
{
	static const char letters[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
	const char *letter = *at ? strchr(letters, *at) : NULL;

	if (*at == 'u')
		return take_unicode(at + 1, to);
	if (letter)
		*(*to)++ = meant[letter - letters];
	return letter ? at + 1 : NULL;
}

/* All but control characters, quotes and backslashes. */
static const bool stands_for_itself[256] = {
	[' ' ... '!'] = true,
	['#' ... '['] = true,
	[']' ... 255] = true,
};

static char *json_text_take_text(char *at, struct json_value *value)
{
	char *to;

	value->kind = JSON_TEXT;
	value->at = ++at;
	while (stands_for_itself[(unsigned char)*at])
		at++;
	to = at;
	while (at && *at != '"') {
		if ((unsigned char)*at < ' ')
			return NULL;
		if (*at == '\\')
			at = take_escape(at + 1, &to);
		else
			*to++ = *at++;
	}
	*to = '\0';
	value->n_inside = (uint32_t)(to - value->at);
	return at ? at + 1 : NULL;
}

static char *take_scalar(char *at, struct json_value *value)
{
	switch (*at) {
	case '"':
		return json_text_take_text(at, value);
	case 't':
		value->kind = JSON_FLAG;
		return take_word(at, "true");
	case 'f':
		value->kind = JSON_FLAG;
		return take_word(at, "false");
	case 'n':
		value->kind = JSON_NULL;
		return take_word(at, "null");
	default:
		return json_text_take_number(at, value);
	}
}

/* NULL: there is no room. */
static struct json_value *json_text_add_value(struct json_text *text, char *at)
{
	text->has_no_room = array_room(&text->values, text->n, sizeof *text->values) < 0;
	if (text->has_no_room)
		return NULL;
	text->values[text->n] = (struct json_value){ .at = at, .n_values = 1 };
	return &text->values[text->n++];
}

static char *json_text_parse_value(struct json_text *text, char *at, int depth);

/* @at is at a key. */
static char *parse_key(struct json_text *text, char *at)
{
	struct json_value *key = *at == '"' ? json_text_add_value(text, at) : NULL;

	at = key ? json_text_take_text(at, key) : NULL;
	at = at ? json_text_skip_blanks(at) : NULL;
	return at && *at == ':' ? json_text_skip_blanks(at + 1) : NULL;
}

/* The members or elements of the value that was added last. */
static char *parse_inside(struct json_text *text, char *at, int depth)
{
	const uint32_t whole = text->n - 1;
	const bool is_object = *at == '{';
	const char end = is_object ? '}' : ']';
	uint32_t n = 0;

	at = json_text_skip_blanks(at + 1);
	if (*at != end)
		do {
			at = json_text_skip_blanks(at + (n++ > 0));
			if (is_object)
				at = parse_key(text, at);
			at = at ? json_text_parse_value(text, at, depth + 1) : NULL;
			at = at ? json_text_skip_blanks(at) : NULL;
		} while (at && *at == ',');
	text->values[whole].kind = is_object ? JSON_OBJECT : JSON_LIST;
	text->values[whole].n_inside = n;
	text->values[whole].n_values = text->n - whole;
	return at && *at == end ? at + 1 : NULL;
}

static char *json_text_parse_value(struct json_text *text, char *at, int depth)
{
	struct json_value *value = depth < DEPTH_MOST ? json_text_add_value(text, at) : NULL;
	char *end;

	if (!value)
		return NULL;
	if (*at == '{' || *at == '[')
		return parse_inside(text, at, depth);
	end = take_scalar(at, value);
	if (end && value->kind >= JSON_FLAG)
		value->n_inside = (uint32_t)(end - at);
	return end;
}

/* A number alone may have been cut. */
static bool parse_all(struct json_text *text, char *at)
{
	at = json_text_parse_value(text, json_text_skip_blanks(at), 0);
	return at && !*json_text_skip_blanks(at) && text->values->kind != JSON_NULL &&
	       (*at || text->values->kind < JSON_WHOLE);
}

/* Nothing needs the commas and brackets any more. */
static void end_numbers(const struct json_text *text)
{
	for (uint32_t i = 0; i < text->n; i++)
		if (text->values[i].kind >= JSON_FLAG)
			text->values[i].at[text->values[i].n_inside] = '\0';
}

int json_text_parse(char *text, struct json_text *ret)
{
	*ret = (struct json_text){ .n = 0 };
	if (!parse_all(ret, text))
		return ret->has_no_room ? -ENOMEM : -EBADMSG;
	end_numbers(ret);
	return 0;
}

/* --- values --- */

const struct json_value *json_next(const struct json_value *whole, const struct json_value *last)
{
	const struct json_value *next;

	if (!whole)
		return NULL;
	next = !last ? whole + 1 : json_value_after(last + (whole->kind == JSON_OBJECT));
	return next < json_value_after(whole) ? next : NULL;
}

static bool is_text(const struct json_value *value, const char *text, size_t n)
{
	return value->n_inside == n && *value->at == *text && memcmp(value->at, text, n) == 0;
}

bool json_value_is(const struct json_value *value, const char *text)
{
	return is_text(value, text, strlen(text));
}

const struct json_value *json_value_member(const struct json_value *object, const char *key)
{
	const struct json_value *found = NULL, *at;
	const size_t n = strlen(key);

	if (json_value_kind(object) != JSON_OBJECT)
		return NULL;
	at = object + 1;
	for (uint32_t i = 0; i < object->n_inside; i++, at = json_value_after(at + 1))
		if (is_text(at, key, n))
			found = at + 1;
	return found;
}
