/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/report/run-verdict.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/command/frame/blocks.h"
#include "client/command/frame/validated.h"
#include "client/command/report/verdict.h"
#include "common/macro.h"
#include "common/text.h"

static const struct format_value *find_both(
	const struct samples *samples, const struct format_socket *shown)
{
	const struct format_value *value = format_find_of(shown, samples->tier, "total");

	return value && value->quality & UNCORE_ABSENT ? NULL : value;
}

/* The rate of the course's tier; NAN: not known. */
static double idle_rate(const struct samples *samples, const struct total *idle, uint32_t socket)
{
	const struct format_value *both;
	struct format_socket shown;

	if (!idle->runs)
		return NAN;
	total_show(idle, samples->reader.handle, socket, &shown);
	both = find_both(samples, &shown);
	return both ? both->rate : NAN;
}

static void set_socket(
	const struct samples *samples, uint32_t i, double *rates, struct verdict_socket *ret)
{
	total_show(&samples->total, samples->reader.handle, i, &ret->shown);
	for (size_t k = 0; k + 1 < samples->n; k++)
		rates[k] = find_both(samples, &ret->shown) ? samples_rate(samples, k, i) : NAN;
	ret->rates = rates;
	ret->before = idle_rate(samples, &samples->before, i);
	ret->after = idle_rate(samples, &samples->after, i);
}

static void set_peaks(const struct samples *samples, struct verdict_socket sockets[])
{
	_cleanup_(validated_done) struct validated validated;

	if (validated_read(&validated, samples->reader.platform))
		for (uint32_t i = 0; i < samples->total.n_sockets; i++)
			sockets[i].peak = validated_peak(&validated, i);
}

static void name_command(char *const command[], char *text, size_t size_bytes)
{
	for (size_t i = 0; command[i]; i++)
		text_append(text, size_bytes, "%s%s", i ? " " : "", command[i]);
	text_make_plain(text);
}

void run_verdict(char *const command[], const struct samples *samples)
{
	const size_t n = samples->n ? samples->n - 1 : 0;
	const uint32_t n_sockets = samples->total.n_sockets;
	_cleanup_free_ struct verdict_socket *sockets = calloc(n_sockets + 1, sizeof *sockets);
	_cleanup_free_ double *rates = calloc((n_sockets + 1) * (n + 1), sizeof *rates);
	double *end_s = rates ? rates + n_sockets * (n + 1) : NULL;
	char text[256] = "";
	const struct verdict verdict = {
		.command = text,
		.platform = samples->reader.platform,
		.tier = samples->tier,
		.n_sockets = n_sockets,
		.sockets = sockets,
		.n = n,
		.end_s = end_s,
		.failure = samples->failure,
		.utf8 = blocks_are_utf8(),
	};

	if (!sockets || !rates || !samples->tier || !samples->total.runs)
		return;
	name_command(command, text, sizeof text);
	for (uint32_t i = 0; i < n_sockets; i++)
		set_socket(samples, i, rates + i * (n + 1), &sockets[i]);
	for (size_t k = 0; k < n; k++)
		end_s[k] = (double)(samples->times_ns[k + 1] - samples->times_ns[0]) / 1e9;
	set_peaks(samples, sockets);
	verdict_print(stderr, &verdict);
}
