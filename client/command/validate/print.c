/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/judge.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/utsname.h>

#include "client/report/format.h"
#include "client/report/quantity.h"
#include "common/text.h"

void print_head(FILE *out, const struct session *session)
{
	struct utsname system;

	uname(&system);
	fprintf(out, "Platform %s, %u socket%s; Linux %s, %s.\n",
		session->probe.reader.machine.platform, session->probe.reader.machine.n_sockets,
		session->probe.reader.machine.n_sockets == 1 ? "" : "s", system.release,
		system.machine);
	format_caveats(out, session->probe.reader.machine.platform, "the kernels");
}

/* --- the table --- */

/* One metric of a kernel: what is known, what is shown, their ratio. */
static void print_bytes(FILE *out, double predicted, double shown)
{
	char expected[QUANTITY_MAX], found[QUANTITY_MAX], ratio[QUANTITY_MAX] = "-";

	quantity_bytes(predicted, expected);
	quantity_bytes(shown, found);
	if (predicted > 0)
		snprintf(ratio, sizeof ratio, "%.3f", shown / predicted);
	fprintf(out, "%7s %7s %6s ", expected, found, ratio);
}

static void print_kernel(FILE *out, const struct judged_node *node, const struct measured *measured)
{
	fprintf(out, "  %-9s %4u ", measured->kernel->name, measured->n_threads);
	for (unsigned i = 0; i < node->views.n; i++) {
		const struct metric_view *view = &node->views.view[i];

		print_bytes(out, shape_predicted(view->wanted, &measured->predicted),
			measured->bytes[view->series]);
	}
	fprintf(out, "%5.2f %6.2f %3u\n", 100 * measured->error, 100 * measured->background,
		measured->n);
}

static void validate_print_table(FILE *out, const struct judged_node *node)
{
	fprintf(out, "%17s", "");
	for (unsigned i = 0; i < node->views.n; i++)
		fprintf(out, "%-23s", node->views.view[i].metric);
	fprintf(out, "error others\n  kernel threads ");
	for (unsigned i = 0; i < node->views.n; i++)
		fprintf(out, "  known   shown  ratio ");
	fprintf(out, "    %%      %%   n\n");
	for (unsigned i = 0; i < node->n; i++)
		print_kernel(out, node, &node->measured[i]);
}

/* --- below it --- */

static void print_evasion(FILE *out, const struct judged_node *node)
{
	char text[1024] = "";

	for (unsigned i = 0; i < node->n; i++) {
		const struct measured *measured = &node->measured[i];
		const double evaded = judge_evaded(node, measured);

		if (!isnan(evaded))
			text_append(text, sizeof text, "%s %s on %u core%s %.0f %%",
				*text ? "," : "Evaded write-allocates:", measured->kernel->name,
				measured->n_threads, measured->n_threads == 1 ? "" : "s",
				round(100 * evaded) + 0.0);
	}
	if (!*text)
		return;
	text_append(text, sizeof text, ".");
	fputs("  ", out);
	text_fold(out, text, 2, 4);
}

/* For three decimals, without a sign in front of zero. */
static double thousandths(double share)
{
	return round(1000 * share) / 1000 + 0.0;
}

static void print_shown(FILE *out, const struct metric_view *view)
{
	const struct fit *fit = &view->shown.fit;

	fprintf(out, "  %s shows %.3f of the reads and %.3f of the writes (+- %.3f).\n",
		view->metric, thousandths(fit->reads), thousandths(fit->writes), fit->error);
}

/* What each channel of a metric shows beside what each of those that there are should show. */
static void validate_print_channels(
	FILE *out, const struct metric_view *view, const struct channels *channels)
{
	char text[CHANNELS_MAX * 24];

	if (!channels->n_active)
		return;
	snprintf(text, sizeof text, "Channels of %s, %u with %.3f each expected:", view->metric,
		channels->n_expected, 1.0 / channels->n_expected);
	for (unsigned i = 0; i < channels->n; i++)
		text_append(text, sizeof text, "%s %s %.3f", i ? "," : "",
			channels->channel[i].name,
			thousandths(shape_share(view->wanted, &channels->channel[i].shown.fit)));
	text_append(text, sizeof text, ".");
	fputs("  ", out);
	text_fold(out, text, 2, 4);
}

static void print_remote(FILE *out, const struct judged_node *node)
{
	const struct probe *probe = &node->session->probe;
	struct tier tier;

	if (!node->neighbour)
		return;
	tier = session_tier(node->session, node->neighbour);
	fprintf(out, "  Reading the memory of node %u from here shows", node->neighbour->node);
	for (uint32_t i = 0; i < probe->reader.machine.n_sockets; i++) {
		uint32_t series = tier.n ? probe_find(probe, i, tier.metric[0].name) : PROBE_NONE;

		if (series != PROBE_NONE)
			fprintf(out, "%s %.2f of it on socket %u", i ? "," : "",
				node->remote.bytes[series] / measured_total(&node->remote), i);
	}
	fprintf(out, ".\n");
}

static void print_peak(FILE *out, const struct judged_node *node)
{
	if (judge_no_peak(node))
		fprintf(out, "  No bandwidth is known. %s\n", judge_no_peak(node));
	else
		fprintf(out, "  The fastest kernel moved %.2f GB/s.\n", judge_peak(node));
}

static void print_findings(FILE *out, const struct findings *findings)
{
	if (findings->outcome == OUTCOME_RIGHT)
		fprintf(out, "  RIGHT\n");
	for (unsigned i = 0; i < findings->n; i++) {
		const bool is_defect = findings->finding[i].outcome >= OUTCOME_DEFECT;

		fputs(is_defect ? "  DEFECT: " : "  ", out);
		text_fold(out, findings->finding[i].text, is_defect ? 10 : 2, 4);
	}
}

/* The lines for uncored.conf. */
static void print_calibration(FILE *out, const struct judged_node *node)
{
	struct calibration found[TIER_METRICS_MAX];
	unsigned n = calibrate(node, found), n_lines = 0;

	for (unsigned i = 0; i < n; i++)
		fprintf(out,
			"  %s is uncalibrated; what it shows times %.3f (+- %.3f) is right here.\n",
			found[i].metric, found[i].factor, found[i].error);
	for (unsigned i = 0; i < n; i++)
		if (found[i].bytes)
			fprintf(out, "%s    %s = %u\n",
				n_lines++ ? "" : "  For uncored.conf:\n    [calibration]\n",
				found[i].metric, found[i].bytes);
}

void print_node(FILE *out, const struct judged_node *node)
{
	fprintf(out, "\nNode %u%s", node->place->node,
		node->place->memory_only ? " (memory only)" : "");
	if (node->socket != UINT32_MAX)
		fprintf(out, ", socket %u", node->socket);
	fprintf(out, ": %u core%s, caches %.1f MiB\n", node->place->n_cpus,
		node->place->n_cpus > 1 ? "s" : "",
		(double)session_cache(node->session, node->place) / (1 << 20));
	if (node->n) {
		validate_print_table(out, node);
		print_evasion(out, node);
		for (unsigned i = 0; i < node->views.n; i++) {
			print_shown(out, &node->views.view[i]);
			validate_print_channels(out, &node->views.view[i], &node->channels[i]);
		}
		print_remote(out, node);
		print_peak(out, node);
	}
	print_findings(out, &node->findings);
	print_calibration(out, node);
}

void print_result(FILE *out, const struct session *session)
{
	unsigned counts[OUTCOME_DEFECT + 1] = { 0 };
	const char *separator = "";

	for (unsigned i = 0; i < session->n_nodes; i++)
		counts[session->nodes[i].findings.outcome]++;
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

void print_all(FILE *out, const struct session *session)
{
	print_head(out, session);
	for (unsigned i = 0; i < session->n_nodes; i++)
		print_node(out, &session->nodes[i]);
	print_result(out, session);
}
