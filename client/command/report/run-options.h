/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

struct run_options {
	const char *output, *markers; /* NULL: not given */
	bool verdict, heap;
};
