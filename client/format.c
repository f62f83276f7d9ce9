/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures as people and as programs read them. GB/s means 1e9 bytes per second. */
#include "client/format.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <math.h>
#include <string.h>

void format_count(uint64_t count, char ret_text[FORMAT_COUNT_MAX])
{
	char digits[21];
	int n = snprintf(digits, sizeof digits, "%" PRIu64, count);
	char *end = ret_text;

	for (int i = 0; i < n; i++) {
		if (i && (n - i) % 3 == 0)
			*end++ = ',';
		*end++ = digits[i];
	}
	*end = '\0';
}

void format_generation(const uint64_t generation[2], char ret_text[FORMAT_GENERATION_MAX])
{
	snprintf(ret_text, FORMAT_GENERATION_MAX, "%016" PRIx64 "%016" PRIx64, generation[0],
		generation[1]);
}

bool format_is_standin(const char *platform)
{
	return strcmp(platform, "standin") == 0;
}

void format_caveats(FILE *out, const char *platform, const char *who)
{
	fprintf(out, " Everything that each socket did is counted, not only %s.\n", who);
	if (format_is_standin(platform))
		fprintf(out, " STAND-IN: nothing here is memory traffic; these are kernel counters "
			     "for testing.\n");
}

static bool is_absent(const struct format_value *value)
{
	return value->quality & UNCORE_ABSENT;
}

static bool is_bytes(const struct format_value *value)
{
	return strcmp(value->unit, "bytes") == 0;
}

/* --- text --- */

double format_rate(uint64_t count, uint64_t window_ns)
{
	return window_ns ? (double)count / (double)window_ns : 0;
}

/* As a share of the count; where that is 0 and the spread is not, there is no such share. */
static void write_spread(FILE *out, const struct format_value *value)
{
	double share = value->count ? value->deviation / (double)value->count : 0;

	if (value->count || !(value->deviation > 0))
		fprintf(out, "  +- %6.2f %%", 100 * share);
	else
		fprintf(out, "%13s", "");
}

void format_row(FILE *out, const struct format_value *value, bool repeated)
{
	char count[FORMAT_COUNT_MAX], words[FORMAT_QUALITY_MAX];

	format_count(value->count, count);
	uncore_quality_words(value->quality, words, sizeof words);
	fprintf(out, "%-12s %22s", value->name, count);
	if (is_bytes(value))
		fprintf(out, " bytes %10.3f GB/s", value->rate);
	else
		fprintf(out, repeated || *words ? " %-21s" : " %s", value->unit);
	if (repeated)
		write_spread(out, value);
	fprintf(out, *words ? "  %s\n" : "\n", words);
}

bool format_is_check(const char *metric)
{
	return strncmp(metric, "check.", strlen("check.")) == 0;
}

static bool shares_reason(const struct format_value *a, const struct format_value *b)
{
	return is_absent(a) && is_absent(b) && !format_is_check(b->name) &&
	       strcmp(a->why, b->why) == 0;
}

/* One line per reason, with all metrics that share it. */
static void write_absent(FILE *out, const struct format_socket *socket)
{
	for (uint32_t i = 0; i < socket->n_values; i++) {
		const struct format_value *value = &socket->values[i];
		bool told = false;

		for (uint32_t k = 0; k < i; k++)
			told |= shares_reason(&socket->values[k], value);
		if (!is_absent(value) || told || format_is_check(value->name))
			continue;
		fprintf(out, "   absent: %s", value->name);
		for (uint32_t k = i + 1; k < socket->n_values; k++)
			if (shares_reason(&socket->values[k], value))
				fprintf(out, ", %s", socket->values[k].name);
		fprintf(out, " (%s)\n", value->why);
	}
}

static void write_window(FILE *out, const struct format_socket *socket)
{
	fprintf(out, "   window %.6f s", (double)socket->window_ns / 1e9);
	if (socket->window_ns)
		fprintf(out, ", error bound +- %.3g %% for steady traffic",
			100 * (double)socket->skew_ns / (double)socket->window_ns);
	fprintf(out, "\n");
}

void format_rows(FILE *out, const struct format_socket *socket)
{
	bool all = socket->socket == FORMAT_ALL_SOCKETS;

	if (all)
		fprintf(out, " all sockets\n");
	else
		fprintf(out, " socket %" PRIu32 "\n", socket->socket);
	for (uint32_t i = 0; i < socket->n_values; i++) {
		if (is_absent(&socket->values[i]) || format_is_check(socket->values[i].name))
			continue;
		fprintf(out, "   ");
		format_row(out, &socket->values[i], socket->repeated);
	}
	write_absent(out, socket);
	if (!all)
		write_window(out, socket);
	fprintf(out, "\n");
}

/* --- JSON --- */

static struct json_object *quality_json(uint32_t quality)
{
	struct json_object *list = json_object_new_array();
	char words[FORMAT_QUALITY_MAX];
	char *rest = words, *word;

	uncore_quality_words(quality, words, sizeof words);
	while ((word = strsep(&rest, ",")))
		if (*word)
			json_object_array_add(list, json_object_new_string(word));
	return list;
}

static struct json_object *value_json(const struct format_value *value, bool repeated)
{
	struct json_object *object = json_object_new_object();
	bool bytes = is_bytes(value);

	if (is_absent(value)) {
		json_object_object_add(object, "absent", json_object_new_string(value->why));
		return object;
	}
	json_object_object_add(
		object, bytes ? "bytes" : "value", json_object_new_uint64(value->count));
	if (!bytes)
		json_object_object_add(object, "unit", json_object_new_string(value->unit));
	if (repeated)
		json_object_object_add(object, bytes ? "bytes_stddev" : "value_stddev",
			json_object_new_int64(llround(value->deviation)));
	json_object_object_add(object, "quality", quality_json(value->quality));
	return object;
}

struct json_object *format_json(const struct format_socket *socket)
{
	struct json_object *object = json_object_new_object();
	struct json_object *metrics = json_object_new_object();

	for (uint32_t i = 0; i < socket->n_values; i++)
		json_object_object_add(metrics, socket->values[i].name,
			value_json(&socket->values[i], socket->repeated));
	json_object_object_add(object, "socket", json_object_new_int64(socket->socket));
	json_object_object_add(object, "metrics", metrics);
	json_object_object_add(object, "window_ns", json_object_new_uint64(socket->window_ns));
	json_object_object_add(object, "skew_ns", json_object_new_uint64(socket->skew_ns));
	return object;
}

void format_json_origin(
	struct json_object *document, const char *platform, const uint64_t generation[2])
{
	struct json_object *name = NULL, *number = NULL;
	char digits[FORMAT_GENERATION_MAX];

	if (platform) {
		format_generation(generation, digits);
		name = json_object_new_string(platform);
		number = json_object_new_string(digits);
	}
	json_object_object_add(document, "platform", name);
	json_object_object_add(document, "generation", number);
}
