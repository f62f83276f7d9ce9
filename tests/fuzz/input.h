/* SPDX-License-Identifier: BSD-3-Clause */
/* The input of a target that is a line of steps. Each target is one file, and includes this once.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

static struct {
	const uint8_t *data;
	size_t size_bytes;
} input;

/* 0 after the end. */
static uint8_t take_byte(void)
{
	if (!input.size_bytes)
		return 0;
	input.size_bytes--;
	return *input.data++;
}
