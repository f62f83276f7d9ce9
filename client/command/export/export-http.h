/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

struct export_wish;

/*
 * Answers requests for the metrics and returns the exit status. A service manager passes either
 * listening sockets (as sd_listen_fds(3) says, or one as standard input) or a single connection.
 * Clients that are slow, send anything or go away are not a failure.
 */
int export_http(const struct export_wish *wish);
