/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/export/http-library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "common/macro.h"

struct http_library http;

#define ROW(name) { "MHD_" #name, offsetof(struct http_library, name) },

static const struct {
	const char *symbol;
	size_t at;
} calls[] = { HTTP_LIBRARY_CALLS(ROW) };

const char *http_library_load(void)
{
	void *library = dlopen("libmicrohttpd.so.12", RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; library && i < ARRAY_SIZE(calls); i++) {
		void *found = dlsym(library, calls[i].symbol);

		if (!found)
			return dlerror();
		memcpy((char *)&http + calls[i].at, &found, sizeof found);
	}
	return library ? NULL : dlerror();
}
