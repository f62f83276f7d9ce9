/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stretches of a region. A stretch lasts from the first member in to the last one out. Only these
 * two take a reading. Its bytes count once, for all members together.
 *
 * A region's word names its *holder*, a member that is inside (0: the region is closed), and its
 * record. It has a sequence number, which each change increments.
 *
 * - Entering: a member first writes into its own cell that it is inside, then reads the word. If
 *   the holder is inside, the region is open, and the member writes nothing that others read.
 * - Leaving: a member first writes into its own cell that it is outside, then reads the word. If
 *   another member is the holder, nothing else is to be done. The holder looks for another member
 *   that is inside and makes it the holder. If there is none, it marks the word as closing, takes a
 *   reading and closes the region. A member that enters meanwhile becomes the holder, which changes
 *   the word. A reading from before that change is then not used.
 *
 * Both write before they read (Dekker), so either the entering member sees that the holder leaves,
 * or the holder sees that the member is inside. A holder that is outside is about to leave: any
 * member that finds it so takes over its role.
 *
 * A region with short stretches is read in windows (window.h). There the last member out marks the
 * word as idle, without a reading. The holder stays, and so does the record. The next member in
 * becomes the holder, and the record goes on. Any reading adds to idle regions, too.
 *
 * There is no lock. So a member that is stopped or killed at any point blocks no other member and
 * corrupts nothing. A record is never changed in place. A member writes the whole record into its
 * own spare record. A single compare-and-swap of the word then makes it the region's record, and
 * the former record becomes the member's spare. A reader copies a record and then checks that the
 * word has not changed.
 *
 * A member that takes a reading also adds to every other open region what moved since that region's
 * last reading. So the table is exact up to the last reading.
 */
#pragma once

#include "client/region/member.h"
#include "client/region/reading.h"

/* Is the region open, with a holder that is inside? */
bool stretch_is_held(const struct table *table, unsigned region);

/* Is @member the holder, inside or about to leave, and no window goes on? */
bool stretch_is_held_by(const struct member *member, unsigned region);

/*
 * May the member enter? Whether the program closed the descriptor is asked where a reading is due
 * anyway, because the system call takes longer than all the rest of a passage inside a window. 0;
 * -EBADF.
 */
int stretch_check_member(const struct member *member, unsigned region);

/*
 * Opens the region unless it is open. The member's cell already says that it is inside. 0; errors
 * of meter_read(); -ENOSPC: the table has no record left; -EBADMSG: another program overwrites it.
 */
int stretch_enter(struct member *member, unsigned region, uint64_t now_ns, struct reading *reading);

/*
 * Closes the region if the member or a dead member held it, and no other member is inside. The
 * member's cell already says that it is outside. 0; errors of meter_read(), -ESTALE, -ENOSPC: the
 * region is closed, without what moved since its last reading; -EBADMSG: another program overwrites
 * the table.
 */
int stretch_leave(struct member *member, unsigned region, uint64_t now_ns, struct reading *reading);

/* Marks the region's holder if it has died. One system call. */
void stretch_check_holder(const struct member *member, unsigned region);

/* As stretch_leave(), without a reading: the traffic since the last reading is lost. */
void stretch_abandon(struct member *member, unsigned region);

/* Adds @reading, if it was taken, to all open regions but @except. */
void stretch_advance_others(struct member *member, unsigned except, const struct reading *reading);
/* What was moved in windows since the last reading is not known: counts their time as lost. */
void stretch_lose_windows(struct member *member);

enum { STRETCH_ALL = UINT32_MAX }; /* no exception */

/*
 * Passes the regions of dead holders on to others, or closes them: with @reading, which was taken
 * after these were marked as dead, or as of their last reading if it is NULL. Returns how many it
 * found.
 */
unsigned stretch_settle_dead(struct member *member, struct reading *reading);

/* Has the region been open since its last reading? */
bool stretch_is_unread(const struct table *table, unsigned region);

/* For a new member: does the same for the regions that the former owner of its slot held. */
void stretch_settle_former(struct member *member);
