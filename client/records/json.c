/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/json.h"

#include "common/jsonwriter.h"

const struct json_value *json_document_take(struct json_document *ret, char *text)
{
	*ret = (struct json_document){ .text = text };
	return text && json_text_parse(text, &ret->json) == 0 ? ret->json.values : NULL;
}

void json_document_done(struct json_document *document)
{
	json_text_done(&document->json);
	free(document->text);
}

int json_width(const struct json_value *list, const char *key, int least)
{
	JSON_EACH (list, object) {
		const int n = (int)strlen(json_text(object, key, ""));

		least = n > least ? n : least;
	}
	return least;
}

static bool are_equal_inside(const struct json_value *a, const struct json_value *b)
{
	const bool is_object = a->kind == JSON_OBJECT;
	const struct json_value *other = NULL;

	JSON_EACH (a, at) {
		other = is_object ? json_value_member(b, at->at) : json_next(b, other);
		if (!json_is_equal(is_object ? at + 1 : at, other))
			return false;
	}
	return true;
}

bool json_is_equal(const struct json_value *a, const struct json_value *b)
{
	const enum json_kind kind = json_value_kind(a);

	if (kind != json_value_kind(b))
		return false;
	if (kind <= JSON_NULL)
		return true;
	if (kind == JSON_REAL)
		return json_double(a) == json_double(b);
	if (kind >= JSON_TEXT)
		return strcmp(a->at, b->at) == 0;
	return a->n_inside == b->n_inside && are_equal_inside(a, b);
}

void json_copy(struct jsonwriter *json, const char *key, const struct json_value *value,
	void (*add)(struct jsonwriter *json, const struct json_value *object))
{
	const bool is_object = value->kind == JSON_OBJECT;

	if (value->kind == JSON_TEXT) {
		jsonwriter_text(json, key, value->at);
		return;
	}
	if (!is_object && value->kind != JSON_LIST) {
		jsonwriter_digits(json, key, value->kind == JSON_NULL ? "null" : value->at);
		return;
	}
	(is_object ? jsonwriter_object : jsonwriter_array)(json, key);
	JSON_EACH (value, at)
		json_copy(json, is_object ? at->at : NULL, is_object ? at + 1 : at, add);
	if (is_object && add)
		add(json, value);
	jsonwriter_close(json);
}
