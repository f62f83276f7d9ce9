/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/plan/scale.h"

#include <errno.h>

#include "common/macro.h"
#include "tests/harness/test.h"

CASE("fractions are read and reduced")
{
	static const struct {
		const char *text, *reduced;
	} cases[] = {
		{ "64", "64" },
		{ "64/1", "64" },
		{ "64/9", "64/9" },
		{ "128/18", "64/9" },
		{ "4294967295", "4294967295" },
		{ "1/4294967295", "1/4294967295" },
		{ "1000000000/4294967296", "1953125/8388608" },
		{ "18446744073709551615/18446744073709551615", "1" },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++) {
		struct scale scale = { 7, 7 };
		char text[SCALE_TEXT_MAX];

		assert_int_equal(scale_parse(cases[i].text, &scale), 0);
		scale_text(scale, text);
		assert_string_equal(text, cases[i].reduced);
	}
}

CASE("what is not a fraction, or too large, is refused")
{
	static const char *const texts[] = { "", "0", "0/1", "1/0", "/", "1/", "/2", "1/2/3", "-1",
		"1/-2", " 1", "1 ", "1 / 2", "0x10", "1.5", "1e9", "18446744073709551616" };
	static const char *const large[] = { "4294967296", "1/4294967296", "4294967296/3",
		"18446744073709551614/4294967298" };
	struct scale scale = { 7, 7 };

	for (unsigned i = 0; i < ARRAY_SIZE(texts); i++)
		if (scale_parse(texts[i], &scale) != -EINVAL)
			fail_msg("\"%s\" is taken", texts[i]);
	for (unsigned i = 0; i < ARRAY_SIZE(large); i++)
		assert_int_equal(scale_parse(large[i], &scale), -ERANGE);
	assert_int_equal(scale.n, 7);
}

/* The quotients were computed with Python's whole numbers. */
CASE("a product of more than 64 bits is right")
{
	static const struct {
		struct scale scale;
		uint64_t count, worth;
	} cases[] = {
		{ { 64, 9 }, 0, 0 },
		{ { 64, 9 }, 1, 7 },
		{ { 64, 9 }, 9, 64 },
		{ { 1, 4294967295 }, 4294967294, 0 },
		{ { 1, 4294967295 }, UINT64_MAX, 4294967297 },
		{ { 1953125, 8388608 }, UINT64_MAX, 4294967295999999999 },
		{ { 4294967295, 4294967294 }, 4294967294, 4294967295 },
		{ { 4294967291, 4294967295 }, UINT64_MAX, UINT64_C(18446744056529682427) },
		{ { 64, 1 }, UINT64_C(1) << 60, 0 }, /* wraps, as totals do */
		{ { 65, 2 }, UINT64_C(1) << 63, UINT64_C(1) << 62 },
	};

	for (unsigned i = 0; i < ARRAY_SIZE(cases); i++)
		assert_true(scale_apply(cases[i].scale, cases[i].count) == cases[i].worth);
	assert_int_equal(scale_round_up((struct scale){ 64, 9 }), 8);
	assert_int_equal(scale_round_up((struct scale){ 64, 1 }), 64);
	assert_int_equal(scale_round_up((struct scale){ UINT32_MAX, UINT32_MAX }), 1);
}
