/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

struct trace_options {
	const char *output; /* NULL: stdout */
};
