/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/count/tally.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const tally_texts[TALLY_TEXTS] = {
	[TALLY_TEXT_NONE] = "",
	[TALLY_TEXT_UNREADABLE] = "none of its counters could be read in this sweep",
	[TALLY_TEXT_CONTRADICTION] = "its counters contradict each other: the subtracted ones are "
				     "larger than the rest",
	[TALLY_TEXT_MORE] = "uncore info says why; the shared page has no room for the reason",
	[TALLY_TEXT_QUANTUM] = "the site rounds values down to multiples of some bytes (quantum in "
			       "uncored.conf), and this value is not in bytes",
};

static const uint32_t PASSING = PAGE_ESTIMATED | PAGE_PARTIAL | PAGE_FROZEN | PAGE_RESET;
static const uint32_t LASTING = PAGE_UNCALIBRATED | PAGE_STANDIN;

/* Terms of a difference are read one after the other, so they may be this far apart. */
static const uint64_t SLACK = 1 << 20;

/* The sums of a socket's boxes for one metric. */
struct box_sum {
	uint64_t added, subtracted;
	uint32_t quality;
	unsigned terms_used; /* bit per term: some box has it */
	unsigned terms_read; /* bit per term: some box of it could be read */
};

/* --- the quanta --- */

static uint32_t quantum_of(const struct tally_quanta *quanta, enum unit_quantum rounding)
{
	switch (rounding) {
	case UNIT_QUANTUM_BYTES:
		return quanta->bytes;
	case UNIT_QUANTUM_ENERGY:
		return quanta->energy;
	case UNIT_NO_QUANTUM:
		break;
	}
	return 1;
}

static bool hides(const struct tally_quanta *quanta, enum unit_quantum rounding)
{
	return quanta->bytes > 1 && quantum_of(quanta, rounding) <= 1;
}

static enum unit_quantum rounding_of(const struct plan *plan, unsigned metric)
{
	return unit_of(plan->platform->metrics[metric].unit)->quantum;
}

uint32_t tally_quantum(const struct plan *plan, unsigned metric, const struct tally_quanta *quanta)
{
	return quantum_of(quanta, rounding_of(plan, metric));
}

bool tally_hides(const struct plan *plan, unsigned metric, const struct tally_quanta *quanta)
{
	return hides(quanta, rounding_of(plan, metric));
}

static bool is_hidden(const struct tally *tally, unsigned metric)
{
	return hides(&tally->quanta, tally->rounding[metric]);
}

static void note_units(struct tally *tally, const struct plan *plan)
{
	for (unsigned m = 0; m < tally->n_metrics; m++)
		tally->rounding[m] = rounding_of(plan, m);
	for (unsigned c = 0; c < tally->n_channels; c++)
		tally->published[c].metric = plan->channels[tally->first_channel + c].metric;
}

int tally_init(struct tally *tally, const struct plan *plan, unsigned socket,
	const uint32_t whys[PAGE_METRICS_MAX])
{
	const struct plan_socket *s = &plan->sockets[socket];

	memset(tally, 0, sizeof *tally);
	tally->channels = calloc(s->n_channels + 1, sizeof *tally->channels);
	tally->published = calloc(s->n_channels + 1, sizeof *tally->published);
	if (!tally->channels || !tally->published) {
		tally_done(tally);
		return -ENOMEM;
	}
	tally->n_metrics = plan->platform->n_metrics;
	tally->n_channels = s->n_channels;
	tally->first_channel = s->first_channel;
	memcpy(tally->quality, s->quality, sizeof tally->quality);
	memcpy(tally->why, whys, sizeof tally->why);
	memcpy(tally->substituted_by, s->substituted_by, sizeof tally->substituted_by);
	note_units(tally, plan);
	return 0;
}

void tally_done(struct tally *tally)
{
	free(tally->channels);
	free(tally->published);
	tally->channels = NULL;
	tally->published = NULL;
}

void tally_resume(struct tally *tally, const struct page_sweep *last,
	const struct page_channel_value channels[])
{
	tally->sweep = *last;
	for (unsigned c = 0; c < tally->n_channels; c++)
		tally->published[c].count = channels[c].count;
}

static void tally_add_use(struct box_sum *sum, const struct box *box, const struct plan_use *use)
{
	uint64_t amount = scale_apply(use->scale, box->events[use->event].count);

	*(use->subtract ? &sum->subtracted : &sum->added) += amount;
	sum->quality |= box->quality;
	sum->terms_used |= 1u << use->term;
	if (box->error >= 0)
		sum->terms_read |= 1u << use->term;
}

/* A channel has the flags of its box only: it does not matter that the metric lacks other boxes. */
static void tally_add_channel(
	struct tally *tally, const struct box *box, const struct plan_use *use)
{
	struct page_channel_value *value =
		&tally->channels[use->channel - (int)tally->first_channel];

	value->count += scale_apply(use->scale, box->events[use->event].count);
	value->quality |= (tally->quality[use->metric] & LASTING) | box->quality;
	if (box->error < 0) {
		value->quality |= PAGE_ABSENT;
		value->why = TALLY_TEXT_UNREADABLE;
	}
}

static void raise_flags(struct page_value *value, uint32_t quality, uint64_t sweep)
{
	for (unsigned i = 0; i < PAGE_PASSING_MAX; i++)
		if (quality & 1u << i)
			value->raised[i] = sweep;
}

/* The cause of a difference this far below 0 is a wrong event or sign, not the order of reading. */
static bool contradicts_itself(const struct box_sum *sum)
{
	return sum->subtracted > sum->added &&
	       sum->subtracted - sum->added > SLACK + sum->added / 64;
}

/* Why there is no value in this sweep; TALLY_TEXT_NONE: there is one. */
static uint32_t tally_why_absent(
	const struct tally *tally, unsigned metric, const struct box_sum *sum)
{
	if (is_hidden(tally, metric))
		return TALLY_TEXT_QUANTUM;
	if (sum->terms_read != sum->terms_used)
		return TALLY_TEXT_UNREADABLE;
	return contradicts_itself(sum) ? TALLY_TEXT_CONTRADICTION : TALLY_TEXT_NONE;
}

/* The value of @metric to publish for @count, after @last was published. */
static uint64_t round_down(
	const struct tally *tally, unsigned metric, uint64_t count, uint64_t last)
{
	uint32_t quantum = quantum_of(&tally->quanta, tally->rounding[metric]);

	if (quantum > 1)
		count -= count % quantum;
	return (int64_t)(count - last) < 0 ? last : count;
}

static void settle(struct tally *tally, unsigned metric, struct box_sum sum)
{
	struct page_value *value = &tally->sweep.values[metric];
	uint32_t quality = tally->quality[metric];
	uint64_t count = sum.added - sum.subtracted;

	if (quality & PAGE_ABSENT) {
		*value = (struct page_value){ .quality = quality, .why = tally->why[metric] };
		return;
	}
	/* Terms are read one after the other, so a difference may decrease. A published value must
	 * not. */
	if (sum.subtracted && (int64_t)(count - value->count) < 0) {
		count = value->count;
		sum.quality |= PAGE_ESTIMATED;
	}
	raise_flags(value, sum.quality & PASSING, tally->sweep.number);
	value->quality = quality | sum.quality;
	value->why = tally_why_absent(tally, metric, &sum);
	if (value->why == TALLY_TEXT_NONE)
		value->count = round_down(tally, metric, count, value->count);
	else
		value->quality |= PAGE_ABSENT;
}

static void settle_channels(struct tally *tally)
{
	for (unsigned c = 0; c < tally->n_channels; c++) {
		struct page_channel_value *value = &tally->channels[c];
		struct tally_channel *last = &tally->published[c];

		if (is_hidden(tally, last->metric)) {
			value->quality |= PAGE_ABSENT;
			value->why = TALLY_TEXT_QUANTUM;
		} else {
			last->count = round_down(tally, last->metric, value->count, last->count);
		}
		value->count = last->count;
	}
}

void tally_sum(struct tally *tally, const struct box boxes[], unsigned n_boxes)
{
	struct box_sum sums[PAGE_METRICS_MAX] = {};

	memset(tally->channels, 0, tally->n_channels * sizeof *tally->channels);
	for (unsigned i = 0; i < n_boxes; i++) {
		const struct plan_box *plan = boxes[i].plan;

		for (unsigned k = 0; k < plan->n_uses; k++) {
			tally_add_use(&sums[plan->uses[k].metric], &boxes[i], &plan->uses[k]);
			if (plan->uses[k].channel != PLAN_NO_CHANNEL)
				tally_add_channel(tally, &boxes[i], &plan->uses[k]);
		}
	}
	for (unsigned m = 0; m < tally->n_metrics; m++)
		settle(tally, m,
			sums[tally->substituted_by[m] ? tally->substituted_by[m] - 1U : m]);
	settle_channels(tally);
}

/* The boxes that a metric has on a socket, and those that are open. */
struct census {
	unsigned n_boxes, n_open;
	unsigned terms, terms_open; /* bit per term: some box, or some open box, has it */
	const struct box *refused;  /* the first refused box, to name it */
};

static struct census take_census(
	const struct plan *plan, const struct box boxes[], unsigned socket, unsigned metric)
{
	const struct plan_socket *s = &plan->sockets[socket];
	struct census census = {};

	for (unsigned i = s->first_box; i < s->first_box + s->n_boxes; i++)
		for (unsigned k = 0; k < plan->boxes[i].n_uses; k++) {
			const struct plan_use *use = &plan->boxes[i].uses[k];

			if (use->metric != metric)
				continue;
			census.n_boxes++;
			census.terms |= 1u << use->term;
			/* A box that was open in this generation may count again; the sweeps set
			 * its flags. */
			if (boxes[i].error >= 0 || boxes[i].reopened) {
				census.n_open++;
				census.terms_open |= 1u << use->term;
			} else if (!census.refused) {
				census.refused = &boxes[i];
			}
		}
	return census;
}

static void note_refusal(struct plan_socket *socket, unsigned metric, const struct census *census)
{
	const struct box *first = census->refused;

	socket->quality[metric] |= census->terms == census->terms_open ? PAGE_PARTIAL : PAGE_ABSENT;
	snprintf(socket->why[metric], PAGE_TEXT_MAX,
		"the kernel refused to open %u of %u boxes, the first %.40s on CPU %d: %s",
		census->n_boxes - census->n_open, census->n_boxes, first->plan->pmu,
		first->plan->cpu, strerror(-first->error));
}

void tally_note_refusals(struct plan *plan, const struct box boxes[])
{
	for (unsigned s = 0; s < plan->n_sockets; s++)
		for (unsigned m = 0; m < plan->platform->n_metrics; m++) {
			struct census census = take_census(plan, boxes, s, m);

			if (census.refused)
				note_refusal(&plan->sockets[s], m, &census);
		}
}
