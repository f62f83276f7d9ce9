/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

struct top_options {
	const char *socket_path;
	uint64_t interval_ns;
};
