/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The requests of clients, and their answers: one row of a table for each (common/wire.h).
 *
 * A descriptor that is sent shares its open file description with uncored, and what a client does
 * to the description outlives the client. This is what holds for each of them:
 *
 *                   page, wake-ups, report       doorbell                table
 *   description     shared by clients            shared by the user's    the client's own: another
 *                                                clients and a reader    one for each answer
 *   writing, size   refused: O_RDONLY and 0444   a write is a ring       the content is its user's;
 *                                                                        the size is sealed
 *   seals           refused: F_SEAL_SEAL         none for this type      refused: F_SEAL_SEAL
 *   offset          nobody uses it: clients      no file position        ends with the client
 *                   map, or read by pread(2)
 *   F_SETFL         nobody depends on it         readers neither read    ends with the client
 *                                                nor write it
 *   fcntl locks     read locks only; see         on the inode of all     count as a member's until
 *                   uncored-security(7)          such files (kernel)     the client has ended
 *   flock           nobody asks for it           nobody asks for it      ends with the client
 *   F_SETLEASE      refused: the file is         refused: not a file     refused: the file is
 *                   uncored's, and written       of a file system        uncored's, and written
 *   F_SETOWN        no signal is ever sent: none of these types sends one
 *   F_NOTIFY        refused: not a directory
 *
 * The reading of WIRE_READING is a memfd of its own, which uncored closes when it has sent it. The
 * service manager has the descriptions that uncored has, so it has none that a client got.
 */
#pragma once

#include "common/wire.h"
#include "daemon/serve/peer.h"

/* Answers @request, with a refusal if it cannot be granted. Negative errno: the peer must go. */
int requests_answer(struct peer *peer, const union wire_message *request);

/* --- tables of teams: struct wire_team --- */

/* Does @request only LOOK or FORGET, or ask for a last reading? A client may send such a request
 * before HELLO, and even if the policy refuses the client. */
bool team_requests_is_collecting(const union wire_message *request);

/* Answers @request, as requests_answer(). */
int team_requests_answer(struct peer *peer, const union wire_message *request);

/* Drops tables that ended long ago or take too much memory: now, and from then on every
 * TEAMS_LOOK_S or sooner, while there are any. Errors of sd_event_add_time(3). */
int team_requests_watch(struct server *server);
