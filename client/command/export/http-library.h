/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GNU libmicrohttpd, which is loaded when --http asks for it. If it were linked, each `uncore stat`
 * would also start GnuTLS.
 */
#pragma once

#include <microhttpd.h>
#include <stdbool.h>

/* Its functions that are called, without their prefix. */
#define HTTP_LIBRARY_CALLS(call)                                                                   \
	call(add_connection) call(add_response_header) call(create_response_from_buffer)           \
		call(destroy_response) call(get_connection_info) call(get_daemon_info)             \
			call(get_timeout) call(queue_response) call(quiesce_daemon) call(run)      \
				call(start_daemon) call(stop_daemon)

#define HTTP_LIBRARY_MEMBER(name) __typeof__(MHD_##name) *name;

extern struct http_library {
	HTTP_LIBRARY_CALLS(HTTP_LIBRARY_MEMBER)
} http;

/* enum MHD_Result, and int in releases before 0.9.71 */
typedef __typeof__(MHD_run(NULL)) http_result;

/* NULL: it can be called from now on. Else what is wrong, as dlerror(3) says it. */
const char *http_library_load(void);
