/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Edges of the time in which a region is open: the first member comes in, the last one leaves. To
 * know them, each region names its *holder*, a member that was inside. While it is, nothing is
 * written that others read. Without one, who comes first would look at all members, whose cells are
 * pages apart: 18 us of 128 members. A wrong answer, as of members that come and go at the same
 * moment, costs a reading or the sharpness of an interval, and no sum is wrong.
 */
#pragma once

#include "client/region/table.h"

/* A thread of this member comes into the region: is nobody inside? */
bool edge_is_first(struct table *table, unsigned slot, unsigned region);

/* The last thread of this member is about to leave: is no other member inside? */
bool edge_is_last(struct table *table, unsigned slot, unsigned region);
