/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/page.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness/test.h"

enum { SOCKETS = 2, METRICS = 3, CHANNELS = 5 };

static struct page_wakeup wakeup;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static struct page_header *new_page(void)
{
	struct page_header header = {
		.state = PAGE_LIVE,
		.n_metrics = METRICS,
		.n_sockets = SOCKETS,
		.n_channels = SOCKETS * CHANNELS,
		.n_texts = 2,
	};
	struct page_header *page;

	page_lay_out(&header, CHANNELS);
	page = aligned_alloc(PAGE_CACHE_LINE, header.page_bytes);
	assert_non_null(page);
	memset(page, 0, header.page_bytes);
	*page = header;
	for (uint32_t i = 0; i < SOCKETS; i++) {
		struct page_socket *socket = page_sockets(page) + i;

		socket->first_channel = i * CHANNELS;
		socket->n_channels = CHANNELS;
	}
	return page;
}

static struct page_cell *cell_of(struct page_header *page, uint32_t socket)
{
	return page_cell(page, socket);
}

/* Sweep number @number, in which every word says so. */
static void publish(struct page_cell *cell, uint64_t number)
{
	struct page_channel_value channels[CHANNELS];
	struct page_sweep sweep = { .number = number, .begin_ns = number, .end_ns = number };

	for (int i = 0; i < METRICS; i++)
		sweep.values[i].count = number;
	for (int i = 0; i < CHANNELS; i++)
		channels[i] = (struct page_channel_value){ .count = number };
	page_sweep_end(cell, page_sweep_begin(cell),
		&(struct page_result){ &sweep, METRICS, channels, CHANNELS });
	page_wakeup_announce(&wakeup);
	page_wakeup_wake(&wakeup, INT_MAX);
}

static struct page_header *page;

static int begin(void **state)
{
	page = new_page();
	return remember_descriptors(state);
}

static int end(void **state)
{
	free(page);
	return compare_descriptors(state);
}

#define PAGE_CASE(sentence) CASE_WITHIN(sentence, begin, end)

PAGE_CASE("a page that was laid out passes the check")
{
	assert_int_equal(page_check(page, page->page_bytes), 0);
	assert_int_equal(page->cells_at % PAGE_CACHE_LINE, 0);
	assert_int_equal(page->cell_stride % PAGE_CACHE_LINE, 0);
}

/* A later release adds behind the cells. */
PAGE_CASE("a page that has grown passes")
{
	uint64_t grown_bytes = page->page_bytes + PAGE_CACHE_LINE;

	page = realloc(page, grown_bytes);
	assert_non_null(page);
	memset((char *)page + page->page_bytes, 0xff, PAGE_CACHE_LINE);
	page->page_bytes = grown_bytes;
	assert_int_equal(page_check(page, grown_bytes), 0);
	assert_int_equal(page_check(page, grown_bytes - 1), -EBADMSG);
}

/* Its other contents do not matter. */
CASE("a page of any version is known as one")
{
	struct page_header head = { .magic = PAGE_MAGIC, .version = 77, .n_metrics = UINT32_MAX };

	assert_true(page_is_any(&head, 16));
	assert_false(page_is_any(&head, 15));
	head.magic++;
	assert_false(page_is_any(&head, sizeof head));
}

PAGE_CASE("tables do not overlap")
{
	assert_true(page->metrics_at >= sizeof *page);
	assert_ptr_equal(page_metrics(page) + METRICS, page_sockets(page));
	assert_ptr_equal(page_sockets(page) + SOCKETS, page_channels(page));
	assert_ptr_equal(page_channels(page) + SOCKETS * CHANNELS, page_texts(page));
	assert_true((const char *)(page_texts(page) + 2) <= (const char *)page_cell(page, 0));
}

PAGE_CASE("another version is told apart")
{
	page->version++;
	assert_int_equal(page_check(page, page->page_bytes), -EPROTONOSUPPORT);
}

PAGE_CASE("a short page or a wrong magic is refused")
{
	assert_int_equal(page_check(page, sizeof *page - 1), -EBADMSG);
	assert_int_equal(page_check(page, page->page_bytes - 1), -EBADMSG);
	page->magic ^= 1;
	assert_int_equal(page_check(page, page->page_bytes), -EBADMSG);
}

CASE("every corrupted count and offset is refused")
{
	static const size_t fields[] = {
		offsetof(struct page_header, n_metrics),
		offsetof(struct page_header, n_sockets),
		offsetof(struct page_header, n_channels),
		offsetof(struct page_header, n_texts),
		offsetof(struct page_header, metrics_at),
		offsetof(struct page_header, sockets_at),
		offsetof(struct page_header, channels_at),
		offsetof(struct page_header, texts_at),
		offsetof(struct page_header, cells_at),
		offsetof(struct page_header, cell_stride),
	};
	static const uint32_t values[] = { 0x7ffffff8, 0xfffffff8, 0xffffffff };

	for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
		for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
			page = new_page();
			memcpy((char *)page + fields[f], &values[v], sizeof values[v]);
			assert_int_equal(page_check(page, page->page_bytes), -EBADMSG);
			free(page);
		}
	}
}

PAGE_CASE("tables inside the header or misaligned are refused")
{
	page->metrics_at = 0;
	assert_int_equal(page_check(page, page->page_bytes), -EBADMSG);
	page->metrics_at = sizeof *page + 4;
	assert_int_equal(page_check(page, page->page_bytes), -EBADMSG);
}

PAGE_CASE("a cell too small for its channels is refused")
{
	page->cell_stride = sizeof(struct page_cell) - 8;
	assert_int_equal(page_check(page, page->page_bytes), -EBADMSG);
}

PAGE_CASE("wrong indexes in tables are refused")
{
	struct page_channel *channel = page_channels(page);
	struct page_socket *socket = page_sockets(page);

	channel->socket = SOCKETS;
	assert_int_equal(page_check(page, page->page_bytes), -EBADMSG);
	channel->socket = 0;
	channel->metric = METRICS;
	assert_int_equal(page_check(page, page->page_bytes), -EBADMSG);
	channel->metric = 0;
	socket->first_channel = 0xffffffff;
	assert_int_equal(page_check(page, page->page_bytes), -EBADMSG);
	socket->first_channel = SOCKETS * CHANNELS - 1;
	assert_int_equal(page_check(page, page->page_bytes), -EBADMSG);
}

CASE("strings without an end are refused")
{
	for (int which = 0; which < 5; which++) {
		page = new_page();
		const struct {
			const void *text;
			size_t size_bytes;
		} strings[] = {
			{ page->platform, PAGE_NAME_MAX },
			{ page_metrics(page)[2].name, PAGE_NAME_MAX },
			{ page_metrics(page)[2].unit, PAGE_NAME_MAX },
			{ page_channels(page)[1].name, PAGE_NAME_MAX },
			{ page_texts(page)[1].text, PAGE_TEXT_MAX },
		};

		memset((void *)strings[which].text, 'x', strings[which].size_bytes);
		assert_int_equal(page_check(page, page->page_bytes), -EBADMSG);
		free(page);
	}
}

PAGE_CASE("random headers never lead outside the page")
{
	struct page_header good = *page;

	srandom(1);
	for (int i = 0; i < 20000; i++) {
		size_t at = offsetof(struct page_header, page_bytes) +
			    (size_t)random() %
				    (sizeof *page - offsetof(struct page_header, page_bytes));

		((unsigned char *)page)[at] = (unsigned char)random();
		(void)page_check(page, good.page_bytes); /* ASan watches */
		*page = good;
	}
}

PAGE_CASE("a copy has what was published")
{
	struct page_channel_value channels[CHANNELS];
	struct page_sweep sweep;

	publish(cell_of(page, 1), 42);
	assert_int_equal(page_copy(page_cell(page, 1), &sweep, METRICS, channels, CHANNELS), 0);
	assert_int_equal(sweep.number, 42);
	assert_int_equal(sweep.values[METRICS - 1].count, 42);
	assert_int_equal(channels[CHANNELS - 1].count, 42);
	assert_int_equal(page_copy(page_cell(page, 0), &sweep, METRICS, NULL, 0), 0);
	assert_int_equal(sweep.number, 0);
}

PAGE_CASE("a writer that died is told, and its cell is taken over")
{
	struct page_sweep sweep;

	publish(cell_of(page, 0), 1);
	cell_of(page, 0)->lock |= 1; /* as a writer that is killed half-way leaves it */
	assert_int_equal(page_copy(page_cell(page, 0), &sweep, METRICS, NULL, 0), -EAGAIN);
	publish(cell_of(page, 0), 2);
	assert_int_equal(page_copy(page_cell(page, 0), &sweep, METRICS, NULL, 0), 0);
	assert_int_equal(sweep.number, 2);
}

PAGE_CASE("a wait for a later sweep ends at its deadline")
{
	const struct page_cell *cell = page_cell(page, 0);
	uint64_t deadline_ns = now_ns() + 5000000;

	publish(cell_of(page, 0), 1);
	assert_int_equal(page_wait(cell, &wakeup, page_started(cell), deadline_ns), -ETIMEDOUT);
	assert_true(now_ns() >= deadline_ns);
	assert_int_equal(page_wait(cell, &wakeup, page_started(cell) - 1, 0), 0);
}

PAGE_CASE("a sweep under way is not fresh")
{
	struct page_cell *cell = cell_of(page, 0);
	struct page_sweep sweep = { .number = 1 };
	uint32_t under_way = page_sweep_begin(cell);
	uint32_t started = page_started(cell);

	page_sweep_end(cell, under_way, &(struct page_result){ &sweep, METRICS, NULL, 0 });
	assert_int_equal(page_wait(cell, &wakeup, started, now_ns() + 1000000), -ETIMEDOUT);
	publish(cell, 2);
	assert_int_equal(page_wait(cell, &wakeup, started, 0), 0);
}

PAGE_CASE("sweep numbers wrap")
{
	struct page_cell *cell = cell_of(page, 0);
	uint32_t started;

	cell->started = cell->finished = 0xffffffff;
	started = page_started(cell);
	assert_int_equal(page_wait(cell, &wakeup, started, 0), -ETIMEDOUT);
	publish(cell, 1);
	assert_int_equal(cell->finished, 0);
	assert_int_equal(page_wait(cell, &wakeup, started, 0), 0);
}

static void *publish_later(void *cell)
{
	usleep(20000);
	publish(cell, 1);
	return NULL;
}

PAGE_CASE("a publishing thread wakes the waiter")
{
	const struct page_cell *cell = page_cell(page, 0);
	uint64_t begin_ns = now_ns();
	uint32_t started = page_started(cell);
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, publish_later, cell_of(page, 0)), 0);
	assert_int_equal(page_wait(cell, &wakeup, started, begin_ns + 30000000000), 0);
	assert_true(now_ns() - begin_ns < 20000000000);
	pthread_join(thread, NULL);
}

enum { RACES = 50000 };

struct race {
	struct page_cell *cell;
	atomic_uint n_asked; /* sweeps that the waiter has asked for */
};

static void *publish_what_is_asked(void *argument)
{
	struct race *race = argument;

	for (unsigned n = 1; n <= RACES; n++) {
		while (atomic_load(&race->n_asked) < n)
			;
		for (volatile unsigned delay = n % 128; delay; delay--)
			; /* meets waiters while they look, and while they sleep */
		publish(race->cell, n);
	}
	return NULL;
}

PAGE_CASE("no wake-up is lost between looking and sleeping")
{
	struct race race = { .cell = cell_of(page, 0) };
	uint64_t begin_ns = now_ns();
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, publish_what_is_asked, &race), 0);
	for (unsigned i = 0; i < RACES; i++) {
		uint32_t started = page_started(race.cell);

		atomic_fetch_add(&race.n_asked, 1);
		assert_int_equal(page_wait(race.cell, &wakeup, started, begin_ns + 60000000000), 0);
		/*
		 * A waiter that was not woken would sleep until the deadline, and find the sweep
		 * then.
		 */
		assert_true(now_ns() < begin_ns + 60000000000);
	}
	pthread_join(thread, NULL);
}

static atomic_bool writer_stops;

static void *publish_always(void *cell)
{
	for (uint64_t number = 1; !atomic_load(&writer_stops); number++)
		publish(cell, number);
	return NULL;
}

PAGE_CASE("a copy is never torn")
{
	struct page_channel_value channels[CHANNELS];
	struct page_sweep sweep;
	int n_copies = 0;
	pthread_t thread;

	atomic_store(&writer_stops, false);
	assert_int_equal(pthread_create(&thread, NULL, publish_always, cell_of(page, 0)), 0);
	for (int i = 0; i < 100000; i++) {
		if (page_copy(page_cell(page, 0), &sweep, METRICS, channels, CHANNELS) < 0)
			continue;
		n_copies++;
		assert_int_equal(sweep.begin_ns, sweep.number);
		assert_int_equal(sweep.values[METRICS - 1].count, sweep.number);
		assert_int_equal(channels[CHANNELS - 1].count, sweep.number);
	}
	atomic_store(&writer_stops, true);
	pthread_join(thread, NULL);
	assert_true(n_copies > 0);
}
