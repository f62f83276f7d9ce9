/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/* Room for one more after the @n elements of *@array: doubles whenever @n is a power of two. 0;
 * -ENOMEM. */
static inline int array_room(void *array, size_t n, size_t element_bytes)
{
	void **pointer = array;
	void *larger;

	if (n & (n - 1))
		return 0;
	larger = reallocarray(*pointer, n ? 2 * n : 1, element_bytes);
	if (!larger)
		return -ENOMEM;
	*pointer = larger;
	return 0;
}
