/* SPDX-License-Identifier: BSD-3-Clause */
/* Which users may read by uncored's rules. Install must know this before it changes anything. */
#pragma once

enum admits_answer { ADMITS, ADMITS_NOT, ADMITS_UNKNOWN };

/*
 * Asks uncored at @socket_path (NULL: as libuncore finds it) about a user, or about everybody
 * ("*"). Prints the reason if the answer is not ADMITS. The rules apply to root, too, as they do to
 * pmcd's client.
 */
enum admits_answer admits_say(const char *socket_path, const char *name);
