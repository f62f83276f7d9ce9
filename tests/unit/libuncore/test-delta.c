/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <string.h>

#include "client/libuncore/uncore.h"
#include "tests/harness/test.h"

/* Two sweeps of one socket: 100 to 140 ns and 1100 to 1160 ns. */
struct pair {
	struct uncore_sample from, to;
	struct uncore_delta delta;
};

static struct pair make_pair(void)
{
	struct pair p = {
		.from = UNCORE_SAMPLE_INIT, .to = UNCORE_SAMPLE_INIT, .delta = UNCORE_DELTA_INIT
	};

	p.from.socket = p.to.socket = 1;
	p.from.n_values = p.to.n_values = 2;
	p.from.generation[0] = p.to.generation[0] = 11;
	p.from.generation[1] = p.to.generation[1] = 12;
	p.from.sweep = 5;
	p.from.begin_ns = 100;
	p.from.end_ns = 140;
	p.to.sweep = 9;
	p.to.begin_ns = 1100;
	p.to.end_ns = 1160;
	p.from.values[0].count = 1000;
	p.to.values[0].count = 1500;
	return p;
}

static int subtract(struct pair *p)
{
	return uncore_delta(&p->from, &p->to, &p->delta);
}

CASE("window and skew are reckoned from the midpoints")
{
	struct pair p = make_pair();

	assert_int_equal(subtract(&p), 0);
	assert_int_equal(p.delta.socket, 1);
	assert_int_equal(p.delta.n_values, 2);
	assert_int_equal(p.delta.window_ns, 1130 - 120);
	assert_int_equal(p.delta.skew_ns, (40 + 60) / 2);
	assert_int_equal(p.delta.values[0].count, 500);
	assert_int_equal(p.delta.values[0].quality, 0);
}

CASE("the same sample twice gives nothing")
{
	struct pair p = make_pair();

	p.to = p.from;
	assert_int_equal(subtract(&p), 0);
	assert_int_equal(p.delta.window_ns, 0);
	assert_int_equal(p.delta.values[0].count, 0);
}

CASE("flags of both ends are kept")
{
	struct pair p = make_pair();

	p.from.values[0].quality = UNCORE_ESTIMATED;
	p.to.values[0].quality = UNCORE_UNCALIBRATED;
	assert_int_equal(subtract(&p), 0);
	assert_int_equal(p.delta.values[0].quality, UNCORE_ESTIMATED | UNCORE_UNCALIBRATED);
}

CASE("flags raised between the sweeps are kept")
{
	struct pair p = make_pair();

	p.to.values[0].raised[0] = 5; /* raised in the first sweep, not between the two */
	p.to.values[0].raised[1] = 6;
	p.to.values[0].raised[2] = 4;
	p.to.values[0].raised[3] = 9;
	assert_int_equal(subtract(&p), 0);
	assert_int_equal(p.delta.values[0].quality, UNCORE_PARTIAL | UNCORE_RESET);
}

CASE("absent at either end is absent, with its reason")
{
	struct pair p = make_pair();

	p.to.values[0].quality = UNCORE_ABSENT;
	p.to.values[0].why = 3;
	p.from.values[1].quality = UNCORE_ABSENT;
	p.from.values[1].why = 4;
	assert_int_equal(subtract(&p), 0);
	assert_int_equal(p.delta.values[0].quality, UNCORE_ABSENT);
	assert_int_equal(p.delta.values[0].why, 3);
	assert_int_equal(p.delta.values[0].count, 0);
	assert_int_equal(p.delta.values[1].quality, UNCORE_ABSENT);
	assert_int_equal(p.delta.values[1].why, 4);
}

CASE("a count that went back is flagged, and not huge")
{
	struct pair p = make_pair();

	p.to.values[0].count = 999;
	assert_int_equal(subtract(&p), 0);
	assert_int_equal(p.delta.values[0].count, 0);
	assert_int_equal(p.delta.values[0].quality, UNCORE_RESET);
}

CASE("a count past half of 64 bits is exact")
{
	struct pair p = make_pair();

	p.from.values[0].count = 1;
	p.to.values[0].count = UINT64_MAX;
	assert_int_equal(subtract(&p), 0);
	assert_int_equal(p.delta.values[0].count, UINT64_MAX - 1);
}

CASE("another generation is stale")
{
	struct pair p = make_pair();

	p.to.generation[1]++;
	assert_int_equal(subtract(&p), -ESTALE);
	assert_string_not_equal(uncore_error_text(), "");
	p.to.sweep = 1; /* a new daemon counts its sweeps anew: that is not the reason */
	assert_int_equal(subtract(&p), -ESTALE);
}

CASE("samples that cannot be subtracted are refused")
{
	struct pair p = make_pair();

	p.to.socket = 0;
	assert_int_equal(subtract(&p), -EINVAL);
	p = make_pair();
	p.to.sweep = 4;
	assert_int_equal(subtract(&p), -EINVAL);
	p = make_pair();
	p.to.n_values = 1;
	assert_int_equal(subtract(&p), -EINVAL);
	p = make_pair();
	p.to.n_values = p.from.n_values = UNCORE_METRICS_MAX + 1;
	assert_int_equal(subtract(&p), -EINVAL);
	p = make_pair();
	p.from = (struct uncore_sample)UNCORE_SAMPLE_INIT;
	assert_int_equal(subtract(&p), -EINVAL);
}

CASE("wrong sizes are refused and nothing is touched")
{
	struct pair p = make_pair();
	struct uncore_delta untouched;

	memset(&untouched, 0x55, sizeof untouched);
	p.delta = untouched;
	assert_int_equal(subtract(&p), -EINVAL);
	p.delta.size = untouched.size = sizeof p.delta;
	p.from.size = 0;
	assert_int_equal(subtract(&p), -EINVAL);
	p.from.size = sizeof p.from;
	p.to.size--;
	assert_int_equal(subtract(&p), -EINVAL);
	assert_memory_equal(&p.delta, &untouched, sizeof untouched);
	assert_int_equal(uncore_delta(NULL, &p.to, &p.delta), -EINVAL);
	assert_int_equal(uncore_delta(&p.from, NULL, &p.delta), -EINVAL);
	p = make_pair();
	assert_int_equal(uncore_delta(&p.from, &p.to, NULL), -EINVAL);
}

CASE("quality has words")
{
	char words[128];

	assert_int_equal(uncore_quality_words(0, words, sizeof words), 0);
	assert_string_equal(words, "");
	assert_int_equal(uncore_quality_words(0x4000003f, words, sizeof words), 58);
	assert_string_equal(words, "estimated,partial,frozen,reset,uncalibrated,standin,absent");
}

/* A flag of a later uncored: a value with a caveat must not look like a value without. */
CASE("a flag of a later release is unknown")
{
	char words[128];

	assert_int_equal(uncore_quality_words(1 << 6, words, sizeof words), 7);
	assert_string_equal(words, "unknown");
	assert_int_equal(uncore_quality_words(0xffffffff, words, sizeof words), 66);
	assert_string_equal(
		words, "estimated,partial,frozen,reset,uncalibrated,standin,absent,unknown");
}

CASE("quality words never overrun their buffer")
{
	char words[8] = "xxxxxxx";

	assert_int_equal(uncore_quality_words(UNCORE_ESTIMATED, words, 4), 9);
	assert_string_equal(words, "est");
	assert_int_equal(words[4], 'x');
	assert_int_equal(uncore_quality_words(UNCORE_ESTIMATED, NULL, 0), 9);
}
