/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/options.h"

static const struct option_row rows[] = {
	{ "config", 0, OPTION_TEXT, "FILE",
		"read FILE instead of " UNCORED_CONFIG "; see uncored.conf(5)",
		OPTION_AT(daemon_options, config_path) },
	{ "socket", 0, OPTION_TEXT, "PATH",
		"listen on PATH instead of the path in the configuration; sockets that systemd "
		"passes take precedence over both",
		OPTION_AT(daemon_options, socket_path) },
	{ "platforms", 0, OPTION_TEXT, "DIR",
		"read platform files from DIR only, instead of from " UNCORED_SITE_PLATFORMS
		" and " UNCORED_PLATFORMS,
		OPTION_AT(daemon_options, platforms) },
	{ "root", 0, OPTION_TEXT, "DIR",
		"read the machine's description (sys and proc) below DIR instead of /",
		OPTION_AT(daemon_options, root) },
	{ "state", 0, OPTION_TEXT, "DIR",
		"keep the numbers of the sockets in DIR; default: /var/lib/uncored/state, and "
		"with --root nowhere",
		OPTION_AT(daemon_options, state) },
	{ "check", 0, OPTION_FLAG, NULL,
		"print the counters that would be opened, and open none; needs no privilege",
		OPTION_AT(daemon_options, check) },
	{ "json", 0, OPTION_FLAG, NULL, "with --check: print JSON",
		OPTION_AT(daemon_options, json) },
	{ "version", 0, OPTION_FLAG, NULL, "print the release",
		OPTION_AT(daemon_options, version) },
};

const struct option_table uncored_table = {
	.command = "uncored",
	.usage = "[OPTION...]",
	.about = "Reads the memory controllers' counters for every unprivileged process of this "
		 "machine. See uncored(8), uncored.conf(5), uncore-platform(5).",
	OPTION_ROWS(rows),
};
