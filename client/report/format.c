/* SPDX-License-Identifier: BSD-3-Clause */
/* Figures for people and for programs. GB/s means 1e9 bytes per second. */
#include "client/report/format.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "client/report/record.h"
#include "common/jsonwriter.h"
#include "common/macro.h"
#include "common/text.h"
#include "common/unit.h"

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

/* Platforms that do not count memory traffic of this machine. */
static const struct standin {
	const char *platform, *warning, *limits;
} standins[] = {
	{ "standin",
		"STAND-IN: nothing here is memory traffic; these are kernel counters for tests.",
		"" },
	{ "simulated",
		"SIMULATED: bytes that a model of caches counted, not traffic of this machine.",
		"The model sees the loads and stores of the program's own code alone:\n no "
		"instruction fetches, page walks, devices, prefetches or work of the kernel.\n "
		"Rates are per second of the simulation." },
};

static const struct standin *find_standin(const char *platform)
{
	for (size_t i = 0; i < ARRAY_SIZE(standins); i++)
		if (strcmp(standins[i].platform, platform) == 0)
			return &standins[i];
	return NULL;
}

const char *format_warning(const char *platform)
{
	const struct standin *standin = find_standin(platform);

	return standin ? standin->warning : NULL;
}

void format_warnings(FILE *out, const char *platform)
{
	const struct standin *standin = find_standin(platform);

	if (standin)
		fprintf(out, " %s\n", standin->warning);
	if (standin && *standin->limits)
		fprintf(out, " %s\n", standin->limits);
}

void format_caveats(FILE *out, const char *platform, const char *who)
{
	fprintf(out, " Everything that each socket did is counted, not only %s.\n", who);
	format_warnings(out, platform);
}

static bool format_is_absent(const struct format_value *value)
{
	return value->quality & UNCORE_ABSENT;
}

static bool is_bytes(const struct format_value *value)
{
	return unit_is_bytes(value->unit);
}

/* --- text --- */

const struct format_value *format_find(const struct format_socket *socket, const char *name)
{
	for (uint32_t i = 0; i < socket->n_values; i++)
		if (strcmp(socket->values[i].name, name) == 0)
			return &socket->values[i];
	return NULL;
}

const struct format_value *format_find_of(
	const struct format_socket *socket, const char *tier, const char *what)
{
	char name[UNCORE_NAME_MAX];

	snprintf(name, sizeof name, "%s.%s", tier, what);
	return format_find(socket, name);
}

double format_rate(uint64_t count, uint64_t window_ns)
{
	return window_ns ? (double)count / (double)window_ns : 0;
}

/* The spread as a share of the count. Left out if the count is 0 and the spread is not. */
static void write_spread(FILE *out, const struct format_value *value)
{
	double share = value->count ? value->deviation / (double)value->count : 0;

	if (value->count || !(value->deviation > 0))
		fprintf(out, "  +- %6.2f %%", 100 * share);
	else
		fprintf(out, "%13s", "");
}

void format_row(FILE *out, const struct format_socket *socket, uint32_t i)
{
	const struct format_value *value = &socket->values[i];
	char count[FORMAT_COUNT_MAX], words[FORMAT_QUALITY_MAX];

	format_count(value->count, count);
	uncore_quality_words(value->quality, words, sizeof words);
	fprintf(out, "%-*s %20s", (int)socket->name_width, value->name, count);
	if (is_bytes(value))
		fprintf(out, " bytes %10.3f GB/s", value->rate);
	else
		fprintf(out, socket->repeated || *words ? " %-21s" : " %s", value->unit);
	if (socket->repeated)
		write_spread(out, value);
	fprintf(out, *words ? "  %s\n" : "\n", words);
}

/* A line of its own, because the words of the quality would not fit behind it. */
static void write_idle_rate(FILE *out, const struct format_value *value)
{
	fprintf(out, "     idle %.3f%s\n", value->idle_rate, is_bytes(value) ? " GB/s" : "");
}

/* A second line, because three more columns of 20 characters would not fit the first. */
static void write_range(FILE *out, const struct format_value *value)
{
	char median[FORMAT_COUNT_MAX], min[FORMAT_COUNT_MAX], max[FORMAT_COUNT_MAX];

	format_count(value->median, median);
	format_count(value->min, min);
	format_count(value->max, max);
	fprintf(out, "     median %s, minimum %s, maximum %s\n", median, min, max);
}

static void write_net(FILE *out, const struct format_value *value)
{
	char net[FORMAT_COUNT_MAX], error[FORMAT_COUNT_MAX];

	format_count((uint64_t)fabs(value->net), net);
	format_count((uint64_t)value->net_error, error);
	fprintf(out, "     without the idle traffic %s%s +- %s %s\n", value->net < 0 ? "-" : "",
		net, error, value->unit);
}

bool format_is_check(const char *metric)
{
	return strncmp(metric, "check.", strlen("check.")) == 0;
}

static bool format_shares_reason(const struct format_value *a, const struct format_value *b)
{
	return format_is_absent(a) && format_is_absent(b) && !format_is_check(b->name) &&
	       strcmp(a->why, b->why) == 0;
}

/* Is @value absent, and not for a reason that the rows of @above gave already? */
static bool is_news(const struct format_value *value, const struct format_socket *above)
{
	const struct format_value *other = above ? format_find(above, value->name) : NULL;

	return format_is_absent(value) && !format_is_check(value->name) &&
	       !(other && format_shares_reason(value, other));
}

void format_absent(FILE *out, const struct format_socket *socket, const struct format_socket *above)
{
	for (uint32_t i = 0; i < socket->n_values; i++) {
		const struct format_value *value = &socket->values[i];
		char text[FORMAT_VALUES_MAX * UNCORE_NAME_MAX + UNCORE_TEXT_MAX] = "";

		for (uint32_t k = 0; k < socket->n_values && is_news(value, above); k++) {
			const struct format_value *other = &socket->values[k];

			if (!format_shares_reason(value, other) || !is_news(other, above))
				continue;
			if (!*text && k < i)
				break; /* it has a line already */
			text_append(
				text, sizeof text, "%s%s", *text ? ", " : "absent: ", other->name);
		}
		if (!*text)
			continue;
		text_append(text, sizeof text, " (%s)", value->why);
		fputs("   ", out);
		text_fold(out, text, 3, 5);
	}
}

/* An exponent is hard to read for people. */
void format_bound(FILE *out, const struct format_socket *socket, int digits)
{
	const double percent = 100 * (double)socket->skew_ns / (double)socket->window_ns;

	if (percent < 1e-4)
		fputs("below 0.0001 %", out);
	else if (percent > 99)
		fprintf(out, "+- %.0f %%", percent);
	else
		fprintf(out, "+- %.*g %%", digits, percent);
}

static void write_window(FILE *out, const struct format_socket *socket)
{
	fprintf(out, "   window %.6f s", (double)socket->window_ns / 1e9);
	if (socket->window_ns) {
		fputs(", error bound ", out);
		format_bound(out, socket, 3);
		fputs(" for steady traffic", out);
	}
	fprintf(out, "\n");
}

static void format_write_socket(FILE *out, const struct format_socket *socket)
{
	fprintf(out, " socket %" PRIu32, socket->socket);
	if (socket->package >= 0)
		fprintf(out, " (package %" PRId64 ")", socket->package);
	fputc('\n', out);
}

void format_rows(FILE *out, const struct format_socket *socket, const struct format_socket *above)
{
	bool all = socket->socket == FORMAT_ALL_SOCKETS;

	if (all)
		fprintf(out, " all sockets\n");
	else
		format_write_socket(out, socket);
	for (uint32_t i = 0; i < socket->n_values; i++) {
		if (format_is_absent(&socket->values[i]) || format_is_check(socket->values[i].name))
			continue;
		fprintf(out, "   ");
		format_row(out, socket, i);
		if (socket->ranged)
			write_range(out, &socket->values[i]);
		if (socket->values[i].has_idle)
			write_idle_rate(out, &socket->values[i]);
		if (socket->values[i].has_net)
			write_net(out, &socket->values[i]);
	}
	format_absent(out, socket, above);
	if (!all)
		write_window(out, socket);
	if (*socket->note)
		fprintf(out, "   %s\n", socket->note);
	fprintf(out, "\n");
}

/* --- JSON --- */

static void format_json_quality(struct jsonwriter *json, uint32_t quality)
{
	char words[FORMAT_QUALITY_MAX];
	char *rest = words, *word;

	uncore_quality_words(quality, words, sizeof words);
	jsonwriter_array(json, "quality");
	while ((word = strsep(&rest, ",")))
		if (*word)
			jsonwriter_text(json, NULL, word);
	jsonwriter_close(json);
}

static void write_repeated(struct jsonwriter *json, const struct format_value *value, bool ranged)
{
	bool bytes = is_bytes(value);

	jsonwriter_number(
		json, bytes ? "bytes_stddev" : "value_stddev", (uint64_t)llround(value->deviation));
	jsonwriter_array(json, bytes ? "bytes_each" : "value_each");
	for (uint32_t i = 0; i < value->n_each; i++)
		jsonwriter_number(json, NULL, value->each[i * value->each_stride]);
	jsonwriter_close(json);
	if (!ranged)
		return;
	jsonwriter_number(json, bytes ? "bytes_median" : "value_median", value->median);
	jsonwriter_number(json, bytes ? "bytes_min" : "value_min", value->min);
	jsonwriter_number(json, bytes ? "bytes_max" : "value_max", value->max);
}

static void format_write_unit(struct jsonwriter *json, const struct format_value *value)
{
	if (!is_bytes(value))
		jsonwriter_text(json, "unit", value->unit);
}

/* The background: what the sockets did without the command. */
static void write_idle(struct jsonwriter *json, const struct format_value *value)
{
	if (value->has_idle)
		jsonwriter_real(json, is_bytes(value) ? "idle_bytes_per_s" : "idle_value_per_s",
			1e9 * value->idle_rate);
	if (!value->has_net)
		return;
	jsonwriter_real(json, "net", value->net);
	jsonwriter_real(json, "net_error", value->net_error);
}

static void format_write_figures(struct jsonwriter *json, const struct format_value *value,
	const struct format_socket *socket)
{
	jsonwriter_number(json, is_bytes(value) ? "bytes" : "value", value->count);
	format_write_unit(json, value);
	if (socket->repeated)
		write_repeated(json, value, socket->ranged);
	write_idle(json, value);
	format_json_quality(json, value->quality);
	if (value->share) {
		jsonwriter_number(json, "share", value->share->share);
		jsonwriter_number(json, "alone", value->share->alone);
	}
}

static void format_write_value(struct jsonwriter *json, const struct format_value *value,
	const struct format_socket *socket)
{
	jsonwriter_object(json, value->name);
	if (format_is_absent(value)) {
		jsonwriter_text(json, "absent", value->why);
		format_write_unit(json, value);
	} else {
		format_write_figures(json, value, socket);
	}
	jsonwriter_close(json);
}

void format_json_metrics(
	struct jsonwriter *json, const char *key, const struct format_socket *socket)
{
	jsonwriter_object(json, key);
	for (uint32_t i = 0; i < socket->n_values; i++)
		format_write_value(json, &socket->values[i], socket);
	jsonwriter_close(json);
}

void format_json_members(struct jsonwriter *json, const struct format_socket *socket)
{
	if (socket->part)
		jsonwriter_text(json, "part", socket->part);
	jsonwriter_number(json, "socket", socket->socket);
	if (socket->package >= 0)
		jsonwriter_number(json, "package", (uint64_t)socket->package);
	if (socket->part && !socket->n_values)
		jsonwriter_text(json, "absent", "Which channels it has is not known.");
	format_json_metrics(json, "metrics", socket);
	jsonwriter_number(json, "window_ns", socket->window_ns);
	jsonwriter_number(json, "skew_ns", socket->skew_ns);
}

void format_json(struct jsonwriter *json, const struct format_socket *socket)
{
	jsonwriter_object(json, NULL);
	format_json_members(json, socket);
	jsonwriter_close(json);
}

void format_json_origin(struct jsonwriter *json, const char *platform, const uint64_t generation[2])
{
	char digits[FORMAT_GENERATION_MAX];

	format_generation(generation, digits);
	jsonwriter_text(json, "platform", platform);
	jsonwriter_text(json, "generation", platform ? digits : NULL);
}
