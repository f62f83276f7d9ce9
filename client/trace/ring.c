/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/trace/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/launcher/launch.h"
#include "client/libuncore/internal.h"
#include "common/clock.h"
#include "common/macro.h"
#include "common/write-signals.h"

/* Another process may still map an older file of this name, which therefore is not cut. */
static int create(const char *path)
{
	struct write_signals signals;
	int fd, r;

	unlink(path);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	/* A write into a hole of a full disk would kill the process. */
	write_signals_hold(&signals);
	r = -posix_fallocate(fd, 0, sizeof(struct trace_file));
	write_signals_release(&signals);
	if (r == 0)
		return fd;
	close(fd);
	unlink(path);
	return r;
}

static int ring_map(const char *path, struct trace_file **ret)
{
	_cleanup_close_ int fd = create(path);
	void *memory;

	if (fd < 0)
		return fd;
	memory = mmap(NULL, sizeof **ret, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	madvise(memory, sizeof **ret, MADV_DONTFORK);
	*ret = memory;
	return 0;
}

int trace_open(bool is_child, struct trace_file **ret)
{
	const char *template = secure_getenv("UNCORE_TRACE");
	_cleanup_free_ char *path = NULL;
	struct trace_head *head;
	int r;

	*ret = NULL;
	if (!template || !*template || (is_child && !launch_names_process(template)))
		return 0;
	r = launch_expand_variable(template, &path);
	if (r == 0)
		r = ring_map(path, ret);
	if (!*ret)
		return error_say(r, "Cannot write the trace %s: %m.", path ? path : template);
	head = &(*ret)->head;
	head->boot_ahead_ns = clock_of(CLOCK_BOOTTIME) - clock_now_ns();
	head->wall_ahead_ns = clock_wall_ns() - clock_now_ns();
	head->rank = launch_rank();
	head->pid = getpid();
	launch_host(head->host);
	head->magic = TRACE_MAGIC;
	return 0;
}

/* A forked child has another file, and its first thread another number. */
static uint32_t thread_number(const struct trace_file *trace)
{
	static _Thread_local const struct trace_file *known_in;
	static _Thread_local uint32_t number;

	if (known_in != trace) {
		number = (uint32_t)syscall(SYS_gettid);
		known_in = trace;
	}
	return number;
}

#define STORE(field, value) __atomic_store_n(&(field), value, __ATOMIC_RELAXED)

void trace_note(struct trace_file *trace, enum trace_kind kind, uint64_t time_ns, unsigned which,
	uint64_t value)
{
	const uint64_t n = __atomic_fetch_add(&trace->head.n, 1, __ATOMIC_RELAXED);
	struct trace_record *record = &trace->records[n % TRACE_RECORDS];

	STORE(record->state, 0);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	STORE(record->time_ns, time_ns);
	STORE(record->value, value);
	STORE(record->thread, thread_number(trace));
	STORE(record->which, (uint16_t)which);
	__atomic_store_n(&record->state, (uint16_t)(kind | (n / TRACE_RECORDS & 0xff) << 8),
		__ATOMIC_RELEASE);
}

void trace_name(struct trace_file *trace, unsigned region, const char *name)
{
	if (region < TRACE_REGIONS)
		memccpy(trace->names[region], name, '\0', TRACE_NAME_BYTES - 1);
}

/* --- counts --- */

static const uint64_t COUNTS_AFTER_NS = 1000000;

static void ring_describe(struct trace_head *head, const char (*names)[UNCORE_NAME_MAX],
	const char (*units)[UNCORE_NAME_MAX], uint32_t n_metrics)
{
	const size_t n = n_metrics < UNCORE_METRICS_MAX ? n_metrics : UNCORE_METRICS_MAX;

	if (__atomic_exchange_n(&head->is_described, 1, __ATOMIC_RELAXED))
		return;
	memcpy(head->metrics, names, n * sizeof *names);
	memcpy(head->units, units, n * sizeof *units);
	__atomic_store_n(&head->n_metrics, (uint32_t)n, __ATOMIC_RELEASE);
}

/* What all sockets have counted. */
struct sum {
	uint64_t time_ns, values[UNCORE_METRICS_MAX];
	uint32_t absent; /* bits: on a socket */
};

/* A socket that is not measured has no sweep. */
static void note_sample(
	struct trace_file *trace, const struct uncore_sample *sample, struct sum *sum)
{
	const uint64_t time_ns = sample->begin_ns + (sample->end_ns - sample->begin_ns) / 2;

	for (uint32_t i = 0; sample->sweep && i < sample->n_values && i < UNCORE_METRICS_MAX; i++) {
		const struct uncore_value *value = &sample->values[i];

		sum->time_ns = time_ns;
		sum->values[i] += value->count;
		if (value->quality & UNCORE_ABSENT)
			sum->absent |= 1U << i;
		else
			trace_note(
				trace, TRACE_COUNT, time_ns, sample->socket << 8 | i, value->count);
	}
}

void trace_counts(struct trace_file *trace, const struct readout *readout,
	const char (*names)[UNCORE_NAME_MAX], const char (*units)[UNCORE_NAME_MAX],
	uint32_t n_metrics)
{
	const uint64_t now_ns = clock_now_ns();
	uint64_t last_ns = __atomic_load_n(&trace->head.counted_ns, __ATOMIC_RELAXED);
	struct sum sum = { .absent = 0 };

	if (now_ns - last_ns < COUNTS_AFTER_NS ||
		!__atomic_compare_exchange_n(&trace->head.counted_ns, &last_ns, now_ns, false,
			__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	ring_describe(&trace->head, names, units, n_metrics);
	for (uint32_t s = 0; s < readout->n_sockets; s++)
		note_sample(trace, &readout->samples[s], &sum);
	for (uint32_t i = 0; sum.time_ns && i < n_metrics && i < UNCORE_METRICS_MAX; i++)
		if (!(sum.absent >> i & 1))
			trace_note(
				trace, TRACE_COUNT, sum.time_ns, TRACE_ALL << 8 | i, sum.values[i]);
}
