/* SPDX-License-Identifier: BSD-3-Clause */
/* What counts as a number, and where it ends. */
#include <math.h>

#include "common/number.h"

#include "common/macro.h"
#include "tests/harness/test.h"

CASE("digits are read up to what follows them")
{
	const char *text = "12-34";
	uint64_t number = 0;

	assert_ptr_equal(number_parse(text, 10, 99, &number), text + 2);
	assert_int_equal(number, 12);
	assert_string_equal(number_parse("0x1fg", 0, 99, &number), "g");
	assert_int_equal(number, 0x1f);
	assert_string_equal(number_parse("017", 0, 99, &number), "");
	assert_int_equal(number, 15);
	assert_string_equal(number_parse("017", 10, 99, &number), "");
	assert_int_equal(number, 17);
	assert_string_equal(number_parse("18446744073709551615", 10, UINT64_MAX, &number), "");
	assert_true(number == UINT64_MAX);
}

CASE("signs, blanks and numbers above the limit are refused")
{
	static const char *const texts[] = {
		"",
		"-1",
		"+1",
		" 1",
		"\t1",
		"x",
		"100",
		"18446744073709551616",
	};
	uint64_t number = 7;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_null(number_parse(texts[i], 10, 99, &number));
	assert_null(number_parse("a", 10, 99, &number));
	assert_int_equal(number, 7);
}

CASE("a whole text holds nothing else")
{
	uint64_t number = 7;

	assert_false(number_parse_whole("12 ", 10, 99, &number));
	assert_false(number_parse_whole("0x", 0, 99, &number));
	assert_false(number_parse_whole("1.5", 10, 99, &number));
	assert_false(number_parse_whole("", 10, 99, &number));
	assert_int_equal(number, 7);
	assert_true(number_parse_whole("ff", 16, 255, &number));
	assert_int_equal(number, 255);
}

CASE("a range has two ends")
{
	uint64_t first = 7, last = 7;

	assert_string_equal(number_parse_range("0-7,9", 63, &first, &last), ",9");
	assert_true(first == 0 && last == 7);
	assert_string_equal(number_parse_range("9", 63, &first, &last), "");
	assert_true(first == 9 && last == 9);
	assert_null(number_parse_range("3-", 63, &first, &last));
	assert_null(number_parse_range("3-2", 63, &first, &last));
	assert_null(number_parse_range("3-64", 63, &first, &last));
	assert_null(number_parse_range("-3", 63, &first, &last));
	assert_true(first == 9 && last == 9);
}

CASE("a percentage may have a point")
{
	static const char *const refused[] = { "", ".5", "5.", "-1", "+1", "1e1", "1.5 ", "101",
		"0.1000000", "1.-5", "1,5" };
	double number = 7;

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++)
		assert_false(number_parse_decimal(refused[i], 100, &number));
	assert_true(number == 7);
	assert_true(number_parse_decimal("12", 100, &number) && number == 12);
	assert_true(number_parse_decimal("0.25", 100, &number) && fabs(number - 0.25) < 1e-12);
	assert_true(number_parse_decimal("3.05", 100, &number) && fabs(number - 3.05) < 1e-12);
}
