/* SPDX-License-Identifier: BSD-3-Clause */
/* The head of an HTTP/1.0 or HTTP/1.1 request (RFC 9112). Only its first line matters here. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { HTTP_HEAD_MAX = 8192 }; /* bytes; Prometheus sends some 300 */

enum http_status {
	HTTP_OK = 200,
	HTTP_BAD_REQUEST = 400,
	HTTP_NOT_FOUND = 404,
	HTTP_METHOD_NOT_ALLOWED = 405,
	HTTP_REQUEST_TIMEOUT = 408,
	HTTP_HEAD_TOO_LARGE = 431,
	HTTP_VERSION_NOT_SUPPORTED = 505,
};

/* Do the first @n_bytes contain an empty line, which ends the head? */
bool http_request_is_whole(const char *head, size_t n_bytes);

/*
 * What to answer to this head of @n_bytes, which may hold any bytes. *@ret_without_body: the client
 * wants no body (HEAD).
 */
enum http_status http_request_judge(const char *head, size_t n_bytes, bool *ret_without_body);
