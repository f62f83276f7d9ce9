/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/export/exposition.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "common/text.h"

void exposition_name(const char *metric, const char *suffix, char ret_name[EXPOSITION_NAME_MAX])
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_";

	snprintf(ret_name, EXPOSITION_NAME_MAX, "uncore_%s_%s", metric, suffix);
	for (char *c = ret_name; *(c += strspn(c, allowed)); c++)
		*c = '_';
}

void exposition_family(struct exposition *exposition, const struct exposition_family *family)
{
	exposition->family = *family;
	exposition->headed = false;
}

/* Writes @text with a backslash before each character of @special, "\n" for the end of a line, and
 * "?" for a byte that is not text. */
static void exposition_write_escaped(FILE *out, const char *text, const char *special)
{
	while (*text) {
		size_t n = text_plain_bytes(text);

		if (*text == '\n')
			fputs("\\n", out);
		else if (!n)
			fputc('?', out);
		else if (strchr(special, *text))
			fprintf(out, "\\%c", *text);
		else
			fwrite(text, 1, n, out);
		text += n ? n : 1;
	}
}

void exposition_begin(struct exposition *exposition)
{
	const struct exposition_family *family = &exposition->family;
	FILE *out = exposition->out;

	if (!exposition->headed) {
		fprintf(out, "# HELP %s ", family->name);
		exposition_write_escaped(out, family->help, "\\");
		fprintf(out, "\n# TYPE %s %s\n", family->name, family->type);
	}
	exposition->headed = true;
	exposition->n_labels = 0;
	fputs(family->name, out);
}

void exposition_label(struct exposition *exposition, const char *name, const char *value)
{
	fprintf(exposition->out, "%c%s=\"", exposition->n_labels++ ? ',' : '{', name);
	exposition_write_escaped(exposition->out, value, "\\\"");
	fputc('"', exposition->out);
}

void exposition_number(struct exposition *exposition, const char *name, uint32_t value)
{
	char text[11];

	snprintf(text, sizeof text, "%" PRIu32, value);
	exposition_label(exposition, name, text);
}

static void end_labels(const struct exposition *exposition)
{
	fputs(exposition->n_labels ? "} " : " ", exposition->out);
}

void exposition_count(struct exposition *exposition, uint64_t count)
{
	end_labels(exposition);
	fprintf(exposition->out, "%" PRIu64 "\n", count);
}

void exposition_nano(struct exposition *exposition, uint64_t count)
{
	end_labels(exposition);
	fprintf(exposition->out, "%" PRIu64 ".%09" PRIu64 "\n", count / 1000000000U,
		count % 1000000000U);
}

void exposition_comment(FILE *out, const char *format, ...)
{
	char text[EXPOSITION_COMMENT_MAX];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	fputs("# ", out);
	text_print_plain(out, text);
	fputc('\n', out);
}
