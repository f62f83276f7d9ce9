/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/*
 * Answers one request on the connection that is standard input, and returns the exit status. What
 * the client does is no failure: it may be slow, send anything or go away. Takes 16 seconds at
 * most.
 */
int export_http(const char *socket_path);
