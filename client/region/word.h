/* SPDX-License-Identifier: BSD-3-Clause */
/* The word of a region: its record and its holder; see stretch.h. */
#pragma once

#include "client/region/table.h"

enum { WORD_CLOSING = 0x8000, WORD_IDLE = 0x4000 };

struct word {
	uint64_t raw;    /* includes a sequence number, which each change increments */
	unsigned record; /* 0: none */
	unsigned holder; /* slot + 1; 0: the region is closed */
	bool is_closing; /* the holder found no member inside, and takes the last reading */
	bool is_idle;    /* no member is inside, and a window goes on */
};

/* Reads the word. Numbers out of range count as 0. */
static inline struct word word_of(const struct table *table, unsigned region)
{
	uint64_t raw = __atomic_load_n(&table->regions[region].word, __ATOMIC_SEQ_CST);
	unsigned record = raw >> 16 & 0xffff, holder = raw & 0x3fff;

	return (struct word){
		.raw = raw,
		.record = record < TABLE_RECORDS ? record : 0,
		.holder = holder <= TABLE_MEMBERS_MAX ? holder : 0,
		.is_closing = raw & WORD_CLOSING,
		.is_idle = raw & WORD_IDLE,
	};
}

/* Replaces the word. False: it has changed meanwhile. */
static inline bool word_change(
	struct table *table, unsigned region, const struct word *from, const struct word *to)
{
	uint64_t before = from->raw, sequence = (from->raw >> 32) + 1;

	return __atomic_compare_exchange_n(&table->regions[region].word, &before,
		sequence << 32 | to->record << 16 | (to->is_closing ? WORD_CLOSING : 0) |
			(to->is_idle ? WORD_IDLE : 0) | to->holder,
		false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
