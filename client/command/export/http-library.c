/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/export/http-library.h"

#include "common/loaded.h"
#include "common/macro.h"

struct http_library http;

#define ROW(name) { "MHD_" #name, offsetof(struct http_library, name) },

static const struct loaded_call calls[] = { HTTP_LIBRARY_CALLS(ROW) };

const char *http_library_load(void)
{
	return loaded_open("libmicrohttpd.so.12", calls, ARRAY_SIZE(calls), &http);
}
