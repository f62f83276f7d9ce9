/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore trace: the rings of processes as one trace of Perfetto. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/command/frame/command.h"
#include "client/command/frame/perfetto.h"
#include "client/command/frame/written.h"
#include "client/command/trace/counts.h"
#include "client/command/trace/ring-file.h"
#include "client/command/trace/trace-options.h"
#include "client/records/names.h"
#include "common/macro.h"

enum { THREADS_MAX = 4096 };

struct trace {
	FILE *out;
	struct counts counts, passages; /* passages: .which is a name, .value 1 or -1 */
	struct names names;
	char (*hosts)[TRACE_HOST_BYTES]; /* owned */
	unsigned n_hosts;
	uint64_t boot_ns;         /* of the first host, in CLOCK_REALTIME; 0: none yet */
	struct trace_file *first; /* owned; its metrics are those of all */
	uint64_t n_lost, n_records;
};

static void trace_done(struct trace *trace)
{
	free(trace->hosts);
	free(trace->first);
	counts_done(&trace->counts);
	counts_done(&trace->passages);
	names_done(&trace->names);
}

/* The number of the host, added if need be; negative errno. */
static int trace_host_of(struct trace *trace, const char *name)
{
	char text[PERFETTO_NAME_MAX];
	void *hosts;

	for (unsigned i = 0; i < trace->n_hosts; i++)
		if (strcmp(trace->hosts[i], name) == 0)
			return (int)i;
	hosts = reallocarray(trace->hosts, trace->n_hosts + 1, sizeof *trace->hosts);
	if (!hosts)
		return -ENOMEM;
	trace->hosts = hosts;
	strcpy(trace->hosts[trace->n_hosts], name); /* it is a head's */
	snprintf(text, sizeof text, "team on %s", name);
	perfetto_track(trace->out, counts_track(trace->n_hosts, TRACE_ALL), 0, text);
	return (int)trace->n_hosts++;
}

/* --- the regions of one process --- */

/* A span is in a thread of its own. */
struct thread {
	uint64_t number;
	unsigned depth;
};

static const uint64_t SPAN = UINT64_C(1) << 32;

struct process {
	struct trace *trace;
	const struct ring_file *ring;
	uint64_t track; /* threads have those that follow */
	uint64_t ahead_ns;
	unsigned host, n_threads;
	struct thread threads[THREADS_MAX];
	uint64_t numbers[TRACE_REGIONS]; /* of names that are interned; 0: not yet */
};

static void describe_process(const struct process *process)
{
	const struct trace_head *head = &process->ring->file->head;
	char text[PERFETTO_NAME_MAX] = "";

	if (head->rank >= 0)
		snprintf(text, sizeof text, "rank %" PRId64 ", ", head->rank);
	snprintf(text + strlen(text), sizeof text - strlen(text), "process %" PRId32 " on %s",
		head->pid, head->host);
	perfetto_track(process->trace->out, process->track, 0, text);
}

/* NULL: there are too many. */
static struct thread *thread_of(struct process *process, uint64_t number)
{
	struct thread *thread = process->threads;
	char text[PERFETTO_NAME_MAX];

	for (; thread < process->threads + process->n_threads; thread++)
		if (thread->number == number)
			return thread;
	if (process->n_threads == THREADS_MAX)
		return NULL;
	*thread = (struct thread){ .number = number };
	if (number >= SPAN + TRACE_FIRST_STATE)
		strcpy(text, "state");
	else
		snprintf(text, sizeof text, "%s %" PRIu32, number & SPAN ? "span" : "thread",
			(uint32_t)number);
	perfetto_track(
		process->trace->out, process->track + ++process->n_threads, process->track, text);
	return thread;
}

/* 0: no memory. */
static uint64_t trace_name_of(struct process *process, unsigned region)
{
	struct trace *trace = process->trace;
	uint64_t *number = &process->numbers[region];
	const uint32_t n = trace->names.n;

	if (!*number)
		*number = (uint64_t)(names_add(&trace->names, process->ring->file->names[region]) +
				     1);
	if (*number > n)
		perfetto_name(trace->out, *number, trace->names.all[*number - 1]);
	return *number;
}

/* An end whose begin was overwritten has no slice. */
static int write_passage(struct process *process, const struct trace_record *record)
{
	const unsigned kind = record->state & 0xff;
	const bool is_begin = kind == TRACE_BEGIN || kind == TRACE_SPAN_BEGIN;
	const bool is_span = kind == TRACE_SPAN_BEGIN || kind == TRACE_SPAN_END;
	struct thread *thread =
		thread_of(process, is_span ? SPAN | (uint32_t)record->value : record->thread);
	const uint64_t time_ns = record->time_ns + process->ahead_ns;
	const uint64_t name = trace_name_of(process, record->which);
	uint64_t track;

	if (!name)
		return -ENOMEM;
	if (!thread || (!is_begin && !thread->depth))
		return 0;
	thread->depth += is_begin ? 1 : -1U;
	track = process->track + 1 + (uint64_t)(thread - process->threads);
	if (is_begin)
		perfetto_begin_named(process->trace->out, time_ns, track, name);
	else
		perfetto_end(process->trace->out, time_ns, track);
	return counts_append(
		&process->trace->passages, (struct counts_entry){ process->host, (unsigned)name,
						   time_ns, is_begin ? 1 : UINT64_MAX });
}

static int trace_write_process(struct trace *trace, const struct ring_file *ring, unsigned number)
{
	_cleanup_free_ struct process *process = calloc(1, sizeof *process);
	const struct trace_head *head = &ring->file->head;
	const int host = trace_host_of(trace, head->host);
	int r = 0;

	if (!process || host < 0)
		return -ENOMEM;
	process->trace = trace;
	process->ring = ring;
	process->host = (unsigned)host;
	process->track = (uint64_t)(number + 1) << 16;
	/* Hosts have booted at different times: theirs are shown as the first one's. */
	if (!trace->boot_ns)
		trace->boot_ns = head->wall_ahead_ns - head->boot_ahead_ns;
	process->ahead_ns = host ? head->wall_ahead_ns - trace->boot_ns : head->boot_ahead_ns;
	describe_process(process);
	for (uint64_t i = 0; r == 0 && i < ring->n; i++) {
		const struct trace_record *record = ring_file_record(ring, ring->first + i);

		if (record && (record->state & 0xff) != TRACE_COUNT)
			r = write_passage(process, record);
	}
	return r < 0 ? r : counts_add(&trace->counts, ring, (unsigned)host, process->ahead_ns);
}

/* --- the team --- */

static const uint64_t STRETCHES = UINT64_C(3) << 48;

/* Each region of a node has a track with its stretches, from the first passage in to the last one
 * out. */
static void write_stretches(struct trace *trace)
{
	uint64_t n_inside = 0, track = 0;

	counts_sort(&trace->passages);
	for (size_t i = 0; i < trace->passages.n; i++) {
		const struct counts_entry *entry = &trace->passages.entries[i], *last = entry - 1;

		if (!i || last->host != entry->host || last->which != entry->which) {
			track = STRETCHES + ((uint64_t)entry->host << 32 | entry->which);
			n_inside = 0;
			perfetto_track(trace->out, track, counts_track(entry->host, TRACE_ALL),
				trace->names.all[entry->which - 1]);
		}
		n_inside += entry->value;
		if (n_inside == 1 && entry->value == 1)
			perfetto_begin_named(trace->out, entry->time_ns, track, entry->which);
		else if (!n_inside)
			perfetto_end(trace->out, entry->time_ns, track);
	}
}

/* --- all files --- */

static int trace_complain(const char *path, int error)
{
	fprintf(stderr, "uncore trace: %s %s%s.\n", path,
		error == -ENOMSG ? "is not a file that a process wrote by UNCORE_TRACE"
				 : "cannot be read: ",
		error == -ENOMSG ? "" : strerror(-error));
	return EXIT_FAILED;
}

/* The metrics of the first file that has some. */
static void keep_metrics(struct trace *trace, struct ring_file *ring)
{
	if (!trace->first && ring->file->head.n_metrics)
		trace->first = take_ptr(ring->file);
}

static int trace_add_file(struct trace *trace, const char *path, unsigned number)
{
	_cleanup_(ring_file_done) struct ring_file ring = { .file = NULL };
	int r = ring_file_read(path, &ring);

	if (r == 0)
		r = trace_write_process(trace, &ring, number);
	if (r < 0)
		return trace_complain(path, r);
	trace->n_lost += ring.n_lost;
	trace->n_records += ring.n + ring.first;
	keep_metrics(trace, &ring);
	return 0;
}

static int trace_write_all(struct trace *trace, char **paths)
{
	int status = 0;

	perfetto_start(trace->out);
	for (unsigned i = 0; paths[i]; i++)
		status |= trace_add_file(trace, paths[i], i);
	write_stretches(trace);
	if (trace->first)
		counts_write(trace->out, &trace->counts, trace->hosts, trace->first);
	if (trace->n_lost)
		fprintf(stderr,
			"uncore trace: %" PRIu64 " of %" PRIu64
			" records were lost: each process keeps the latest %d.\n",
			trace->n_lost, trace->n_records, TRACE_RECORDS);
	return status;
}

int command_trace(int argc, char **argv)
{
	_cleanup_(trace_done) struct trace trace = { .out = NULL };
	_cleanup_(written_done) struct written file = { .out = NULL };
	struct trace_options options = { .output = NULL };
	int status = option_parse(&trace_table, argc, argv, &options, NULL), r;
	const char *path;

	if (status >= 0)
		return status;
	if (optind == argc)
		return option_complain(&trace_table,
			"it takes the files of processes that ran with UNCORE_TRACE=RING.%%h.%%p");
	if (!options.output && isatty(STDOUT_FILENO))
		return option_complain(&trace_table, "a trace is not for terminals; say -o FILE");
	path = options.output ? options.output : "-";
	r = written_open(path, WRITTEN_WHOLE, &file);
	if (r == 0) {
		trace.out = file.out;
		status = trace_write_all(&trace, argv + optind);
		r = written_end(&file);
	}
	if (r < 0)
		written_complain("uncore trace", path, r);
	return r < 0 ? EXIT_FAILED : status;
}
