/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Stretches of a region: from the first member in to the last one out. Only these two take a
 * reading. Its bytes count once, for all members together.
 *
 * A region's word names its *holder*, a member that is inside (0: the region is closed), and its
 * record, with a sequence number that each change raises.
 *
 * - Entering: a member first writes into its own cell that it is inside, then looks at the word. If
 *   the holder is inside, the region is open, and the member writes nothing that others read.
 * - Leaving: a member first writes into its own cell that it is outside, then looks at the word. If
 *   somebody else is the holder, that is all. The holder looks for another member that is inside
 *   and makes it the holder; if there is none, it marks the word as closing, takes a reading and
 *   closes the region. A member that enters meanwhile takes the place of the holder, which changes
 *   the word; a reading that was taken before is not used then.
 *
 * Either the one that enters sees the holder leave, or the holder sees it inside: both write before
 * they look (Dekker). A holder that is found outside is one that leaves: whoever finds it, takes
 * its place.
 *
 * Nothing is locked, so a member that is stopped or killed at any place keeps nobody waiting and
 * spoils nothing. A record is never changed in place: a member writes its own spare record whole,
 * and a single compare-and-swap of the word puts it in place of the former one, which becomes the
 * member's spare. A reader copies a record and then looks whether the word is the same.
 *
 * Whoever takes a reading also adds to every other open region what moved since its last reading.
 * So what is in the table is exact at any time, but for the time since the last reading.
 */
#pragma once

#include "client/region/member.h"
#include "client/region/reading.h"

/* Copies the region's present record. False: it has none, or another program overwrites the
 * region's word all the time. */
bool stretch_copy_record(const struct table *table, unsigned region, struct table_record *ret);

/* Is the region open and held by a member that is inside? */
bool stretch_is_held(const struct table *table, unsigned region);

/*
 * The member, whose cell says that it is inside, opens the region unless it is open. 0; errors of
 * meter_read(); -ENOSPC: the table has no record left; -EBADMSG: another program overwrites it.
 */
int stretch_enter(struct member *member, unsigned region, struct reading *reading);

/*
 * The member's cell says since now that it is outside: it closes the region if it held it, or a
 * dead member did, and nobody else is inside. 0; errors of meter_read(), -ESTALE, -ENOSPC: the
 * region is closed, without what moved since its last reading; -EBADMSG: another program overwrites
 * the table.
 */
int stretch_leave(struct member *member, unsigned region, struct reading *reading);

/* Marks the region's holder if it has died. One system call. */
void stretch_check_holder(const struct member *member, unsigned region);

/* As stretch_leave(), without a reading: of the time since the last one nothing is known. */
void stretch_abandon(struct member *member, unsigned region);

/* Adds @reading, if it was taken, to all regions that are open, but @except. @except_was_open:
 * until that reading. */
void stretch_advance_others(struct member *member, unsigned except, const struct reading *reading,
	bool except_was_open);
enum { STRETCH_ALL = UINT32_MAX }; /* no exception */

/* Gives the regions that died members held to others, or closes them as they were last read. */
void stretch_settle_dead(struct member *member);

/* For a member that has just joined: the same with those that the former owner of its slot held. */
void stretch_settle_former(struct member *member);
