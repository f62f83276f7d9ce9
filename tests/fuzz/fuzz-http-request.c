/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as the head of a request to `uncore export --http`. What is answered depends on the
 * first line alone, and only GET and HEAD of the metrics get them.
 */
#include <stdlib.h>
#include <string.h>

#include "client/command/export/http-request.h"
#include "tests/fuzz/target.h"

static bool begins(const char *text, size_t n, const char *with)
{
	return n >= strlen(with) && memcmp(text, with, strlen(with)) == 0;
}

/* A copy of just these bytes, so that a byte too many is seen. */
static char *copy(const uint8_t *data, size_t size)
{
	char *head = malloc(size ? size : 1);

	if (!head)
		exit(0);
	memcpy(head, data, size);
	return head;
}

/* With or without a host before the path. */
static bool asks_for_metrics(const char *head, size_t n, const char *method)
{
	if (!begins(head, n, method))
		return false;
	head += strlen(method);
	n -= strlen(method);
	return begins(head, n, "/metrics") ||
	       (begins(head, n, "http://") && memmem(head, n, "/metrics", strlen("/metrics")));
}

static void check_answer(const char *head, size_t n, enum http_status status, bool without_body)
{
	if (status == HTTP_OK && !asks_for_metrics(head, n, without_body ? "HEAD " : "GET "))
		abort();
}

static void check_first_line(const char *head, size_t n, enum http_status status)
{
	const char *end = memchr(head, '\n', n);
	bool without_body;

	if (end && http_request_judge(head, (size_t)(end - head) + 1, &without_body) != status)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *head = copy(data, size);
	bool without_body;
	enum http_status status = http_request_judge(head, size, &without_body);

	check_answer(head, size, status, without_body);
	check_first_line(head, size, status);
	if (http_request_is_whole(head, size / 2) && !http_request_is_whole(head, size))
		abort();
	free(head);
	return 0;
}
