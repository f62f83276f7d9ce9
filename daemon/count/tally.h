/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns the counts of one socket's boxes into the published values: sums and differences of what
 * the counts are worth, and their flags.
 *
 * Values are rounded down to the site's quantum for their unit. A metric is absent
 * while the quantum in bytes is set, if its unit has no quantum, or the site has not set the
 * quantum of its unit. Published values never decrease, not even when the quantum grows.
 *
 * A metric is absent if no box of one of its terms could be read: a sum without a summand is wrong,
 * not partial. A metric is partial if a term lost some of its boxes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/page.h"
#include "common/unit.h"
#include "daemon/count/box.h"
#include "daemon/plan/plan.h"

/* Indices of the texts that are in every page, as long as LEDGER_VERSION stays: tally_texts has the
 * texts. */
enum {
	TALLY_TEXT_NONE,
	TALLY_TEXT_UNREADABLE,
	TALLY_TEXT_CONTRADICTION, /* the subtracted terms are larger than the rest */
	TALLY_TEXT_MORE,          /* the page has no room for the reason */
	TALLY_TEXT_QUANTUM,       /* the unit has no quantum */
	TALLY_TEXTS
};
extern const char *const tally_texts[TALLY_TEXTS];

/* The last published count of a channel. */
struct tally_channel {
	uint64_t count;
	unsigned metric;
};

/* What values are rounded down to; up to 1: they are exact. */
struct tally_quanta {
	uint32_t bytes;
	uint32_t energy; /* nJ */
};

struct tally {
	unsigned n_metrics, n_channels;
	struct tally_quanta quanta; /* they may change between two sums */
	enum unit_quantum rounding[PAGE_METRICS_MAX];
	uint32_t quality[PAGE_METRICS_MAX];       /* flags that never change */
	uint32_t why[PAGE_METRICS_MAX];           /* texts of always absent metrics */
	uint8_t substituted_by[PAGE_METRICS_MAX]; /* as in the plan */
	unsigned first_channel;
	struct page_sweep sweep;
	struct page_channel_value *channels; /* of this socket; owned */
	struct tally_channel *published;     /* of this socket; owned */
};

/* What @metric of @plan is rounded down to. */
uint32_t tally_quantum(const struct plan *plan, unsigned metric, const struct tally_quanta *quanta);

/*
 * Is @metric of @plan absent while values in bytes are rounded down, because its unit has no
 * quantum, or the site has not set the quantum of its unit? An unrounded value would reveal what
 * the site hides.
 */
bool tally_hides(const struct plan *plan, unsigned metric, const struct tally_quanta *quanta);

/* @whys: index of the page's text for each metric of @socket. 0, -ENOMEM. */
int tally_init(struct tally *tally, const struct plan *plan, unsigned socket,
	const uint32_t whys[PAGE_METRICS_MAX]);

/*
 * Continues from the @last sweep of this socket, and from the @channels that the page already
 * shows: no published value ever decreases.
 */
void tally_resume(struct tally *tally, const struct page_sweep *last,
	const struct page_channel_value channels[]);

/* Computes .sweep.values and .channels from the @n_boxes boxes. .sweep.number is the number of this
 * sweep. */
void tally_sum(struct tally *tally, const struct box boxes[], unsigned n_boxes);

/* The result to publish; borrowed. */
static inline struct page_result tally_result(const struct tally *tally)
{
	return (struct page_result){ &tally->sweep, tally->n_metrics, tally->channels,
		tally->n_channels };
}

void tally_done(struct tally *tally);

/*
 * Notes in @plan which of the opened @boxes (parallel to plan->boxes) the kernel refused. Their
 * metrics become partial or absent, with the reason.
 */
void tally_note_refusals(struct plan *plan, const struct box boxes[]);
