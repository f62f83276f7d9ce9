/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uncore validate: kernels of known traffic on each NUMA node, what the counters show of them, and
 * whether that is right. The method is described in uncore(1).
 */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "client/command/frame/child.h"
#include "client/command/frame/command.h"
#include "client/command/frame/validated.h"
#include "client/command/frame/written.h"
#include "client/command/page/still.h"
#include "client/command/validate/judge.h"
#include "client/report/quantity.h"
#include "common/foreign-hwloc.h"

static const uint64_t INTERVAL_NS_SHORT = 1000000000;

static volatile sig_atomic_t stopped_by;

static void validate_stop(int signal)
{
	stopped_by = signal;
}

/*
 * Two of us would disturb each other. The name of an abstract socket is free again when its process
 * ends, in whatever way. Returns a descriptor, or negative errno.
 */
static int be_the_only_one(void)
{
	static const char name[] = "uncore-validate";
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + sizeof name);

	memcpy(address.sun_path + 1, name, sizeof name - 1);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, size) < 0)
		return -errno;
	return take_fd(&fd);
}

/* --- the session --- */

/* Takes a first difference. It brings the qualities that are there from the start, such as that of
 * an absent metric. */
static int prime(struct probe *probe)
{
	_cleanup_(readout_done) struct readout from = { 0 }, to = { 0 };
	_cleanup_free_ double *bytes = calloc(probe->n_series + 1, sizeof *bytes);
	_cleanup_free_ double *window_ns = calloc(probe->n_series + 1, sizeof *window_ns);
	int r = bytes && window_ns ? probe_take(probe, &from) : -ENOMEM;

	if (r == 0)
		r = probe_take(probe, &to);
	return r == 0 ? probe_delta(probe, &from, &to, bytes, window_ns) : r;
}

_printf_(1, 2) static int validate_complain(const char *format, ...)
{
	va_list arguments;

	fputs("uncore validate: ", stderr);
	va_start(arguments, format);
	vfprintf(stderr, format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
	return -1;
}

/* A site may hold readings back for a minute, and each repetition needs two. */
static void warn_of_interval(const struct uncore_daemon *daemon)
{
	if (daemon->min_interval_ns > INTERVAL_NS_SHORT)
		validate_complain("this site holds readings back for %.0f s, so this takes long.",
			(double)daemon->min_interval_ns / 1e9);
}

static bool is_wanted_node(const struct option_numbers *nodes, unsigned node)
{
	for (unsigned i = 0; i < nodes->n; i++)
		if (nodes->number[i] == node)
			return true;
	return nodes->n == 0;
}

/* False: there is none. */
static bool keep_wanted_places(struct session *session)
{
	struct places *places = &session->places;
	unsigned n = 0;

	for (unsigned i = 0; i < places->n; i++)
		if (is_wanted_node(&session->options.nodes, places->place[i].node))
			places->place[n++] = places->place[i];
	places->n = n;
	return n > 0;
}

/* The functions below: 0, or -1 after a sentence on stderr. */

static int validate_find_places(struct session *session)
{
	const char *variable = foreign_hwloc_variable();
	int r = places_find(&session->places);

	if (r == 0)
		return 0;
	if (r == -ENOSYS)
		return validate_complain("it needs hwloc: libhwloc.so.15 cannot be loaded.");
	if (r != -EXDEV)
		return validate_complain(
			"the kernel shows no NUMA node that this process may use.");
	return validate_complain(
		"%s in the environment shows hwloc another machine than this one, on which nothing "
		"can be bound: unset it.",
		variable ? variable : "HWLOC_*");
}

static int open_session(struct session *session)
{
	struct uncore_daemon daemon = UNCORE_DAEMON_INIT;
	char *info = NULL;
	int r = probe_open(session->options.socket_path, &session->probe);

	if (r == 0)
		r = prime(&session->probe);
	if (r < 0)
		return validate_complain("%s", reader_failure(r));
	if (session->probe.series[0].quality & UNCORE_STANDIN && !session_is_simulated(session))
		return validate_complain(
			"this uncored runs on the stand-in machine, whose values are not memory "
			"traffic: there is nothing to validate.");
	if (validate_find_places(session) < 0)
		return -1;
	if (!keep_wanted_places(session))
		return validate_complain(
			"there is no such NUMA node, or this process may not use it.");
	session->nodes = calloc(session->places.n, sizeof *session->nodes);
	if (!session->nodes)
		return validate_complain("out of memory.");
	uncore_describe_daemon(session->probe.reader.handle, &daemon);
	warn_of_interval(&daemon);
	uncore_info(session->options.socket_path, &info);
	session->info = json_document_take(&session->document, info);
	session->limit_bytes = places_limit_bytes();
	session->shows_progress = isatty(STDERR_FILENO);
	session->rules = (struct measure_rules){
		.error = session->options.error,
		.time_s = (double)session->options.time_s,
		.quantum = (double)daemon.quantum,
		.stop = &stopped_by,
	};
	return 0;
}

static void close_session(struct session *session)
{
	for (unsigned i = 0; i < session->n_nodes; i++)
		judged_done(&session->nodes[i]);
	free(session->nodes);
	places_done(&session->places);
	page_done(&session->page);
	written_done(&session->report);
	json_document_done(&session->document);
	probe_done(&session->probe);
}

/* --- the verdict --- */

static int judge_all(struct session *session, FILE *out)
{
	int r = 0;

	for (unsigned i = 0; i < session->places.n && r == 0; i++) {
		struct judged_node *node = &session->nodes[session->n_nodes];

		session->n_nodes++;
		r = judge_node(session, &session->places.place[i], node);
		if (r == 0)
			judge_apart(node);
		if (r == 0 && !session->options.json)
			print_node(out, node);
		fflush(out);
	}
	return r;
}

/* A row for each metric of each kernel. */
static void validate_write_still(FILE *out, const struct judged_node *node)
{
	char name[64];
	struct still still = { .out = out,
		.caption = "Kernels on each node",
		.columns = { "Kernel", "Predicted, and shown", "Predicted", "Shown" },
		.write = quantity_bytes };

	still_begin(&still);
	for (unsigned i = 0; i < node->n * node->views.n; i++) {
		const struct measured *measured = &node->measured[i / node->views.n];
		const struct metric_view *view = &node->views.view[i % node->views.n];
		const struct kernel_traffic *all = &measured->predicted;
		const double figures[2] = { shape_predicted(view->wanted, all),
			measured->bytes[view->series] };

		still.most = all->read + all->allocated + all->written;
		snprintf(name, sizeof name, "%u: %s, %s", node->place->node, measured->kernel->name,
			view->metric);
		still_row(&still, name, figures, NULL);
	}
	still_end(&still);
}

static int write_page(struct session *session, const char *report)
{
	struct page *page = &session->page;

	if (!page->file.out)
		return 0;
	fputs(report, page->part[PAGE_DATA]);
	print_all(page->part[PAGE_TEXT], session);
	for (unsigned i = 0; i < session->n_nodes; i++)
		validate_write_still(page->part[PAGE_STILL], &session->nodes[i]);
	return page_write(page);
}

/* Whether a file can be written is known before anything is measured. -1 after a sentence. */
static int check_file(const char *path, int r)
{
	if (r < 0)
		written_complain("uncore validate", path, r);
	return r < 0 ? -1 : 0;
}

static int validate_write_text(struct session *session, const char *json)
{
	if (!session->report.out)
		return 0;
	if (report_text(session->report.out, session, json) < 0)
		return validate_complain("out of memory.");
	return check_file(session->options.report, written_end(&session->report));
}

/* The functions below return the exit status, or negative if @out has no whole result. */

static int write_report(struct session *session, FILE *out)
{
	static const int statuses[] = {
		[OUTCOME_RIGHT] = 0,
		[OUTCOME_ABSENT] = EXIT_NOT_MEASURED,
		[OUTCOME_UNCLEAR] = EXIT_INCONCLUSIVE,
		[OUTCOME_DEFECT] = EXIT_FAILED,
	};
	_cleanup_free_ char *report = report_json(session);

	if (!report)
		return validate_complain("out of memory.");
	if (session->options.json)
		fprintf(out, "%s\n", report);
	if (write_page(session, report) < 0 || validate_write_text(session, report) < 0)
		return EXIT_NOT_MEASURED;
	if (session->options.keep && validated_keep(report) < 0)
		return EXIT_NOT_MEASURED;
	return statuses[judge_outcome(session)];
}

static int validate(struct session *session, FILE *out)
{
	if (!session->options.json)
		print_head(out, session);
	fflush(out);
	if (judge_all(session, out) < 0)
		return -1;
	if (!session->options.json)
		print_result(out, session);
	return write_report(session, out);
}

/* --- the command --- */

static int validate_run(struct session *session, FILE *out)
{
	if (open_session(session) < 0)
		return -1;
	child_note_stop(validate_stop);
	return session->options.kernel ? single_run(session, out) : validate(session, out);
}

static int run_alone(struct session *session, FILE *out)
{
	_cleanup_close_ int only = be_the_only_one();

	if (only >= 0)
		return validate_run(session, out);
	return validate_complain(
		"%s", only == -EADDRINUSE
			      ? "another `uncore validate` runs on this machine, and the two would "
				"disturb each other: wait until it has ended."
			      : strerror(-only));
}

int command_validate(int argc, char **argv)
{
	_cleanup_(close_session) struct session session = { 0 };
	_cleanup_(written_done) struct written file = { .out = NULL };
	int status = validate_options_parse(argc, argv, &session.options);
	const char *path;

	if (status >= 0)
		return status;
	path = session.options.output_path ? session.options.output_path : "-";
	if (check_file(path, written_open(path, WRITTEN_WHOLE, &file)) < 0 ||
		(session.options.report && check_file(session.options.report,
						   written_open(session.options.report,
							   WRITTEN_WHOLE, &session.report)) < 0))
		return EXIT_NOT_MEASURED;
	session.page = (struct page){ &page_validate, "uncore validate", session.options.html };
	if (page_open(&session.page) < 0)
		return EXIT_NOT_MEASURED;
	status = run_alone(&session, file.out);
	if (status < 0 || check_file(path, written_end(&file)) < 0)
		status = EXIT_NOT_MEASURED;
	return stopped_by ? EXIT_BY_SIGNAL + stopped_by : status;
}
