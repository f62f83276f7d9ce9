/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/text.h"

void output_keep_apart(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
}

bool output_has_escapes(FILE *out)
{
	const char *term = getenv("TERM");

	return isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
}

bool output_has_colours(FILE *out)
{
	const char *no_color = getenv("NO_COLOR");

	return output_has_escapes(out) && (!no_color || !*no_color);
}

const char *output_code(enum output_style style)
{
	static const char *const codes[] = { "\033[0m", "\033[1m", "\033[32m", "\033[33m",
		"\033[31m" };

	return codes[style];
}

void output_style(FILE *out, enum output_style style)
{
	if (output_has_colours(out))
		fputs(output_code(style), out);
}

void output_labelled(const char *label, const char *text)
{
	const size_t at = 2 + OUTPUT_LABEL_WIDTH;

	printf("  %-*s", OUTPUT_LABEL_WIDTH, label);
	text_fold(stdout, text, at, at);
}

static void fold_rest(size_t at, size_t indent, const char *format, va_list arguments)
{
	char text[2048];

	vsnprintf(text, sizeof text, format, arguments);
	text_fold_to(stdout, text, at, indent, text_line(stdout, SIZE_MAX));
}

void output_rest(size_t at, size_t indent, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fold_rest(at, indent, format, arguments);
	va_end(arguments);
}

void output_line(size_t at, const char *format, ...)
{
	va_list arguments;

	printf("%*s", (int)at, "");
	va_start(arguments, format);
	fold_rest(at, at + 2, format, arguments);
	va_end(arguments);
}

int output_check(FILE *out, const char *command, const char *name)
{
	int error = 0;

	if (fflush(out) == EOF)
		error = errno;
	else if (ferror(out)) /* an earlier write failed, and its errno is lost */
		error = EIO;
	if (!error)
		return 0;
	fprintf(stderr, "%s: cannot write to %s: %s.\n", command, name, strerror(error));
	clearerr(out);
	return -1;
}
