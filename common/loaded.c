/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/loaded.h"

#include <dlfcn.h>
#include <string.h>

const char *loaded_open(
	const char *library, const struct loaded_call calls[], size_t n, void *ret_pointers)
{
	void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; handle && i < n; i++) {
		void *found = dlsym(handle, calls[i].name);

		if (!found)
			return dlerror();
		memcpy((char *)ret_pointers + calls[i].offset, &found, sizeof found);
	}
	return handle ? NULL : dlerror();
}
