/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/jsonwriter.h"

#include <errno.h>
#include <json-c/json.h>
#include <locale.h>
#include <math.h>

#include "common/macro.h"
#include "tests/harness/test.h"

static char *write_document(bool pretty)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;
	char *text;

	assert_int_equal(jsonwriter_init(&json, pretty), 0);
	jsonwriter_object(&json, NULL);
	jsonwriter_text(&json, "name", "a/b");
	jsonwriter_text(&json, "rank", NULL);
	jsonwriter_array(&json, "none");
	jsonwriter_close(&json);
	jsonwriter_array(&json, "list");
	jsonwriter_number(&json, NULL, UINT64_MAX);
	jsonwriter_object(&json, NULL);
	jsonwriter_close(&json);
	jsonwriter_close(&json);
	jsonwriter_number(&json, "last", 0);
	jsonwriter_close(&json);
	assert_int_equal(jsonwriter_finish(&json, &text), 0);
	return text;
}

CASE("a document in one line has no space")
{
	_cleanup_free_ char *text = write_document(false);

	assert_string_equal(text, "{\"name\":\"a/b\",\"rank\":null,\"none\":[],"
				  "\"list\":[18446744073709551615,{}],\"last\":0}");
}

CASE("a document for human readers has a line for each member")
{
	_cleanup_free_ char *text = write_document(true);

	assert_string_equal(text, "{\n"
				  "  \"name\":\"a/b\",\n"
				  "  \"rank\":null,\n"
				  "  \"none\":[],\n"
				  "  \"list\":[\n"
				  "    18446744073709551615,\n"
				  "    {}\n"
				  "  ],\n"
				  "  \"last\":0\n"
				  "}");
}

static char *write_text(const char *text)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;
	char *written;

	assert_int_equal(jsonwriter_init(&json, false), 0);
	jsonwriter_text(&json, NULL, text);
	assert_int_equal(jsonwriter_finish(&json, &written), 0);
	return written;
}

static void expect(const char *text, const char *written)
{
	_cleanup_free_ char *found = write_text(text);

	assert_string_equal(found, written);
}

static void expect_real(double number, const char *written)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;
	_cleanup_free_ char *found = NULL;

	assert_int_equal(jsonwriter_init(&json, false), 0);
	jsonwriter_real(&json, NULL, number);
	assert_int_equal(jsonwriter_finish(&json, &found), 0);
	assert_string_equal(found, written);
}

CASE("real numbers come back the same in any locale")
{
	static const char *const locales[] = { "C", "de_DE.UTF-8", "fa_IR.UTF-8", "ps_AF.UTF-8" };

	for (size_t i = 0; i < ARRAY_SIZE(locales); i++) {
		if (!setlocale(LC_NUMERIC, locales[i]))
			continue; /* not installed here */
		expect_real(0, "0");
		expect_real(0.1, "0.1");
		expect_real(-2.5, "-2.5");
		expect_real(1.0 / 3, "0.3333333333333333");
		expect_real(1e300, "1e+300");
		expect_real(2251799813685249.5, "2251799813685249.5");
		expect_real(NAN, "null");
		expect_real(-INFINITY, "null");
	}
	setlocale(LC_NUMERIC, "C");
}

CASE("numbers may have a sign, and flags are words")
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;
	_cleanup_free_ char *found = NULL;

	assert_int_equal(jsonwriter_init(&json, false), 0);
	jsonwriter_array(&json, NULL);
	jsonwriter_signed(&json, NULL, INT64_MIN);
	jsonwriter_flag(&json, NULL, true);
	jsonwriter_flag(&json, NULL, false);
	jsonwriter_close(&json);
	assert_int_equal(jsonwriter_finish(&json, &found), 0);
	assert_string_equal(found, "[-9223372036854775808,true,false]");
}

CASE("texts are escaped")
{
	expect("", "\"\"");
	expect("\"\\/", "\"\\\"\\\\/\"");
	expect("\b\f\n\r\t\1\x1f\x7f", "\"\\b\\f\\n\\r\\t\\u0001\\u001f\\u007f\"");
	expect("\xc2\x80\xc2\x9f\xc2\xa0", "\"\\u0080\\u009f\xc2\xa0\"");
	expect("a\u202eb\u2028", "\"a\\u202eb\\u2028\"");
	expect("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

CASE("bytes that are not UTF-8 are replaced")
{
	expect("\xff", "\"\\ufffd\"");
	expect("\xc3", "\"\\ufffd\"");                       /* cut */
	expect("\xc2", "\"\\ufffd\"");                       /* cut where C1 could follow */
	expect("\xe2\x82", "\"\\ufffd\\ufffd\"");            /* cut */
	expect("\xc0\x80", "\"\\ufffd\\ufffd\"");            /* longer than needed */
	expect("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\""); /* half of a pair */
	expect("a\x80z", "\"a\\ufffdz\"");
}

/* Writes valid characters of all lengths, and reads them with another JSON library. */
CASE("a reader gets back what was written")
{
	struct json_object *read;

	for (uint32_t c = 1; c < 0x110000; c += c < 0x900 ? 1 : 0x35) {
		char text[5] = "";
		_cleanup_free_ char *written = NULL;

		if (c >= 0xd800 && c < 0xe000)
			continue;
		if (c < 0x80) {
			text[0] = (char)c;
		} else if (c < 0x800) {
			text[0] = (char)(0xc0 | c >> 6);
			text[1] = (char)(0x80 | (c & 0x3f));
		} else if (c < 0x10000) {
			text[0] = (char)(0xe0 | c >> 12);
			text[1] = (char)(0x80 | (c >> 6 & 0x3f));
			text[2] = (char)(0x80 | (c & 0x3f));
		} else {
			text[0] = (char)(0xf0 | c >> 18);
			text[1] = (char)(0x80 | (c >> 12 & 0x3f));
			text[2] = (char)(0x80 | (c >> 6 & 0x3f));
			text[3] = (char)(0x80 | (c & 0x3f));
		}
		written = write_text(text);
		read = json_tokener_parse(written);
		assert_non_null(read);
		assert_string_equal(json_object_get_string(read), text);
		json_object_put(read);
	}
}

CASE("without memory there is no document")
{
	struct jsonwriter json = { .out = NULL };
	char *text = NULL;

	jsonwriter_object(&json, NULL);
	jsonwriter_number(&json, "n", 1);
	jsonwriter_text(&json, "t", "x");
	jsonwriter_close(&json);
	assert_int_equal(jsonwriter_finish(&json, &text), -ENOMEM);
	assert_null(text);
	jsonwriter_done(&json);
}
