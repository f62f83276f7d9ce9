/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/report/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/blocks.h"
#include "client/command/report/phases.h"
#include "common/macro.h"
#include "common/tiers.h"

enum { BLOCKS = 60 };

/* Memory is what a job waits for above this share of a peak; somebody else may be the cause if that
 * one moves this share; and less than this share of the time says nothing. */
static const double BOUND = 0.8, OTHERS = 0.1, LEAST_TIME = 0.01;

static const uint32_t DOUBTS = UNCORE_PARTIAL | UNCORE_FROZEN | UNCORE_RESET | UNCORE_UNCALIBRATED |
			       UNCORE_STANDIN | UNCORE_ABSENT;

static bool verdict_is_known(const struct format_value *value)
{
	return value && !(value->quality & UNCORE_ABSENT);
}

static double duration_s(const struct verdict *verdict)
{
	return verdict->n ? verdict->end_s[verdict->n - 1] : 0;
}

static double begin_s(const struct verdict *verdict, size_t i)
{
	return i ? verdict->end_s[i - 1] : 0;
}

/* --- bytes and rates --- */

static void verdict_write_figure(FILE *out, int width, bool known, double figure)
{
	if (known)
		fprintf(out, "%*.3f", width, figure);
	else
		fprintf(out, "%*s", width, "-");
}

static void verdict_write_bytes(FILE *out, const struct format_value *value)
{
	verdict_write_figure(
		out, 12, verdict_is_known(value), value ? (double)value->count / 1e9 : 0);
	verdict_write_figure(out, 11, verdict_is_known(value), value ? value->rate : 0);
}

static void verdict_write_tier(FILE *out, const struct verdict_socket *socket, const char *tier)
{
	const struct format_value *both = format_find_of(&socket->shown, tier, "total");
	char words[FORMAT_QUALITY_MAX] = "";

	if (!verdict_is_known(format_find_of(&socket->shown, tier, "read")) &&
		!verdict_is_known(format_find_of(&socket->shown, tier, "write")) &&
		!verdict_is_known(both))
		return;
	fprintf(out, " %2" PRIu32 " %-4s", socket->shown.socket, tier);
	verdict_write_bytes(out, format_find_of(&socket->shown, tier, "read"));
	verdict_write_bytes(out, format_find_of(&socket->shown, tier, "write"));
	verdict_write_figure(out, 10, verdict_is_known(both), both ? both->rate : 0);
	if (verdict_is_known(both) && socket->peak > 0 && strcmp(tier, "dram") == 0)
		fprintf(out, "%5.0f %% of %.1f", 100 * both->rate / socket->peak, socket->peak);
	if (verdict_is_known(both))
		uncore_quality_words(both->quality, words, sizeof words);
	fprintf(out, "%s%s\n", *words ? "  " : "", words);
}

#define TIER(name) name

static void verdict_write_table(FILE *out, const struct verdict *verdict)
{
	static const char *const tiers[] = { TIERS(TIER) };
	bool has_peak = false;

	fprintf(out, " socket  %12s%11s%12s%11s%10s\n", "GB read", "GB/s", "GB written", "GB/s",
		"both GB/s");
	for (uint32_t i = 0; i < verdict->n_sockets; i++)
		for (size_t k = 0; k < ARRAY_SIZE(tiers); k++) {
			verdict_write_tier(out, &verdict->sockets[i], tiers[k]);
			has_peak |= verdict->sockets[i].peak > 0;
		}
	for (uint32_t i = 0; i < verdict->n_sockets; i++)
		format_absent(
			out, &verdict->sockets[i].shown, i ? &verdict->sockets[0].shown : NULL);
	if (!has_peak)
		fputs(" share of the peak: -, since nobody has kept a report of `uncore validate` "
		      "here\n",
			out);
}

/* --- others --- */

static void verdict_write_others(FILE *out, const struct verdict *verdict)
{
	for (uint32_t i = 0; i < verdict->n_sockets; i++) {
		const struct verdict_socket *socket = &verdict->sockets[i];

		if (isnan(socket->before) || isnan(socket->after))
			continue;
		fprintf(out,
			" Just before the job socket %" PRIu32
			" moved %.3f GB/s, just after it %.3f GB/s.\n",
			socket->shown.socket, socket->before, socket->after);
	}
}

/* --- the course --- */

static double highest(const struct verdict *verdict)
{
	double most = 0;

	for (uint32_t i = 0; i < verdict->n_sockets; i++)
		for (size_t k = 0; k < verdict->n; k++)
			most = fmax(most, verdict->sockets[i].rates[k]);
	return most;
}

static bool has_peaks(const struct verdict *verdict)
{
	for (uint32_t i = 0; i < verdict->n_sockets; i++)
		if (!(verdict->sockets[i].peak > 0))
			return false;
	return strcmp(verdict->tier, "dram") == 0;
}

/* Each is the mean of the rates that begin in it. */
static void set_blocks(const double rates[], size_t n, size_t n_blocks, float ret[BLOCKS])
{
	for (size_t i = 0; i < n_blocks; i++) {
		const size_t first = i * n / n_blocks, end = (i + 1) * n / n_blocks;
		double sum = 0;

		for (size_t k = first; k < end; k++)
			sum += rates[k];
		ret[i] = (float)(sum / (double)(end - first));
	}
}

static void verdict_write_course(FILE *out, const struct verdict *verdict)
{
	const size_t n_blocks = verdict->n < BLOCKS ? verdict->n : BLOCKS;
	const bool by_peak = has_peaks(verdict);
	const double most = highest(verdict);
	float blocks[BLOCKS];

	fprintf(out, "\n course of %s; a block is %.3g s, and a full one is ", verdict->tier,
		duration_s(verdict) / (double)n_blocks);
	fprintf(out, by_peak ? "the peak\n" : "%.3f GB/s\n", most);
	for (uint32_t i = 0; i < verdict->n_sockets; i++) {
		const struct verdict_socket *socket = &verdict->sockets[i];

		set_blocks(socket->rates, verdict->n, n_blocks, blocks);
		fprintf(out, " %2" PRIu32 " ", socket->shown.socket);
		blocks_course(out, blocks, (unsigned)n_blocks, by_peak ? socket->peak : most,
			verdict->utf8);
		fputc('\n', out);
	}
}

static void write_phases(FILE *out, const struct verdict *verdict)
{
	_cleanup_free_ double *rates = calloc(verdict->n + 1, sizeof *rates);
	struct phase phases[PHASES_MAX];
	size_t n;

	for (size_t k = 0; rates && k < verdict->n; k++)
		for (uint32_t i = 0; i < verdict->n_sockets; i++)
			if (!isnan(verdict->sockets[i].rates[k]))
				rates[k] += verdict->sockets[i].rates[k];
	n = rates ? phases_find(rates, verdict->n, phases) : 0;
	if (n < 2)
		return;
	fprintf(out, "\n phases of all sockets together, by %s\n", verdict->tier);
	for (size_t i = 0; i < n; i++) {
		const double from_s = begin_s(verdict, phases[i].first);

		fprintf(out, "  %9.3f to %9.3f s %12.3f GB/s", from_s,
			begin_s(verdict, phases[i].end), phases[i].mean);
		if (i)
			fprintf(out, "   begin +- %.2g s",
				phases[i].error * duration_s(verdict) / (double)verdict->n);
		fputc('\n', out);
	}
}

/* --- the sentence --- */

static double share_of_time(const struct verdict *verdict, const struct verdict_socket *socket)
{
	double bound_s = 0;

	for (size_t k = 0; k < verdict->n; k++)
		if (socket->rates[k] > BOUND * socket->peak)
			bound_s += verdict->end_s[k] - begin_s(verdict, k);
	return bound_s / duration_s(verdict);
}

/* Only where the figures are whole, and others can hardly be the cause. */
static void write_sentence(
	FILE *out, const struct verdict *verdict, const struct verdict_socket *socket)
{
	const struct format_value *both = format_find_of(&socket->shown, "dram", "total");
	const double others = fmax(socket->before, socket->after);
	double share;

	if (!both || both->quality & DOUBTS || !(socket->peak > 0) || *verdict->failure ||
		strcmp(verdict->tier, "dram") != 0 || verdict->n < PHASES_RATES_MIN)
		return;
	share = share_of_time(verdict, socket);
	if (share < LEAST_TIME)
		return;
	if (isnan(others) || others > OTHERS * socket->peak)
		fprintf(out,
			" Socket %" PRIu32
			" was above %.0f %% of its peak for %.0f %% of the time, "
			"but %s.\n",
			socket->shown.socket, 100 * BOUND, 100 * share,
			isnan(others) ? "what others moved is not known"
				      : "others moved much of it");
	else
		fprintf(out,
			" On socket %" PRIu32
			" memory-bound for %.0f %% of the time (above %.0f %% "
			"of its peak).\n",
			socket->shown.socket, 100 * share, 100 * BOUND);
}

void verdict_print(FILE *out, const struct verdict *verdict)
{
	fprintf(out, "\n Traffic while '%s' ran, for %.3f s, platform %s:\n\n", verdict->command,
		duration_s(verdict), verdict->platform);
	verdict_write_table(out, verdict);
	verdict_write_others(out, verdict);
	if (verdict->n > 1) {
		verdict_write_course(out, verdict);
		write_phases(out, verdict);
	}
	fputc('\n', out);
	if (*verdict->failure)
		fprintf(out, " Not all of the course is known: %s\n", verdict->failure);
	for (uint32_t i = 0; i < verdict->n_sockets; i++)
		write_sentence(out, verdict, &verdict->sockets[i]);
	format_caveats(out, verdict->platform, "this job");
}
