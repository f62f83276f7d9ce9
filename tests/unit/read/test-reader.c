/* SPDX-License-Identifier: BSD-3-Clause */
/* A reader thread with a page and doorbells, on counters that a test plays. */
#include "daemon/read/reader.h"
#include "tests/harness/test.h"
#include "tests/unit/count/perf-fake.h"

#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "client/libuncore/internal.h"
#include "common/clock.h"
#include "daemon/count/generation.h"

enum { BYTES = 64 };

static const uint64_t SECOND = 1000000000;

static struct platform platform = {
	.name = "fake",
	.n_metrics = 1,
	.metrics = { { .name = "dram.read", .unit = "bytes", .n_terms = 1 } },
};

/* One socket with one box that counts one event, all played. */
struct fixture {
	struct fake_kernel kernel;
	struct perf perf;
	struct plan_box plan_box;
	struct plan_socket socket;
	struct page_channel channel;
	struct plan plan;
	struct box box;
	struct generation generation;
	struct reader reader;
	struct page_wakeup wakeup; /* of the only user, unless a case adds others */
};

static void start_reader(struct fixture *f, uint32_t budget_percent, uint32_t burst_ms)
{
	struct reader_options options = { .affinity.cpu = -1,
		.stopped_fd = -1,
		.rules = { .budget = { .percent = budget_percent, .burst_ms = burst_ms },
			.quanta = { 1, 1 } } };
	struct fault fault;

	*f = (struct fixture){ .perf = fake_perf(&f->kernel) };
	f->plan_box = (struct plan_box){ .pmu = "fake_0",
		.n_events = 1,
		.n_uses = 1,
		.uses = { { .scale = { BYTES, 1 }, .channel = 0 } } };
	f->socket = (struct plan_socket){ .n_boxes = 1, .n_channels = 1 };
	f->channel = (struct page_channel){ .name = "fake0" };
	f->plan = (struct plan){ .platform = &platform,
		.n_sockets = 1,
		.n_boxes = 1,
		.n_channels = 1,
		.sockets = &f->socket,
		.boxes = &f->plan_box,
		.channels = &f->channel };
	assert_int_equal(box_open(&f->box, &f->plan_box, &f->perf), 0);
	f->generation = (struct generation){ .plan = &f->plan, .boxes = &f->box };
	assert_int_equal(generation_publish(&f->generation, &fault), 0);
	assert_int_equal(reader_init(&f->reader, &options, &f->generation, 0), 0);
	assert_int_equal(reader_thread_start(&f->reader), 0);
}

static void stop_reader(struct fixture *f)
{
	reader_done(&f->reader);
	ledger_done(&f->generation.ledger);
	shared_page_done(&f->generation.shared_page);
	box_close(&f->box);
}

/* Makes a doorbell in @place, of an account of its own, for one client. */
static int hang_doorbell(struct fixture *f, unsigned place)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	assert_true(fd >= 0);
	assert_int_equal(doorbells_add(&f->reader.doorbells, place, place, fd, &f->wakeup), 0);
	doorbells_count_clients(&f->reader.doorbells, place, 1);
	return fd;
}

/* A fresh read: 0 and the sweep in @ret, or the error of page_wait(). */
static int read_fresh(struct fixture *f, int doorbell_fd, uint64_t wait_ns, struct page_sweep *ret)
{
	const struct page_cell *cell = page_cell(f->generation.shared_page.header, 0);
	uint32_t started = page_started(cell);
	int r;

	eventfd_write(doorbell_fd, 1);
	r = page_wait(cell, &f->wakeup, started, clock_now_ns() + wait_ns);
	return r < 0 ? r : page_copy(cell, ret, 1, NULL, 0);
}

CASE("the first sweep is published before the thread starts")
{
	struct fixture f;
	struct page_channel_value channel;
	struct page_sweep sweep;

	start_reader(&f, 100, 100);
	assert_int_equal(
		page_copy(page_cell(f.generation.shared_page.header, 0), &sweep, 1, &channel, 1),
		0);
	assert_int_equal(sweep.number, 1);
	assert_int_equal(sweep.values[0].quality, 0);
	assert_int_equal(reader_state(&f.reader).sweeps, 1);
	stop_reader(&f);
}

CASE("a ring brings a sweep of the counters as they are")
{
	struct fixture f;
	struct page_sweep sweep;
	int fd;

	start_reader(&f, 100, 100);
	f.kernel.events[0].value = 10; /* ahead of the doorbell, which hands it over */
	f.kernel.enabled_ns = f.kernel.running_ns = SECOND;
	fd = hang_doorbell(&f, 0);
	assert_int_equal(read_fresh(&f, fd, 5 * SECOND, &sweep), 0);
	assert_int_equal(sweep.values[0].count, 10 * BYTES);
	doorbells_remove(&f.reader.doorbells, 0);
	close(fd);
	stop_reader(&f);
}

CASE("a removed doorbell rings for nothing")
{
	struct fixture f;
	struct page_sweep sweep;
	int fd;

	start_reader(&f, 100, 100);
	fd = hang_doorbell(&f, 0);
	doorbells_remove(&f.reader.doorbells, 0);
	assert_int_equal(read_fresh(&f, fd, SECOND / 20, &sweep), -ETIMEDOUT);
	assert_int_equal(reader_state(&f.reader).sweeps, 1);
	close(fd);
	stop_reader(&f);
}

static unsigned state_of(const struct kept_sweep *kept)
{
	return __atomic_load_n(&kept->state, __ATOMIC_ACQUIRE);
}

/* Waits until the sweep is there. False: it is not, for a while. */
static bool wait_for_kept(const struct kept_sweep *kept, uint64_t wait_ns)
{
	uint64_t deadline_ns = clock_deadline_ns(wait_ns);

	while (state_of(kept) != KEPT_THERE && clock_now_ns() < deadline_ns)
		usleep(1000);
	return state_of(kept) == KEPT_THERE;
}

CASE("a sweep is kept for a user without clients, and counts as its own")
{
	struct kept_sweep kept[2] = { { .place = 3 }, { .place = 3 } };
	struct fixture f;
	int fd;

	start_reader(&f, 100, 100);
	f.kernel.events[0].value = 10;
	f.kernel.enabled_ns = f.kernel.running_ns = SECOND;
	fd = hang_doorbell(&f, 3);
	doorbells_count_clients(&f.reader.doorbells, 3, -1);
	doorbells_keep(&f.reader.doorbells, &kept[0]);
	assert_true(wait_for_kept(&kept[0], 5 * SECOND));
	assert_int_equal(kept[0].sweep.values[0].count, 10 * BYTES);
	assert_int_equal(kept[0].sweep.number, 2);
	assert_int_equal(doorbells_use(&f.reader.doorbells, 3).n_answered, 1);
	f.kernel.events[0].value = 11;
	doorbells_keep(&f.reader.doorbells, &kept[1]);
	assert_true(wait_for_kept(&kept[1], 5 * SECOND));
	assert_int_equal(kept[1].sweep.values[0].count, 11 * BYTES);
	assert_int_equal(kept[0].sweep.values[0].count, 10 * BYTES);
	doorbells_remove(&f.reader.doorbells, 3);
	close(fd);
	stop_reader(&f);
}

CASE("sweeps that are to be kept take no more than the budget, and share what there is")
{
	static struct kept_sweep kept[1000];
	const size_t n = sizeof kept / sizeof *kept;
	struct fixture f;
	int fd;

	memset(kept, 0, sizeof kept);
	start_reader(&f, 1, 1);
	fd = hang_doorbell(&f, 0);
	for (size_t i = 0; i < n; i++)
		doorbells_keep(&f.reader.doorbells, &kept[i]);
	for (size_t i = 0; i < n; i++)
		assert_true(wait_for_kept(&kept[i], 30 * SECOND));
	assert_true(reader_state(&f.reader).sweeps < n / 2);
	doorbells_remove(&f.reader.doorbells, 0);
	close(fd);
	stop_reader(&f);
}

CASE("a sweep whose user has gone is lost, and not kept for the next user at its place")
{
	struct kept_sweep late = { .place = 0 }, of_next = { .place = 0 };
	struct fixture f;
	int fd;

	start_reader(&f, 100, 100);
	f.reader.options.rules.budget.min_interval_ms = 3600000;
	reader_set_rules(&f.reader, &f.reader.options.rules);
	fd = hang_doorbell(&f, 0);
	doorbells_keep(&f.reader.doorbells, &late);
	assert_false(wait_for_kept(&late, SECOND / 20));
	doorbells_remove(&f.reader.doorbells, 0);
	close(fd);
	assert_int_equal(state_of(&late), KEPT_LOST);
	fd = hang_doorbell(&f, 0);
	f.reader.options.rules.budget.min_interval_ms = 0;
	reader_set_rules(&f.reader, &f.reader.options.rules);
	doorbells_keep(&f.reader.doorbells, &of_next);
	assert_true(wait_for_kept(&of_next, 5 * SECOND));
	assert_int_equal(state_of(&late), KEPT_LOST);
	doorbells_remove(&f.reader.doorbells, 0);
	close(fd);
	stop_reader(&f);
}

CASE("over the budget a ring waits but is answered")
{
	struct fixture f;
	struct page_sweep sweep;
	int fd;

	start_reader(&f, 1, 1);
	fd = hang_doorbell(&f, 0);
	while (!reader_state(&f.reader).throttled)
		assert_int_equal(read_fresh(&f, fd, 30 * SECOND, &sweep), 0);
	assert_int_equal(read_fresh(&f, fd, 30 * SECOND, &sweep), 0);
	assert_true(page_wakeup_due_ns(&f.wakeup) > 0);
	/* A doorbell with a claim that waits can be removed, too. */
	for (unsigned i = 0; i < 100; i++)
		eventfd_write(fd, 1);
	doorbells_remove(&f.reader.doorbells, 0);
	close(fd);
	stop_reader(&f);
}

static uint32_t n_rung(const struct page_wakeup *wakeup)
{
	return __atomic_load_n(&wakeup->n_rung, __ATOMIC_ACQUIRE);
}

CASE("a sweep wakes the users that rang, and no others")
{
	struct page_wakeup wakeups[2] = {};
	struct fixture f;
	int fds[2];

	start_reader(&f, 100, 100);
	for (unsigned i = 0; i < 2; i++) {
		fds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		assert_int_equal(doorbells_add(&f.reader.doorbells, i, i, fds[i], &wakeups[i]), 0);
	}
	for (uint32_t round = 1; round <= 10; round++)
		for (unsigned i = 0; i < 2; i++) {
			eventfd_write(fds[i], 1);
			while (n_rung(&wakeups[i]) < round)
				usleep(100);
			assert_int_equal(n_rung(&wakeups[i]), round);
			assert_int_equal(n_rung(&wakeups[!i]), i ? round : round - 1);
		}
	for (unsigned i = 0; i < 2; i++) {
		doorbells_remove(&f.reader.doorbells, i);
		close(fds[i]);
	}
	stop_reader(&f);
}

/* --- intervals --- */

enum { RINGERS = 4, INTERVAL_MS = 20, READS = 10 };

struct patient {
	struct fixture *fixture;
	unsigned place;
	uint64_t begins_ns[READS]; /* of the sweeps that answered */
	unsigned n_stale, n_failed;
};

static void *read_without_pause(void *argument)
{
	struct patient *patient = argument;
	int fd = hang_doorbell(patient->fixture, patient->place);

	for (unsigned i = 0; i < READS; i++) {
		uint64_t called_ns = clock_now_ns();
		struct page_sweep sweep = {};

		if (read_fresh(patient->fixture, fd, 30 * SECOND, &sweep) < 0)
			patient->n_failed++;
		patient->n_stale += sweep.begin_ns < called_ns;
		patient->begins_ns[i] = sweep.begin_ns;
	}
	doorbells_remove(&patient->fixture->reader.doorbells, patient->place);
	close(fd);
	return NULL;
}

static void set_interval(struct fixture *f, uint32_t min_interval_ms)
{
	struct reader_rules rules = f->reader.options.rules;

	rules.budget.min_interval_ms = min_interval_ms;
	reader_set_rules(&f->reader, &rules);
}

CASE("sweeps keep their interval and answer all earlier rings")
{
	struct fixture f;
	struct patient patients[RINGERS];
	pthread_t threads[RINGERS];

	start_reader(&f, 100, 100);
	set_interval(&f, INTERVAL_MS);
	for (unsigned i = 0; i < RINGERS; i++) {
		patients[i] = (struct patient){ .fixture = &f, .place = i };
		assert_int_equal(
			pthread_create(&threads[i], NULL, read_without_pause, &patients[i]), 0);
	}
	for (unsigned i = 0; i < RINGERS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < RINGERS; i++) {
		assert_int_equal(patients[i].n_failed, 0);
		assert_int_equal(patients[i].n_stale, 0);
		for (unsigned k = 1; k < READS; k++)
			assert_true(patients[i].begins_ns[k] - patients[i].begins_ns[k - 1] >=
				    INTERVAL_MS * UINT64_C(1000000));
	}
	assert_true(reader_state(&f.reader).throttled > 0);
	stop_reader(&f);
}

static void *shorten_the_interval(void *argument)
{
	struct fixture *f = argument;

	while (!reader_state(&f->reader).throttled)
		usleep(1000);
	set_interval(f, 0);
	return NULL;
}

CASE("new rules reach users that wait already")
{
	struct fixture f;
	struct page_sweep sweep;
	pthread_t thread;
	int fd;

	start_reader(&f, 100, 100);
	set_interval(&f, 60000);
	fd = hang_doorbell(&f, 0);
	assert_int_equal(pthread_create(&thread, NULL, shorten_the_interval, &f), 0);
	assert_int_equal(read_fresh(&f, fd, 30 * SECOND, &sweep), 0);
	pthread_join(thread, NULL);
	doorbells_remove(&f.reader.doorbells, 0);
	close(fd);
	stop_reader(&f);
}

struct ringer {
	struct fixture *fixture;
	unsigned place;
	unsigned n_stale, n_failed;
};

static void *come_and_go(void *argument)
{
	struct ringer *ringer = argument;

	for (unsigned i = 0; i < 500; i++) {
		int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		uint64_t called_ns = clock_now_ns();
		struct page_sweep sweep;

		if (doorbells_add(&ringer->fixture->reader.doorbells, ringer->place, 0, fd,
			    &ringer->fixture->wakeup) < 0)
			ringer->n_failed++;
		doorbells_count_clients(&ringer->fixture->reader.doorbells, ringer->place, 1);
		if (read_fresh(ringer->fixture, fd, 30 * SECOND, &sweep) < 0)
			ringer->n_failed++;
		else
			ringer->n_stale += sweep.begin_ns < called_ns;
		doorbells_remove(&ringer->fixture->reader.doorbells, ringer->place);
		close(fd);
	}
	return NULL;
}

CASE("clients come and go while it sweeps")
{
	struct fixture f;
	struct ringer ringers[4];
	pthread_t threads[4];

	start_reader(&f, 100, 100);
	for (unsigned i = 0; i < 4; i++) {
		ringers[i] = (struct ringer){ &f, i, 0, 0 };
		assert_int_equal(pthread_create(&threads[i], NULL, come_and_go, &ringers[i]), 0);
	}
	for (unsigned i = 0; i < 4; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(ringers[i].n_failed, 0);
		assert_int_equal(ringers[i].n_stale, 0);
	}
	stop_reader(&f);
}

static uint64_t told_cpu_ns(struct shared_page *shared_page)
{
	return __atomic_load_n(&page_cell(shared_page->header, 0)->cpu_ns, __ATOMIC_RELAXED);
}

/* A doorbell that rings again during each sweep that it asked for. */
static struct {
	int fd;
	long slept_before; /* how often the reader's thread had, when the first such sweep began */
	bool began, slept, over;
} restless;

static ssize_t read_and_ring(const struct perf *self, int fd, void *ret_buffer, size_t size_bytes)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	if (!restless.began)
		restless.slept_before = usage.ru_nvcsw;
	restless.began = true;
	if (usage.ru_nvcsw > restless.slept_before)
		__atomic_store_n(&restless.slept, true, __ATOMIC_RELEASE);
	else if (!__atomic_load_n(&restless.over, __ATOMIC_ACQUIRE))
		eventfd_write(restless.fd, 1);
	return fake_read(self, fd, ret_buffer, size_bytes);
}

CASE("a reader that is rung without pause sleeps now and then")
{
	uint64_t deadline_ns;
	struct fixture f;

	start_reader(&f, 100, 10000);
	f.perf.read = read_and_ring; /* ahead of the doorbell, which hands it over */
	restless.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	assert_int_equal(doorbells_add(&f.reader.doorbells, 0, 0, restless.fd, &f.wakeup), 0);
	deadline_ns = clock_now_ns() + 10 * SECOND;
	eventfd_write(restless.fd, 1);
	while (!__atomic_load_n(&restless.slept, __ATOMIC_ACQUIRE) && clock_now_ns() < deadline_ns)
		usleep(10000);
	__atomic_store_n(&restless.over, true, __ATOMIC_RELEASE);
	doorbells_remove(&f.reader.doorbells, 0);
	stop_reader(&f);
	close(restless.fd);
	assert_true(restless.slept);
}

CASE("a reader moves to another page, and leaves the old one as it is")
{
	struct page_sweep before, after;
	struct shared_page page, old;
	struct fixture f;
	int fd;

	start_reader(&f, 100, 100);
	fd = hang_doorbell(&f, 0);
	assert_int_equal(read_fresh(&f, fd, SECOND, &before), 0);
	assert_int_equal(shared_page_copy(&f.generation.shared_page, &page), 0);
	assert_int_equal(page_check(page.header, page.header->page_bytes), 0);
	assert_memory_equal(
		page.header->generation, f.generation.shared_page.header->generation, 16);
	old = f.generation.shared_page;
	f.generation.shared_page = page;
	reader_move(&f.reader, page.header);
	/* The new page has the next sweep at once, and the old page is not touched any more. */
	assert_int_equal(page_copy(page_cell(page.header, 0), &after, 1, NULL, 0), 0);
	assert_int_equal(after.number, before.number + 1);
	assert_true(told_cpu_ns(&page) >= told_cpu_ns(&old) && told_cpu_ns(&old) > 0);
	assert_int_equal(read_fresh(&f, fd, SECOND, &after), 0);
	assert_int_equal(after.number, before.number + 2);
	assert_int_equal(page_copy(page_cell(old.header, 0), &after, 1, NULL, 0), 0);
	assert_int_equal(after.number, before.number);
	shared_page_retire(&old);
	assert_int_equal(old.header->state, PAGE_RETIRED);
	assert_int_equal(f.generation.shared_page.header->state, PAGE_LIVE);
	shared_page_done(&old);
	doorbells_remove(&f.reader.doorbells, 0);
	close(fd);
	stop_reader(&f);
}

CASE("a reader goes on from the last sweep of the ledger")
{
	struct reader_options options = { .affinity.cpu = -1, .stopped_fd = -1 };
	struct fixture f;

	start_reader(&f, 100, 100);
	f.kernel.events[0].value = 10;
	reader_done(&f.reader);
	assert_int_equal(reader_init(&f.reader, &options, &f.generation, 0), 0);
	assert_int_equal(reader_state(&f.reader).sweeps, 2);
	assert_int_equal(ledger_sweep(ledger_book(&f.generation.ledger, 0))->number, 2);
	assert_int_equal(
		ledger_sweep(ledger_book(&f.generation.ledger, 0))->values[0].count, 10 * BYTES);
	stop_reader(&f);
}

/* Uses the page in every way that the library can. Returns the number of failures. */
static void *use_library(void *argument)
{
	const struct uncore *handle = argument;
	struct uncore_sample sample = UNCORE_SAMPLE_INIT, before = UNCORE_SAMPLE_INIT;
	struct uncore_channel_value channel;
	struct uncore_daemon daemon = UNCORE_DAEMON_INIT;
	struct uncore_delta delta = UNCORE_DELTA_INIT;
	uintptr_t n_failed = 0;

	for (unsigned i = 0; i < 300; i++) {
		n_failed += uncore_read(handle, 0, UNCORE_CACHED, &before) < 0;
		n_failed += uncore_read_all(handle, UNCORE_FRESH, &sample, 1) < 0;
		n_failed += uncore_delta(&before, &sample, &delta) < 0;
		n_failed +=
			uncore_read_channels(handle, 0, UNCORE_CACHED, &sample, &channel, 1) != 1;
		n_failed += uncore_describe_daemon(handle, &daemon) < 0;
		n_failed += daemon.sweeps < before.sweep;
	}
	return (void *)n_failed;
}

/*
 * Reader and library use the same mapping, unlike otherwise, because ThreadSanitizer goes by
 * addresses.
 */
CASE("the library reads while it sweeps")
{
	struct uncore_mark mark = { .ours = 1 };
	struct uncore handle = { .mark = &mark, .timeout_ns = 30 * SECOND, .connection = -1 };
	struct fixture f;
	pthread_t threads[4];

	start_reader(&f, 100, 100);
	handle.shared = handle.tables = f.generation.shared_page.header;
	handle.wakeups = &f.wakeup;
	handle.n_doorbells = 1;
	handle.doorbells[0] = hang_doorbell(&f, 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use_library, &handle), 0);
	for (unsigned i = 0; i < 100; i++) {
		int fd = hang_doorbell(&f, 1);

		shared_page_tell_clients(&f.generation.shared_page, i, i);
		doorbells_remove(&f.reader.doorbells, 1);
		close(fd);
	}
	for (unsigned i = 0; i < 4; i++) {
		void *n_failed;

		pthread_join(threads[i], &n_failed);
		assert_null(n_failed);
	}
	close(handle.doorbells[0]);
	stop_reader(&f);
}
