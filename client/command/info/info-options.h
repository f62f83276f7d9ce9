/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of `uncore info` and of `uncore owner`. */
#pragma once

#include <stdbool.h>

struct info_options {
	const char *socket_path;
	const char *metric; /* to explain; NULL: none */
	bool json, platforms, clients;
};

struct owner_options {
	const char *socket_path;
	const char *user; /* NULL: only show it */
	bool none;
};
