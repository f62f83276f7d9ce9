/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Intervals of a team, and what of them belongs to a region.
 *
 * A reading ends an interval and begins the next one. Intervals belong to the team. On each socket
 * each region has three sums:
 *
 * - *all*: the bytes of intervals in which it was open at any time;
 * - *share*: of each interval the part that its threads have of the time of all threads. A thread
 *   counts where it is innermost, and outside of all regions as outside;
 * - *alone*: its share of intervals in which no thread was in another region, and threads were
 *   outside for at most 1 % of the time. A region that ever had spans is never alone.
 *
 * So alone <= share <= all, and the shares of all regions and of outside add up to what the socket
 * moved, to the byte. What the threads of a region moved lies between alone and all.
 *
 * A reading takes time, and it or the next one counts what moves meanwhile. So who was in a region
 * at any time between the begin of the one reading and the end of the other was there in the
 * interval. Only the shares of time are counted between the middles.
 *
 * A member that has a reading *posts* it, and then one member *adds* all that wait. Nobody waits
 * for another member: who finds one adding goes on, and that one sees the post. Passages are not
 * read at one moment with the counters. But each cell says when its member came in and went out. So
 * an interval has what was open in it, whenever the cells are looked at.
 *
 * A member may be killed while it adds. An interval is complete in the table before anything is
 * added to sums, and sums say which interval they have. So the next member adds the rest.
 */
#pragma once

#include "client/reader/reader.h"
#include "client/region/member.h"

/* Adds an interval that ends with @readout, which was taken at a time between the last edge of each
 * of the member's threads and now. */
void interval_add(struct member *member, const struct readout *readout);

/* Before a report: waits, for ten seconds at most, until no reading waits to be added. */
void interval_finish(struct member *member);

/* When the last interval ended, or @since_ns if that is later. A thread that comes or goes, and has
 * been in the library since @since_ns, does so at this moment for the sums. */
uint64_t interval_edge_ns(const struct table *table, uint64_t since_ns);

/* Frees what the member used. */
void interval_done(struct member *member);
