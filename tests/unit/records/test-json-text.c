/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON as places in a text. tests/fuzz/fuzz-regions.c gives it anything. */
#include "client/records/json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/jsonwriter.h"
#include "common/macro.h"
#include "tests/harness/test.h"

static const struct json_value *member(const struct json_text *json, const char *key)
{
	const struct json_value *found = json_value_member(json->values, key);

	assert_non_null(found);
	return found;
}

CASE("values are places in the text")
{
	char text[] =
		" {\"a\": {\"b\": [1, 2.5, [], {}]}, \"c\" : \"x\\ty\\u20ac\\ud83d\\ude00\\ud800\","
		" \"d\":null,\"e\":true, \"f\":-1e3, \"a\":7}\n";
	_cleanup_(json_text_done) struct json_text json;

	assert_int_equal(json_text_parse(text, &json), 0);
	assert_int_equal(json.values->kind, JSON_OBJECT);
	assert_int_equal(json.values->n_inside, 6);
	assert_int_equal(json.values->n_values, json.n);
	assert_int_equal(member(&json, "a")->kind, JSON_WHOLE); /* the last one */
	assert_int_equal(member(&json, "d")->kind, JSON_NULL);
	assert_int_equal(member(&json, "e")->kind, JSON_FLAG);
	assert_int_equal(member(&json, "f")->kind, JSON_REAL);
	assert_null(json_value_member(json.values, "g"));
	assert_int_equal(member(&json, "c")->n_inside, 13);
	assert_string_equal(member(&json, "c")->at, "x\ty\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbd");
	assert_string_equal(member(&json, "a")->at, "7");
	assert_string_equal(member(&json, "e")->at, "true");
	assert_string_equal(member(&json, "f")->at, "-1e3");
}

CASE("what is not JSON is refused")
{
	static const char *const wrong[] = { "", " ", "{", "[1", "{\"a\"}", "{\"a\":}", "\"a",
		"nul", "null", "[1]x", "[\"\\x\"]", "[\"\\u12\"]", "[\"\\ud83d\\u12\"]", "[-]",
		"[1e]x", "{1:2}", "[}", "/* x */ {}", "{'a':1}", "[1,]", "[NaN]" };
	_cleanup_(json_text_done) struct json_text json = { .n = 0 };
	char deep[70] = "";

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		_cleanup_free_ char *text = strdup(wrong[i]);

		assert_int_equal(json_text_parse(text, &json), -EBADMSG);
		json_text_done(&json);
	}
	memset(deep, '[', 33);
	memset(deep + 33, ']', 33);
	assert_int_equal(json_text_parse(deep, &json), -EBADMSG);
	json_text_done(&json);
	assert_int_equal(json_text_parse(deep + 1, &json), -EBADMSG); /* one ] too many */
	json_text_done(&json);
	deep[65] = '\0';
	assert_int_equal(json_text_parse(deep + 1, &json), 0);
}

/* --- looking up --- */

CASE("what is missing, null or of another type is empty")
{
	_cleanup_(json_document_done) struct json_document document;
	const struct json_value *object =
		json_document_take(&document, strdup("{\"n\":-3,\"big\":18446744073709551615,"
						     "\"no\":null,\"text\":\"3\",\"r\":0.5}"));

	assert_int_equal(json_number(object, "n"), 0);
	assert_true(json_number(object, "big") == UINT64_MAX);
	assert_int_equal(json_number(object, "text"), 0);
	assert_false(json_has(object, "no"));
	assert_false(json_flag(object, "no"));
	assert_string_equal(json_text(object, "r", "?"), "0.5");
	assert_string_equal(json_text(object, "no", "?"), "?");
	assert_true(json_real(object, "r") == 0.5 && json_real(object, "n") == -3);
	assert_null(json_list(object, "text"));
	assert_null(json_member(json_list(NULL, "a"), "b"));
	assert_null(json_next(NULL, NULL));
}

static bool are_equal(const char *a, const char *b)
{
	_cleanup_(json_document_done) struct json_document one, other;
	const struct json_value *first = json_document_take(&one, strdup(a));

	return json_is_equal(first, json_document_take(&other, strdup(b)));
}

CASE("the order of members is nothing")
{
	assert_true(are_equal("{\"a\":[1,{}],\"b\":1.50}", "{\"b\":1.5, \"a\":[1,{}]}"));
	assert_false(are_equal("[1,2]", "[2,1]"));
	assert_false(are_equal("[1]", "[1,2]"));
	assert_false(are_equal("{\"a\":1}", "{\"b\":1}"));
	assert_false(are_equal("[\"1\"]", "[1]"));
}

static void add_count(struct jsonwriter *json, const struct json_value *object)
{
	jsonwriter_number(json, "count", object->n_inside);
}

CASE("a copy is the same")
{
	static const char text[] = "{\"a\":[1,-2.50,\"x\\n\\\"\",null,true,[]],\"b\":{}}";
	static const char more[] = "{\"a\":[1,-2.50,\"x\\n\\\"\",null,true,[]],\"b\":{\"count\":0},"
				   "\"count\":2}";
	_cleanup_(json_document_done) struct json_document document;
	const struct json_value *value = json_document_take(&document, strdup(text));

	for (int with = 0; with < 2; with++) {
		_cleanup_(jsonwriter_done) struct jsonwriter json;
		_cleanup_free_ char *copy = NULL;

		jsonwriter_init(&json, false);
		json_copy(&json, NULL, value, with ? add_count : NULL);
		assert_int_equal(jsonwriter_finish(&json, &copy), 0);
		assert_string_equal(copy, with ? more : text);
	}
}

/* Below other lists. */
CASE("the deepest text is copied")
{
	_cleanup_(json_document_done) struct json_document document;
	_cleanup_(jsonwriter_done) struct jsonwriter json;
	char deep[65] = "", *copy;

	memset(deep, '[', 32);
	memset(deep + 32, ']', 32);
	jsonwriter_init(&json, false);
	for (int i = 0; i < 3; i++)
		jsonwriter_array(&json, NULL);
	json_copy(&json, NULL, json_document_take(&document, strdup(deep)), NULL);
	for (int i = 0; i < 3; i++)
		jsonwriter_close(&json);
	assert_int_equal(jsonwriter_finish(&json, &copy), 0);
	assert_int_equal(strlen(copy), 70);
	free(copy);
}
