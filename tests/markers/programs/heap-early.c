/* SPDX-License-Identifier: BSD-3-Clause */
/* A dlsym(3) that allocates, as those of some C libraries do. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static void *volatile rest, *volatile other;

void *dlsym(void *handle, const char *name)
{
	void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
	void *(*find)(void *, const char *) =
		(void *(*)(void *, const char *))dlvsym(libc, "dlsym", "GLIBC_2.34");
	char *text = calloc(3, 7), *more = malloc(20), *aligned = aligned_alloc(64, 64);

	for (int i = 0; i < 21; i++)
		if (text[i])
			abort();
	strcpy(more, "early");
	more = realloc(more, 40);
	if (strcmp(more, "early") != 0 || (size_t)aligned % 64)
		abort();
	free(text);
	other = aligned;
	rest = more; /* is freed when all is known */
	return find(handle == RTLD_NEXT ? libc : handle, name);
}

int main(void)
{
	void *volatile large = malloc(1 << 20);

	free(realloc(rest, 1 << 21));
	free(other);
	if (malloc(56) == other) /* the C library took it for its own */
		abort();
	free(large);
	return 0;
}
