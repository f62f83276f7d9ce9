/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of uncored. */
#pragma once

#include "common/option.h"

struct daemon_options {
	const char *config_path;
	const char *root;
	const char *socket_path;
	const char *platforms;
	const char *state;
	bool check, json, version;
};

extern const struct option_table uncored_table;
