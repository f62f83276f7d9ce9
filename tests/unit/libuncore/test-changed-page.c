/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program that answers on the socket may not be uncored, and the process that reads may be
 * root's. So a page that is changed after it passed the check must not lead the library outside.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "client/libuncore/uncore.h"
#include "common/page.h"
#include "tests/harness/fake-daemon.h"
#include "tests/harness/test.h"

/* A deaf daemon, and a handle on its page after one sweep of each socket. */
struct link {
	struct fake_daemon daemon;
	struct uncore *handle;
};

static void link_open(struct link *link)
{
	fake_daemon_start(&link->daemon, NULL, 1);
	assert_int_equal(uncore_open(link->daemon.path, &link->handle), 0);
	for (uint32_t i = 0; i < FAKE_SOCKETS; i++)
		fake_daemon_sweep(&link->daemon, i);
}

static void link_close(struct link *link)
{
	uncore_close(link->handle);
	fake_daemon_stop(&link->daemon);
	fake_daemon_done(&link->daemon);
}

static void check_names(const struct uncore *handle)
{
	struct uncore_machine machine = UNCORE_MACHINE_INIT;
	struct uncore_socket socket = UNCORE_SOCKET_INIT;
	struct uncore_channel channel = UNCORE_CHANNEL_INIT;
	struct uncore_daemon daemon = UNCORE_DAEMON_INIT;

	assert_int_equal(uncore_describe(handle, &machine), 0);
	assert_int_equal(machine.n_sockets, FAKE_SOCKETS);
	assert_int_equal(machine.n_metrics, FAKE_METRICS);
	assert_int_equal(machine.n_channels, FAKE_SOCKETS * FAKE_CHANNELS);
	assert_string_equal(machine.platform, "icelake-sp");
	assert_string_equal(uncore_metric_name(handle, FAKE_WRITE), "dram.write");
	assert_string_equal(uncore_metric_unit(handle, FAKE_CLOCK), "ns");
	assert_null(uncore_metric_name(handle, FAKE_METRICS));
	assert_int_equal(uncore_find_metric(handle, "itom"), FAKE_ITOM);
	assert_int_equal(uncore_find_metric(handle, "no such"), -ENOENT);
	assert_int_equal(uncore_describe_socket(handle, 1, &socket), 0);
	assert_int_equal(socket.first_channel, FAKE_CHANNELS);
	assert_int_equal(socket.n_channels, FAKE_CHANNELS);
	assert_int_equal(uncore_describe_channel(handle, 4, &channel), 0);
	assert_int_equal(channel.socket, 1);
	assert_string_equal(channel.name, "imc1");
	assert_string_equal(uncore_why(handle, 1), "this machine has no such event");
	assert_string_equal(uncore_why(handle, 2), "for an unknown reason");
	assert_int_equal(uncore_describe_daemon(handle, &daemon), 0);
	assert_int_equal(daemon.sweeps, FAKE_SOCKETS);
}

/* A canary lies behind each output, and must stay as it is. */
static void check_reads(const struct uncore *handle)
{
	enum { CANARY = 0x5a5a5a5a };
	struct {
		struct uncore_sample samples[FAKE_SOCKETS];
		uint32_t canary;
	} all = { { UNCORE_SAMPLE_INIT, UNCORE_SAMPLE_INIT }, CANARY };
	struct {
		struct uncore_channel_value values[FAKE_CHANNELS];
		uint32_t canary;
	} channels = { .canary = CANARY };

	assert_int_equal(uncore_read(handle, 1, UNCORE_CACHED, &all.samples[0]), 0);
	assert_int_equal(all.samples[0].n_values, FAKE_METRICS);
	assert_int_equal(uncore_read_all(handle, UNCORE_CACHED, all.samples, FAKE_SOCKETS), 0);
	assert_int_equal(all.samples[1].values[FAKE_READ].count, 2 * FAKE_STEP);
	assert_int_equal(uncore_read_channels(handle, 1, UNCORE_CACHED, &all.samples[0],
				 channels.values, FAKE_CHANNELS),
		FAKE_CHANNELS);
	assert_int_equal(channels.values[2].count, 12);
	assert_int_equal(uncore_read(handle, FAKE_SOCKETS, UNCORE_CACHED, all.samples), -EINVAL);
	assert_int_equal(all.canary, CANARY);
	assert_int_equal(channels.canary, CANARY);
}

CASE("counts and offsets are as they were at the opening")
{
	static const uint32_t values[] = { 0, 17, 1000, 0x7fffffff, UINT32_MAX };
	struct link link;

	link_open(&link);
	for (uint32_t *word = &link.daemon.page->n_metrics; word <= &link.daemon.page->cell_stride;
		word++)
		for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
			uint32_t was = *word;

			*word = values[i];
			check_names(link.handle);
			check_reads(link.handle);
			*word = was;
		}
	link_close(&link);
}

CASE("tables are as they were at the opening")
{
	struct page_header *page;
	struct link link;

	link_open(&link);
	page = link.daemon.page;
	memset(page->platform, 'x', sizeof page->platform);
	memset((char *)page + page->metrics_at, 0xff, page->cells_at - page->metrics_at);
	check_names(link.handle);
	check_reads(link.handle);
	link_close(&link);
}

CASE("the CPU is read anew each time")
{
	struct uncore_channel channel = UNCORE_CHANNEL_INIT;
	struct uncore_socket socket = UNCORE_SOCKET_INIT;
	struct page_header *page;
	struct link link;

	link_open(&link);
	page = link.daemon.page;
	page_sockets(page)[1].cpu = 41;
	page_channels(page)[4].cpu = 42;
	assert_int_equal(uncore_describe_socket(link.handle, 1, &socket), 0);
	assert_int_equal(uncore_describe_channel(link.handle, 4, &channel), 0);
	assert_int_equal(socket.cpu, 41);
	assert_int_equal(channel.cpu, 42);
	link_close(&link);
}

CASE("a reason without a text is unknown")
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct link link;

	link_open(&link);
	fake_daemon_cell(&link.daemon, 0)->sweep.values[FAKE_ITOM].why = UINT32_MAX;
	assert_int_equal(uncore_read(link.handle, 0, UNCORE_CACHED, &sample), 0);
	assert_string_equal(
		uncore_why(link.handle, sample.values[FAKE_ITOM].why), "for an unknown reason");
	link_close(&link);
}

/* --- while it is copied --- */

struct changer {
	struct page_header *page;
	atomic_bool stop;
};

static void *change_without_pause(void *userdata)
{
	struct changer *changer = userdata;
	char *end_of_name = (char *)&page_metrics(changer->page)[FAKE_READ].name[PAGE_NAME_MAX - 1];

	while (!atomic_load(&changer->stop)) {
		__atomic_store_n(&changer->page->n_metrics, UINT32_MAX, __ATOMIC_RELAXED);
		__atomic_store_n(end_of_name, 'x', __ATOMIC_RELAXED);
		__atomic_store_n(&changer->page->n_metrics, FAKE_METRICS, __ATOMIC_RELAXED);
		__atomic_store_n(end_of_name, '\0', __ATOMIC_RELAXED);
	}
	return NULL;
}

CASE("a page that changes while it is copied is refused or whole")
{
	struct fake_daemon daemon;
	struct changer changer = {};
	pthread_t thread;

	fake_daemon_start(&daemon, NULL, 1);
	changer.page = daemon.page;
	memset((char *)page_metrics(daemon.page)[FAKE_READ].name, 'x', PAGE_NAME_MAX - 1);
	assert_int_equal(pthread_create(&thread, NULL, change_without_pause, &changer), 0);
	for (int i = 0; i < 100000; i++) {
		struct page_header *tables;
		int r = page_copy_tables(daemon.page, daemon.page_bytes, &tables);

		if (r < 0) {
			assert_int_equal(r, -EBADMSG);
			continue;
		}
		assert_int_equal(tables->n_metrics, FAKE_METRICS);
		assert_int_equal(strlen(page_metrics(tables)[FAKE_READ].name), PAGE_NAME_MAX - 1);
		free(tables);
	}
	atomic_store(&changer.stop, true);
	pthread_join(thread, NULL);
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}

CASE("tables behind the cells, or without measure, are refused")
{
	struct fake_daemon daemon;
	struct page_header *tables, was;

	fake_daemon_start(&daemon, NULL, 1);
	was = *daemon.page;
	daemon.page->texts_at = was.cells_at;
	assert_int_equal(page_copy_tables(daemon.page, daemon.page_bytes, &tables), -EBADMSG);
	*daemon.page = was;
	daemon.page->cells_at = PAGE_TABLES_MAX + 8;
	daemon.page->page_bytes = UINT64_MAX;
	assert_int_equal(page_copy_tables(daemon.page, UINT64_MAX, &tables), -EBADMSG);
	*daemon.page = was;
	assert_int_equal(page_copy_tables(daemon.page, sizeof was - 1, &tables), -EBADMSG);
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}
