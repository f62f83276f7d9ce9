/* SPDX-License-Identifier: BSD-3-Clause */
/* Which users uncored's rules let read: what Install has to know before it changes anything. */
#pragma once

enum admits_answer { ADMITS, ADMITS_NOT, ADMITS_UNKNOWN };

/*
 * Asks uncored at @socket_path (NULL: as libuncore finds it) about a user, or about everybody
 * ("*"). Says why where the answer is not ADMITS. Root is held to the rules, as pmcd's client is.
 */
enum admits_answer admits_say(const char *socket_path, const char *name);
