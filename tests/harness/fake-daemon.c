/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/harness/fake-daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "common/wire.h"
#include "tests/harness/test.h"

struct page_cell *fake_daemon_cell(struct fake_daemon *daemon, uint32_t socket)
{
	return page_cell(daemon->page, socket);
}

void fake_daemon_sweep(struct fake_daemon *daemon, uint32_t socket)
{
	struct page_cell *cell = fake_daemon_cell(daemon, socket);
	uint64_t number = cell->sweep.number + 1;
	struct page_channel_value channels[FAKE_CHANNELS] = {};
	struct page_sweep sweep = { .number = number };
	uint32_t started = page_sweep_begin(cell);

	sweep.begin_ns = clock_now_ns();
	for (uint32_t m = 0; m < FAKE_METRICS; m++)
		sweep.values[m].count = number * (daemon->options.growing ? number : 1) *
					FAKE_STEP * (socket + 1) * (m + 1);
	sweep.values[FAKE_READ].quality = daemon->options.quality;
	if (!daemon->options.two_tiers)
		sweep.values[FAKE_ITOM] = (struct page_value){ .quality = PAGE_ABSENT, .why = 1 };
	for (uint32_t c = 0; c < FAKE_CHANNELS; c++)
		channels[c].count = number * 10 + c;
	sweep.end_ns = clock_now_ns();
	atomic_fetch_add(&daemon->sweeps, 1);
	page_sweep_end(cell, started,
		&(struct page_result){ &sweep, FAKE_METRICS, channels, FAKE_CHANNELS });
	page_wakeup_announce(&daemon->wakeups[socket]);
	page_wakeup_wake(&daemon->wakeups[socket], INT_MAX);
}

void fake_daemon_deafen(struct fake_daemon *daemon)
{
	unsigned before;

	atomic_store(&daemon->deaf, true);
	before = atomic_load(&daemon->rounds);
	while (atomic_load(&daemon->rounds) - before < 2)
		usleep(1000);
}

/* --- the page --- */

static void fill_tables(struct page_header *page, bool two_tiers)
{
	static const char *const names[][FAKE_METRICS] = {
		{ "dram.read", "dram.write", "clock", "itom" },
		{ "dram.read", "dram.write", "hbm.read", "hbm.write" },
	};
	struct page_metric *metrics = page_metrics(page);
	struct page_socket *sockets = page_sockets(page);
	struct page_channel *channels = page_channels(page);

	for (uint32_t m = 0; m < FAKE_METRICS; m++) {
		strcpy(metrics[m].name, names[two_tiers][m]);
		strcpy(metrics[m].unit, m == FAKE_CLOCK && !two_tiers ? "ns" : "bytes");
	}
	metrics[FAKE_CLOCK].pmid = two_tiers ? 0 : FAKE_PMID;
	for (uint32_t s = 0; s < page->n_sockets; s++)
		sockets[s] = (struct page_socket){ .package = 2 * s,
			.cpu = 8 * s,
			.first_channel = s * FAKE_CHANNELS,
			.n_channels = FAKE_CHANNELS };
	for (uint32_t c = 0; c < page->n_channels; c++) {
		channels[c].socket = c / FAKE_CHANNELS;
		channels[c].cpu = sockets[channels[c].socket].cpu;
		channels[c].bytes = 64;
		snprintf(channels[c].name, sizeof channels[c].name, "imc%u", c % FAKE_CHANNELS);
		snprintf(channels[c].pmu, sizeof channels[c].pmu, "uncore_imc_%u",
			c % FAKE_CHANNELS);
		strcpy(channels[c].event, "cas_count_read");
	}
}

static void make_page(struct fake_daemon *daemon, uint64_t generation)
{
	struct page_header header = {
		.state = PAGE_LIVE,
		.generation = { generation, 7 },
		.n_metrics = FAKE_METRICS,
		.n_sockets = daemon->n_sockets,
		.n_channels = daemon->n_sockets * FAKE_CHANNELS,
		.n_texts = 2,
		.daemon = { .started_ns = 5,
			.n_clients = 3,
			.refused = 4,
			.min_interval_ns = daemon->options.min_interval_ns },
	};
	const char *platform = daemon->options.platform;

	strcpy(header.platform, platform ? platform : "icelake-sp");
	page_lay_out(&header, FAKE_CHANNELS);
	daemon->page_bytes = header.page_bytes + daemon->options.padding_bytes;
	daemon->page_fd = memfd_create("page", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(daemon->page_fd, (off_t)daemon->page_bytes), 0);
	if (!daemon->options.open_ended)
		assert_int_equal(fcntl(daemon->page_fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	daemon->page = mmap(
		NULL, daemon->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, daemon->page_fd, 0);
	assert_ptr_not_equal(daemon->page, MAP_FAILED);
	*daemon->page = header;
	fill_tables(daemon->page, daemon->options.two_tiers);
	strcpy(page_texts(daemon->page)[1].text,
		daemon->options.why ? daemon->options.why : "this machine has no such event");
	if (daemon->options.bad_page)
		daemon->page->magic++;
}

static void make_wakeups(struct fake_daemon *daemon)
{
	const struct rules everybody = { .socket.mode = 0666, .owner = RULES_NOBODY };
	size_t size_bytes = daemon->n_sockets * sizeof *daemon->wakeups + sizeof *daemon->rules;

	daemon->wakeups_fd = memfd_create("wakeups", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(daemon->wakeups_fd, (off_t)size_bytes), 0);
	daemon->wakeups =
		mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, daemon->wakeups_fd, 0);
	assert_ptr_not_equal(daemon->wakeups, MAP_FAILED);
	daemon->rules = (void *)&daemon->wakeups[daemon->n_sockets];
	page_rules_write(daemon->rules, &everybody);
	if (daemon->options.short_wakeups)
		assert_int_equal(ftruncate(daemon->wakeups_fd, 0), 0);
	assert_int_equal(fcntl(daemon->wakeups_fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
}

/* As a revocation does: the counts go on in a new page, and the old page is never written again. */
static void replace_page(struct fake_daemon *daemon)
{
	struct page_header *old = daemon->page;

	close_fd(&daemon->page_fd);
	make_page(daemon, old->generation[0]);
	for (uint32_t s = 0; s < daemon->n_sockets; s++)
		memcpy(fake_daemon_cell(daemon, s), page_cell(old, s), old->cell_stride);
	__atomic_store_n(&old->state, PAGE_RETIRED, __ATOMIC_RELAXED);
	daemon->retired = old;
}

/* --- the protocol --- */

static void send_welcome(struct fake_daemon *daemon, int client)
{
	uint32_t version = daemon->options.version;
	int fds[2 + FAKE_SOCKETS_MAX] = { daemon->page_fd };
	union wire_message message;

	memcpy(&fds[1], daemon->doorbells, sizeof daemon->doorbells);
	fds[1 + daemon->n_sockets] = daemon->wakeups_fd;
	wire_begin(&message, WIRE_WELCOME);
	message.welcome.version = version ? version : WIRE_VERSION;
	message.welcome.n_sockets = daemon->n_sockets;
	message.welcome.page_bytes = daemon->page_bytes + daemon->options.extra_page_bytes;
	wire_send(client, &message, fds, 1 + daemon->n_sockets + !daemon->options.no_wakeups);
}

static void send_refusal(struct fake_daemon *daemon, int client)
{
	union wire_message message;

	wire_error(&message, daemon->options.refuse, "because it was told to.");
	wire_send(client, &message, NULL, 0);
}

static void send_report(struct fake_daemon *daemon, int client)
{
	_cleanup_close_ int fd = memfd_create("report", MFD_CLOEXEC);
	const char *report = daemon->options.report;
	struct wire_report_end end;
	union wire_message message;

	if (!report)
		report = "{\"platform\":\"icelake-sp\"}";
	end = (struct wire_report_end){ strlen(report), wire_hash(report, strlen(report)) };
	wire_begin(&message, WIRE_REPORT);
	message.report.json_bytes = end.json_bytes;
	if (write(fd, report, end.json_bytes) == (ssize_t)end.json_bytes &&
		pwrite(fd, &end, sizeof end, (off_t)wire_report_end_at(end.json_bytes)) ==
			sizeof end)
		wire_send(client, &message, &fd, 1);
}

static void renew_doorbells(struct fake_daemon *daemon, int client)
{
	union wire_message message;

	for (uint32_t i = 0; i < daemon->n_sockets; i++) {
		close_fd(&daemon->doorbells[i]);
		daemon->doorbells[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	}
	atomic_store(&daemon->deaf, false);
	wire_begin(&message, WIRE_RENEWED);
	message.renewed.n_sockets = daemon->n_sockets;
	wire_send(client, &message, daemon->doorbells, daemon->n_sockets);
}

static void answer(struct fake_daemon *daemon, int *client)
{
	struct wire_packet packet;

	if (wire_receive(*client, WIRE_FROM_CLIENT, &packet) != 1) {
		close_fd(client);
		return;
	}
	wire_packet_done(&packet);
	if (daemon->options.silent)
		return;
	usleep(daemon->options.delay_ms * 1000);
	if (daemon->options.refuse)
		send_refusal(daemon, *client);
	else if (packet.message.header.opcode == WIRE_HELLO)
		send_welcome(daemon, *client);
	else if (packet.message.header.opcode == WIRE_RENEW)
		renew_doorbells(daemon, *client);
	else
		send_report(daemon, *client);
}

static void accept_client(struct fake_daemon *daemon)
{
	_cleanup_close_ int fd = accept4(daemon->listener, NULL, NULL, SOCK_CLOEXEC);

	daemon->n_accepted++;
	if (daemon->options.hang_up_once) {
		daemon->options.hang_up_once = false;
		return;
	}
	if (daemon->options.refuse_at_once) {
		usleep(20000); /* HELLO arrives, and stays unread */
		send_refusal(daemon, fd);
		return;
	}
	for (int i = 0; i < FAKE_CLIENTS_MAX; i++)
		if (daemon->clients[i] < 0) {
			daemon->clients[i] = take_fd(&fd);
			return;
		}
}

static void refuse_all(struct fake_daemon *daemon)
{
	daemon->options.refuse = -EACCES;
	atomic_store(&daemon->deaf, true);
	for (int i = 0; i < FAKE_CLIENTS_MAX; i++)
		close_fd(&daemon->clients[i]);
}

static void answer_doorbell(struct fake_daemon *daemon, uint32_t socket)
{
	uint64_t rings;

	if (daemon->options.sweep_ms)
		usleep(daemon->options.sweep_ms * 1000);
	if (read(daemon->doorbells[socket], &rings, sizeof rings) == sizeof rings)
		fake_daemon_sweep(daemon, socket);
	if (daemon->options.deaf_after &&
		atomic_load(&daemon->sweeps) >= daemon->options.deaf_after)
		atomic_store(&daemon->deaf, true);
	if (daemon->options.refuse_after &&
		atomic_load(&daemon->sweeps) >= daemon->options.refuse_after)
		refuse_all(daemon);
	if (!daemon->retired && daemon->options.retire_after &&
		atomic_load(&daemon->sweeps) == daemon->options.retire_after)
		replace_page(daemon);
}

enum { POLL_STOP, POLL_LISTENER, POLL_DOORBELLS, POLL_CLIENTS = POLL_DOORBELLS + FAKE_SOCKETS_MAX };

static void *serve(void *userdata)
{
	struct fake_daemon *daemon = userdata;
	struct pollfd polls[POLL_CLIENTS + FAKE_CLIENTS_MAX];

	sem_post(&daemon->serving);
	for (;;) {
		atomic_fetch_add(&daemon->rounds, 1);
		polls[POLL_STOP] = (struct pollfd){ .fd = daemon->stop, .events = POLLIN };
		polls[POLL_LISTENER] = (struct pollfd){ .fd = daemon->listener, .events = POLLIN };
		for (uint32_t i = 0; i < FAKE_SOCKETS_MAX; i++)
			polls[POLL_DOORBELLS + i] = (struct pollfd){
				.fd = atomic_load(&daemon->deaf) || i >= daemon->n_sockets
					      ? -1
					      : daemon->doorbells[i],
				.events = POLLIN
			};
		for (int i = 0; i < FAKE_CLIENTS_MAX; i++)
			polls[POLL_CLIENTS + i] =
				(struct pollfd){ .fd = daemon->clients[i], .events = POLLIN };
		if (poll(polls, ARRAY_SIZE(polls), 10) < 0)
			continue;
		if (polls[POLL_STOP].revents)
			return NULL;
		for (uint32_t i = 0; i < FAKE_SOCKETS_MAX; i++)
			if (polls[POLL_DOORBELLS + i].revents)
				answer_doorbell(daemon, i);
		for (int i = 0; i < FAKE_CLIENTS_MAX; i++)
			if (polls[POLL_CLIENTS + i].revents)
				answer(daemon, &daemon->clients[i]);
		if (polls[POLL_LISTENER].revents)
			accept_client(daemon);
	}
}

/* --- its life --- */

static void start_serving(struct fake_daemon *daemon, uint64_t generation)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	daemon->n_sockets = daemon->options.n_sockets ? daemon->options.n_sockets : FAKE_SOCKETS;
	make_page(daemon, generation);
	make_wakeups(daemon);
	daemon->stop = eventfd(0, EFD_CLOEXEC);
	for (uint32_t i = 0; i < daemon->n_sockets; i++)
		daemon->doorbells[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	for (int i = 0; i < FAKE_CLIENTS_MAX; i++)
		daemon->clients[i] = -1;
	strcpy(address.sun_path, daemon->path);
	unlink(daemon->path);
	daemon->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(daemon->listener, (struct sockaddr *)&address, sizeof address), 0);
	assert_int_equal(listen(daemon->listener, 8), 0);
	sem_init(&daemon->serving, 0, 0);
	assert_int_equal(pthread_create(&daemon->thread, NULL, serve, daemon), 0);
	/* A test that forks while a thread begins may inherit a lock of the sanitizer's allocator.
	 */
	while (sem_wait(&daemon->serving) < 0)
		;
}

void fake_daemon_start(
	struct fake_daemon *daemon, const struct fake_options *options, uint64_t generation)
{
	memset(daemon, 0, sizeof *daemon);
	if (options)
		daemon->options = *options;
	strcpy(daemon->directory, "/tmp/uncore-test-XXXXXX");
	assert_non_null(mkdtemp(daemon->directory));
	snprintf(daemon->path, sizeof daemon->path, "%s/socket", daemon->directory);
	start_serving(daemon, generation);
}

void fake_daemon_restart(struct fake_daemon *daemon, uint64_t generation)
{
	start_serving(daemon, generation);
}

void fake_daemon_stop(struct fake_daemon *daemon)
{
	uint64_t one = 1;

	assert_int_equal(write(daemon->stop, &one, sizeof one), sizeof one);
	pthread_join(daemon->thread, NULL);
	sem_destroy(&daemon->serving);
	for (int i = 0; i < FAKE_CLIENTS_MAX; i++)
		close_fd(&daemon->clients[i]);
	for (uint32_t i = 0; i < daemon->n_sockets; i++)
		close_fd(&daemon->doorbells[i]);
	close_fd(&daemon->listener);
	close_fd(&daemon->stop);
	close_fd(&daemon->page_fd);
	close_fd(&daemon->wakeups_fd);
	munmap(daemon->wakeups, daemon->n_sockets * sizeof *daemon->wakeups);
	munmap(daemon->page, daemon->page_bytes);
	if (daemon->retired)
		munmap(daemon->retired, daemon->page_bytes);
	daemon->retired = NULL;
}

void fake_daemon_done(struct fake_daemon *daemon)
{
	unlink(daemon->path);
	rmdir(daemon->directory);
}
