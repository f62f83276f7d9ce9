/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/judge.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "client/report/format.h"

/* A list that was not given has one element, the default @absent. */
static uint64_t element(const struct option_numbers *list, unsigned i, uint64_t absent)
{
	return list->n ? list->number[i] : absent;
}

static unsigned length(const struct option_numbers *list)
{
	return list->n ? list->n : 1;
}

/* --- output --- */

/* The bytes predicted for a metric of the node's memory; -1: none are predicted. */
static double predicted_of(const struct session *session, const struct workers_job *run,
	const struct probe_series *series, const struct measured *measured)
{
	struct tier tier = session_tier(session, run->memory);

	if (series->socket != session_socket(session, run->memory))
		return -1;
	for (unsigned i = 0; i < tier.n; i++)
		if (strcmp(series->name, tier.metric[i].name) == 0)
			return shape_predicted(tier.metric[i].wanted, &measured->predicted);
	return -1;
}

static void single_print_row(FILE *out, const struct session *session,
	const struct workers_job *run, const struct measured *measured, uint32_t series)
{
	const struct probe_series *of = &session->probe.series[series];
	double predicted = predicted_of(session, run, of, measured);
	bool csv = session->options.csv;

	fprintf(out,
		csv ? "%s,%u,%u,%" PRIu64 ",%" PRIu64 ",%u,%s,"
		    : "%-9s node %-2u %3u threads, size %-8" PRIu64 " halo %-3" PRIu64
		      " socket %u %-10s ",
		run->kernel->name, run->place->node, run->n_threads, run->number, run->halo,
		of->socket, of->name);
	fprintf(out, csv ? "%.0f," : "%14.0f", measured->bytes[series]);
	if (predicted >= 0)
		fprintf(out, csv ? "%.0f," : " of %14.0f", predicted);
	else
		fprintf(out, csv ? "," : "");
	if (predicted > 0)
		fprintf(out, csv ? "%.4f" : " %7.4f", measured->bytes[series] / predicted);
	if (csv)
		fprintf(out, ",%.5f,%.5f,%u,%.0f", measured->error, measured->background,
			measured->n, session_is_simulated(session) ? 0.0 : measured->best_ns);
	fprintf(out, "\n");
}

static void single_print_rows(FILE *out, const struct session *session,
	const struct workers_job *run, const struct measured *measured)
{
	for (uint32_t i = 0; i < session->probe.n_series; i++) {
		const struct probe_series *series = &session->probe.series[i];

		if (!series->is_channel && !(series->quality & UNCORE_ABSENT))
			single_print_row(out, session, run, measured, i);
	}
	fflush(out);
}

/* --- runs --- */

/* The whole list, before minutes go into its first numbers. */
static int check_threads(const struct session *session)
{
	const struct option_numbers *list = &session->options.threads;

	for (unsigned i = 0; i < session->places.n; i++) {
		const struct place *place = &session->places.place[i];

		for (unsigned k = 0; k < list->n; k++)
			if (list->number[k] > place->n_cpus) {
				fprintf(stderr,
					"uncore validate: node %u has %u cores for %u threads.\n",
					place->node, place->n_cpus, (unsigned)list->number[k]);
				return -EINVAL;
			}
	}
	return 0;
}

static int single_run_once(struct session *session, const struct workers_job *job, FILE *out)
{
	struct measured measured;
	int r = session_measure(session, job, &measured);

	if (r == 0)
		single_print_rows(out, session, job, &measured);
	measured_done(&measured);
	return r;
}

static int run_at(struct session *session, struct workers_job job, FILE *out)
{
	const struct validate_options *options = &session->options;
	int r = 0;

	for (unsigned i = 0; i < length(&options->threads); i++)
		for (unsigned k = 0; k < length(&options->sizes); k++)
			for (unsigned m = 0; m < length(&options->halos) && r == 0; m++) {
				job.n_threads =
					(unsigned)element(&options->threads, i, job.place->n_cpus);
				job.number = element(&options->sizes, k, 0);
				job.halo = element(&options->halos, m, 0);
				r = single_run_once(session, &job, out);
			}
	return r;
}

int single_run(struct session *session, FILE *out)
{
	struct workers_job run = { .kernel = kernel_find(session->options.kernel) };
	int r;

	if (run.kernel->absent) {
		fprintf(stderr, "uncore validate: there is no %s here. %s\n", run.kernel->name,
			run.kernel->absent);
		return -EOPNOTSUPP;
	}
	r = check_threads(session);
	if (r < 0)
		return r;
	format_caveats(session->options.csv ? stderr : out, session->probe.reader.machine.platform,
		"the kernel");
	if (session->options.csv)
		fprintf(out, "kernel,node,threads,size,halo,socket,metric,bytes,predicted,ratio,"
			     "error,background,repetitions,ns\n");
	for (unsigned i = 0; i < session->places.n && r == 0; i++) {
		run.place = run.memory = &session->places.place[i];
		r = run_at(session, run, out);
	}
	return r;
}
