/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of a library that is loaded when it is needed. A library that is linked costs each
 * start of the program, also where nothing of it is called.
 */
#pragma once

#include <stddef.h>

/* One function: where its pointer is in a struct. */
struct loaded_call {
	const char *name;
	size_t offset;
};

/* Loads @library and writes a pointer for each of the @n functions. NULL; or what is wrong, as
 * dlerror(3) says it. */
const char *loaded_open(
	const char *library, const struct loaded_call calls[], size_t n, void *ret_pointers);
