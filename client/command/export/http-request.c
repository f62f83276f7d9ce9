/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/export/http-request.h"

#include <string.h>

/* A part of the head: not ended by a NUL. */
struct text_span {
	const char *at;
	size_t n;
};

bool http_request_is_whole(const char *head, size_t n_bytes)
{
	return memmem(head, n_bytes, "\n\r\n", 3) || memmem(head, n_bytes, "\n\n", 2);
}

static bool is(struct text_span span, const char *text)
{
	return span.n == strlen(text) && memcmp(span.at, text, span.n) == 0;
}

static bool begins(struct text_span span, const char *text)
{
	return span.n >= strlen(text) && memcmp(span.at, text, strlen(text)) == 0;
}

/* Cuts the text before @end off the beginning of *@rest; all of it if there is no @end. */
static struct text_span take_until(struct text_span *rest, char end)
{
	const char *found = memchr(rest->at, end, rest->n);
	struct text_span taken = { rest->at, found ? (size_t)(found - rest->at) : rest->n };
	size_t n = taken.n + (found ? 1 : 0);

	rest->at += n;
	rest->n -= n;
	return taken;
}

static struct text_span first_line(struct text_span head)
{
	struct text_span line = take_until(&head, '\n');

	if (line.n && line.at[line.n - 1] == '\r')
		line.n--;
	return line;
}

/*
 * A query may follow the path: Prometheus sends the parameters of its configuration. A host may
 * come before the path, and a server has to accept that: RFC 9112, section 3.2.2.
 */
static bool is_metrics(struct text_span target)
{
	struct text_span path = take_until(&target, '?');

	if (begins(path, "http://")) {
		path.at += strlen("http://");
		path.n -= strlen("http://");
		take_until(&path, '/');
		return is(path, "metrics");
	}
	return is(path, "/metrics");
}

enum http_status http_request_judge(const char *head, size_t n_bytes, bool *ret_without_body)
{
	struct text_span line = first_line((struct text_span){ head, n_bytes });
	struct text_span method = take_until(&line, ' ');
	struct text_span target = take_until(&line, ' ');

	*ret_without_body = is(method, "HEAD");
	if (!method.n || !target.n || !begins(line, "HTTP/"))
		return HTTP_BAD_REQUEST;
	if (!begins(line, "HTTP/1.") || line.n != strlen("HTTP/1.1"))
		return HTTP_VERSION_NOT_SUPPORTED;
	if (!is(method, "GET") && !is(method, "HEAD"))
		return HTTP_METHOD_NOT_ALLOWED;
	return is_metrics(target) ? HTTP_OK : HTTP_NOT_FOUND;
}
