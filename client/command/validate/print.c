/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/print.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/utsname.h>

#include "client/command/validate/calibration.h"
#include "client/report/format.h"

enum { TEXT_BYTES = 48 };

static void format_bytes(double bytes, char ret[TEXT_BYTES])
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	size_t unit = 0;

	for (; fabs(bytes) >= 1000 && unit < ARRAY_SIZE(units) - 1; unit++)
		bytes /= 1000;
	snprintf(ret, TEXT_BYTES, unit ? "%.2f %s" : "%.0f %s", bytes, units[unit]);
}

void print_head(FILE *out, const struct session *session)
{
	struct utsname system;

	uname(&system);
	fprintf(out, "Platform %s, %u sockets; Linux %s, %s.\n",
		session->probe.reader.machine.platform, session->probe.reader.machine.n_sockets,
		system.release, system.machine);
	format_caveats(out, session->probe.reader.machine.platform, "the kernels");
}

/* --- the table --- */

/* One metric of a kernel: predicted, shown, ratio. */
static void print_bytes(FILE *out, double predicted, double shown)
{
	char expected[TEXT_BYTES], found[TEXT_BYTES], ratio[TEXT_BYTES] = "-";

	format_bytes(predicted, expected);
	format_bytes(shown, found);
	if (predicted > 0)
		snprintf(ratio, sizeof ratio, "%.3f", shown / predicted);
	fprintf(out, "%10s %10s %6s  ", expected, found, ratio);
}

static void print_kernel(FILE *out, const struct judged_node *node, const struct measured *measured)
{
	double evaded = judge_evaded(node, measured);

	fprintf(out, "  %-9s %3u  ", measured->kernel->name, measured->n_threads);
	for (unsigned i = 0; i < node->tier.n; i++) {
		const struct judged_metric *metric = &node->metric[i];

		print_bytes(out, shape_predicted(metric->wanted, &measured->predicted),
			measured->bytes[metric->series]);
	}
	fprintf(out, "%5.2f %7.2f %3u", 100 * measured->error, 100 * measured->background,
		measured->n);
	if (!isnan(evaded))
		fprintf(out, "  evades %.0f %%", round(100 * evaded) + 0.0);
	fprintf(out, "\n");
}

static void print_table(FILE *out, const struct judged_node *node)
{
	fprintf(out, "                 ");
	for (unsigned i = 0; i < node->tier.n; i++)
		fprintf(out, "%-30s", node->metric[i].name);
	fprintf(out, "error  others\n  kernel threads ");
	for (unsigned i = 0; i < node->tier.n; i++)
		fprintf(out, " predicted      shown  ratio  ");
	fprintf(out, "    %%       %%   n\n");
	for (unsigned i = 0; i < node->n; i++)
		print_kernel(out, node, &node->measured[i]);
}

/* --- below it --- */

static void print_shown(FILE *out, const struct judged_metric *metric)
{
	fprintf(out, "  %s shows %.3f of the reads and %.3f of the writes (+- %.3f).\n",
		metric->name, metric->fit.reads, metric->fit.writes, metric->fit.error);
}

/* Prints the channels that count for this node: under SNC and NPS not all of the socket's. */
static void print_channels(FILE *out, const struct session *session, const struct judged_node *node)
{
	const struct probe *probe = &session->probe;
	const double *bytes = node->measured[0].bytes; /* of load */
	double most = 0;
	unsigned n = 0, n_silent = 0;

	for (uint32_t i = 0; i < probe->n_series; i++)
		if (probe_is_channel_of(probe, i, node->metric[0].series))
			most = fmax(most, bytes[i]);
	for (uint32_t i = 0; i < probe->n_series; i++) {
		if (!probe_is_channel_of(probe, i, node->metric[0].series))
			continue;
		if (bytes[i] > most / 20)
			fprintf(out, "%s%s",
				n++ ? " " : "  Channels that answer: ", probe->series[i].name);
		else
			n_silent++;
	}
	if (n)
		fprintf(out, n_silent ? "; %u do not.\n" : ".\n", n_silent);
}

static void print_remote(FILE *out, const struct session *session, const struct judged_node *node)
{
	const struct probe *probe = &session->probe;
	struct tier tier;

	if (!node->neighbour)
		return;
	tier = session_tier(session, node->neighbour);
	fprintf(out, "  Reading the memory of node %u from here shows", node->neighbour->node);
	for (uint32_t i = 0; i < probe->reader.machine.n_sockets; i++) {
		uint32_t series = tier.n ? probe_find(probe, i, tier.metric[0].name) : PROBE_NONE;

		if (series != PROBE_NONE)
			fprintf(out, "%s %.2f of it on socket %u", i ? "," : "",
				node->remote.bytes[series] / measured_total(&node->remote), i);
	}
	fprintf(out, ".\n");
}

static void print_peak(FILE *out, const struct session *session, const struct judged_node *node)
{
	if (session_is_simulated(session))
		fprintf(out, "  No bandwidth: a simulated machine has no time.\n");
	else
		fprintf(out, "  The fastest kernel moved %.2f GB/s.\n", judge_peak(node));
}

static void print_findings(FILE *out, const struct findings *findings)
{
	if (findings->outcome == OUTCOME_RIGHT)
		fprintf(out, "  RIGHT\n");
	for (unsigned i = 0; i < findings->n; i++)
		fprintf(out, "  %s%s\n",
			findings->finding[i].outcome == OUTCOME_DEFECT ? "DEFECT: " : "",
			findings->finding[i].text);
}

void print_node(FILE *out, const struct session *session, const struct judged_node *node)
{
	fprintf(out, "\nNode %u%s", node->place->node,
		node->place->memory_only ? " (memory only)" : "");
	if (node->socket != UINT32_MAX)
		fprintf(out, ", socket %u", node->socket);
	fprintf(out, ": %u core%s, caches %.1f MiB\n", node->place->n_cpus,
		node->place->n_cpus > 1 ? "s" : "",
		(double)session_cache(session, node->place) / (1 << 20));
	if (node->n) {
		print_table(out, node);
		for (unsigned i = 0; i < node->tier.n; i++)
			print_shown(out, &node->metric[i]);
		print_channels(out, session, node);
		print_remote(out, session, node);
		print_peak(out, session, node);
	}
	print_findings(out, &node->findings);
	calibration_print(out, session, node);
}

void print_result(
	FILE *out, const struct session *session, const struct judged_node nodes[], unsigned n)
{
	unsigned counts[OUTCOME_DEFECT + 1] = { 0 };
	const char *separator = "";

	for (unsigned i = 0; i < n; i++)
		counts[nodes[i].findings.outcome]++;
	fprintf(out, "\nNodes: ");
	for (int outcome = OUTCOME_DEFECT; outcome >= OUTCOME_RIGHT; outcome--)
		if (counts[outcome]) {
			fprintf(out, "%s%u %s", separator, counts[outcome],
				outcome_word((enum outcome)outcome));
			separator = ", ";
		}
	if (session->places.n_left_out)
		fprintf(out, "; %u left out, whose CPUs or memory this process may not use",
			session->places.n_left_out);
	fprintf(out, ".\n");
}
