/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore export: what monitoring systems read. It is a client of uncored like any other. If uncored
 * gives no values, the output says so in their place, and that is a success: if the command failed,
 * a collector would go on with the values that it has.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "client/command/export/export.h"
#include "client/command/frame/command.h"
#include "client/command/frame/output.h"
#include "client/command/frame/written.h"
#include "common/clock.h"
#include "common/macro.h"

/* --- options --- */

/* Refuses options that exclude each other. -1, or the exit status after a sentence on stderr. */
static int export_check_options(const struct export_options *options)
{
	if (options->http && (options->clustercockpit || options->output_path))
		return option_complain(&export_table,
			"--http answers with text for Prometheus, on its connection");
	if (options->wish.channels && options->clustercockpit)
		return option_complain(&export_table,
			"--clustercockpit has the bandwidth of sockets, not of channels");
	if (options->every_s && !options->clustercockpit)
		return option_complain(&export_table,
			"--every goes with --clustercockpit; for Prometheus use a timer");
	return -1;
}

/* Returns -1 to go on, or the exit status. */
static int export_parse_options(int argc, char **argv, struct export_options *ret)
{
	int status;

	*ret = (struct export_options){ .every_s = 0 };
	status = option_parse(&export_table, argc, argv, ret, NULL);
	if (status >= 0)
		return status;
	ret->wish.hurried = ret->http;
	ret->wish.report = !ret->clustercockpit;
	ret->wish.difference = ret->clustercockpit;
	status = option_no_argument(&export_table, argc, argv);
	return status < 0 ? export_check_options(ret) : status;
}

/* --- output --- */

/* What is written: one reading, or the traffic between two. */
struct document {
	const struct export_reading *before; /* NULL: text for Prometheus */
	const struct export_reading *now;
};

static void write_document(FILE *out, const struct document *document)
{
	if (document->before)
		export_clustercockpit(out, document->before, document->now);
	else
		export_prometheus(out, document->now);
}

static int replace_file(const char *path, const struct document *document)
{
	_cleanup_(written_done) struct written file = { .out = NULL };
	int r = written_open(path, WRITTEN_WHOLE, &file);

	if (r < 0)
		return r;
	write_document(file.out, document);
	return written_end(&file);
}

/* Returns the exit status. */
static int export_put_document(
	const struct export_options *options, const struct document *document)
{
	int r;

	if (!options->output_path) {
		write_document(stdout, document);
		return output_check(stdout, "uncore export", "stdout") < 0 ? EXIT_FAILED : 0;
	}
	r = replace_file(options->output_path, document);
	if (r < 0)
		written_complain("uncore export", options->output_path, r);
	return r < 0 ? EXIT_FAILED : 0;
}

static int export_once(const struct export_options *options)
{
	_cleanup_(export_reading_done) struct export_reading now;

	export_reading_take(&options->wish, &now);
	return export_put_document(options, &(struct document){ .now = &now });
}

static void export_wait_until(uint64_t tick_ns)
{
	uint64_t left_ns;

	while ((left_ns = clock_left_ns(tick_ns, 0))) {
		const struct timespec left = clock_timespec(left_ns);

		nanosleep(&left, NULL);
	}
}

/* Each reading ends one period and begins the next, so no traffic is left out. */
static int export_bandwidths(const struct export_options *options)
{
	uint64_t period_ns = (options->every_s ? options->every_s : 1) * 1000000000U;
	struct export_reading readings[2];
	uint64_t tick_ns;
	unsigned now = 0;
	int status;

	export_reading_take(&options->wish, &readings[now]);
	tick_ns = clock_now_ns() + period_ns;
	do {
		export_wait_until(tick_ns);
		tick_ns = clock_next_tick_ns(tick_ns, period_ns);
		now ^= 1;
		export_reading_take(&options->wish, &readings[now]);
		status = export_put_document(options,
			&(struct document){ .before = &readings[now ^ 1], .now = &readings[now] });
		export_reading_done(&readings[now ^ 1]);
	} while (options->every_s && status == 0);
	export_reading_done(&readings[now]);
	return status;
}

static int export_serve(const struct export_wish *wish)
{
#if UNCORE_WITH_HTTP
	return export_http(wish);
#else
	(void)wish;
	fprintf(stderr, "uncore export: this build does not have --http, which needs GNU "
			"libmicrohttpd. Use the uncore of the node, or build it with "
			"libmicrohttpd.\n");
	return EXIT_USAGE;
#endif
}

int command_export(int argc, char **argv)
{
	struct export_options options;
	int status = export_parse_options(argc, argv, &options);

	if (status >= 0)
		return status;
	if (options.http)
		return export_serve(&options.wish);
	return options.clustercockpit ? export_bandwidths(&options) : export_once(&options);
}
