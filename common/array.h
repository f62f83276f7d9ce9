/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/* Room for @more after the @n elements of *@array, which has room for a power of two of them. 0;
 * -ENOMEM. */
static inline int array_room_for(void *array, size_t n, size_t more, size_t element_bytes)
{
	void **pointer = array, *larger;
	size_t room = 1;

	while (room < n + more)
		room *= 2;
	if (n > room / 2)
		return 0;
	larger = reallocarray(*pointer, room, element_bytes);
	if (!larger)
		return -ENOMEM;
	*pointer = larger;
	return 0;
}

/* The same for one more. */
static inline int array_room(void *array, size_t n, size_t element_bytes)
{
	return n & (n - 1) ? 0 : array_room_for(array, n, 1, element_bytes);
}
