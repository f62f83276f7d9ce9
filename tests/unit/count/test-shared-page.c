/* SPDX-License-Identifier: BSD-3-Clause */
/* The page as it is handed out: its tables are right, and no client can write it. */
#include "daemon/count/shared-page.h"
#include "tests/harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/base/memfd.h"
#include "daemon/count/tally.h"

static struct platform platform = {
	.name = "icelake-sp",
	.n_metrics = 2,
	.metrics = { { .name = "dram.read", .unit = "bytes" },
		{ .name = "itom", .unit = "bytes", .pmid = 700 } },
};

static struct plan_socket sockets[2] = {
	{ .package = 0,
		.cpu = 0,
		.n_channels = 1,
		.quality = { 0, PAGE_ABSENT },
		.why = { "", "no cha" } },
	{ .package = 8,
		.cpu = 4,
		.first_channel = 1,
		.n_channels = 2,
		.quality = { 0, PAGE_ABSENT },
		.why = { "", "no cha" } },
};

static struct page_channel channels[3] = {
	{ .name = "imc0", .socket = 0 },
	{ .name = "imc0", .socket = 1 },
	{ .name = "imc1", .socket = 1 },
};

static const struct plan plan = { .platform = &platform,
	.n_sockets = 2,
	.n_channels = 3,
	.sockets = sockets,
	.channels = channels };

CASE("the page's tables say what was planned")
{
	struct shared_page p;
	struct fault fault;

	assert_int_equal(shared_page_init(&p, &plan, &fault), 0);
	assert_int_equal(page_check(p.header, p.header->page_bytes), 0);
	assert_string_equal(p.header->platform, "icelake-sp");
	assert_string_equal(page_metrics(p.header)[1].name, "itom");
	assert_string_equal(page_metrics(p.header)[1].unit, "bytes");
	assert_int_equal(page_metrics(p.header)[0].pmid, 0);
	assert_int_equal(page_metrics(p.header)[1].pmid, 700);
	assert_int_equal(page_sockets(p.header)[1].package, 8);
	assert_int_equal(page_sockets(p.header)[1].first_channel, 1);
	assert_string_equal(page_channels(p.header)[2].name, "imc1");
	assert_string_equal(page_texts(p.header)[p.whys[0][1]].text, "no cha");
	assert_int_equal(p.whys[0][1], p.whys[1][1]);
	for (unsigned i = 0; i < TALLY_TEXTS; i++)
		assert_string_equal(page_texts(p.header)[i].text, tally_texts[i]);
	shared_page_done(&p);
}

CASE("no two generations are the same")
{
	struct shared_page a, b;
	struct fault fault;

	assert_int_equal(shared_page_init(&a, &plan, &fault), 0);
	assert_int_equal(shared_page_init(&b, &plan, &fault), 0);
	assert_memory_not_equal(
		a.header->generation, b.header->generation, sizeof a.header->generation);
	shared_page_done(&a);
	shared_page_done(&b);
}

CASE("clients cannot write the page that they get")
{
	const int seals = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW;
	struct shared_page p;
	struct fault fault;
	struct stat st;

	assert_int_equal(shared_page_init(&p, &plan, &fault), 0);
	assert_int_equal(fcntl(p.read_fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_int_equal(fstat(p.read_fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0444);
	assert_int_equal(fcntl(p.read_fd, F_GET_SEALS) & seals, seals);
	assert_true(mmap(NULL, p.header->page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p.read_fd,
			    0) == MAP_FAILED);
	assert_int_equal(errno, EACCES);
	shared_page_done(&p);
}

CASE("the page says how long the site may hold back a ring")
{
	struct shared_page p;
	struct fault fault;

	assert_int_equal(shared_page_init(&p, &plan, &fault), 0);
	assert_int_equal(p.header->daemon.min_interval_ns, 0);
	shared_page_tell_hold(&p, 60000000000);
	assert_int_equal(p.header->daemon.min_interval_ns, 60000000000);
	shared_page_done(&p);
}

CASE("more reasons than fit do no harm")
{
	static struct plan_socket many[PAGE_SOCKETS_MAX];
	static struct platform wide = { .name = "wide", .n_metrics = PAGE_METRICS_MAX };
	const struct plan large = {
		.platform = &wide, .n_sockets = PAGE_SOCKETS_MAX, .sockets = many
	};
	struct shared_page p;
	struct fault fault;

	for (unsigned s = 0; s < PAGE_SOCKETS_MAX; s++)
		for (unsigned m = 0; m < PAGE_METRICS_MAX; m++) {
			many[s].quality[m] = PAGE_ABSENT;
			snprintf(many[s].why[m], PAGE_TEXT_MAX, "reason %u.%u", s, m);
		}
	assert_int_equal(shared_page_init(&p, &large, &fault), 0);
	assert_int_equal(page_check(p.header, p.header->page_bytes), 0);
	assert_int_equal(p.whys[PAGE_SOCKETS_MAX - 1][0], TALLY_TEXT_MORE);
	assert_string_equal(
		page_texts(p.header)[TALLY_TEXT_MORE].text, tally_texts[TALLY_TEXT_MORE]);
	shared_page_done(&p);
}

/* --- from one process to the next --- */

/* Has another process adopt the page of @p. */
static int adopt(const struct shared_page *p, const struct plan *by, const uint64_t generation[2],
	struct fault *fault)
{
	const struct shared_page_origin origin = { generation, p->whys };
	struct shared_page adopted;
	int r = shared_page_adopt(
		&adopted, fcntl(p->write_fd, F_DUPFD_CLOEXEC, 0), by, &origin, fault);

	if (r == 0) {
		assert_int_equal(adopted.whys[0][1], p->whys[0][1]);
		shared_page_done(&adopted);
	}
	return r;
}

CASE("the same page goes on, also on other CPUs")
{
	struct shared_page p;
	struct fault fault;

	assert_int_equal(shared_page_init(&p, &plan, &fault), 0);
	assert_int_equal(adopt(&p, &plan, p.header->generation, &fault), 0);
	assert_int_equal(p.header->state, PAGE_LIVE);
	/* The CPU that is in charge of a socket may be another one by now. */
	sockets[1].cpu = 5;
	assert_int_equal(adopt(&p, &plan, p.header->generation, &fault), 0);
	assert_int_equal(page_sockets(p.header)[1].cpu, 5);
	sockets[1].cpu = 4;
	shared_page_done(&p);
}

CASE("another page is refused and withdrawn")
{
	const uint64_t other_generation[2] = { 1, 2 };
	struct shared_page p;
	struct fault fault;

	assert_int_equal(shared_page_init(&p, &plan, &fault), 0);
	assert_int_equal(adopt(&p, &plan, other_generation, &fault), -ESTALE);
	assert_int_equal(p.header->state, PAGE_RETIRED);
	/* Nobody goes on with a withdrawn page. */
	assert_int_equal(adopt(&p, &plan, p.header->generation, &fault), -ESTALE);
	shared_page_done(&p);
	assert_int_equal(shared_page_init(&p, &plan, &fault), 0);
	channels[2].bytes = 32;
	assert_int_equal(adopt(&p, &plan, p.header->generation, &fault), -ESTALE);
	channels[2].bytes = 0;
	shared_page_done(&p);
	assert_int_equal(shared_page_init(&p, &plan, &fault), 0);
	platform.metrics[1].pmid = 701;
	assert_int_equal(adopt(&p, &plan, p.header->generation, &fault), -ESTALE);
	platform.metrics[1].pmid = 700;
	shared_page_done(&p);
}

/* A release withdraws it although it can read only the members that every version of a page has. */
CASE("a page of another version is withdrawn")
{
	struct shared_page p;
	struct fault fault;

	assert_int_equal(shared_page_init(&p, &plan, &fault), 0);
	p.header->version = PAGE_VERSION + 1;
	p.header->page_bytes = 1;
	assert_int_equal(adopt(&p, &plan, p.header->generation, &fault), -EPROTONOSUPPORT);
	assert_int_equal(p.header->state, PAGE_RETIRED);
	assert_int_equal(p.header->version, PAGE_VERSION + 1);
	p.header->page_bytes = 0;
	p.header->state = PAGE_LIVE;
	p.header->magic++; /* no page at all */
	shared_page_retire_fd(p.write_fd);
	assert_int_equal(p.header->state, PAGE_LIVE);
	munmap(p.header, memfd_bytes(p.write_fd));
	p.header = NULL;
	shared_page_done(&p);
}

/* A page of a later uncored; see page.h. */
CASE("a page that has grown goes on")
{
	struct shared_page p, longer;
	struct page_header header;
	struct fault fault;

	assert_int_equal(shared_page_init(&p, &plan, &fault), 0);
	header = *p.header;
	header.page_bytes += 4096;
	longer = (struct shared_page){ .write_fd = memfd_new("longer", header.page_bytes, 0444),
		.read_fd = -1 };
	longer.header = memfd_map(longer.write_fd, header.page_bytes);
	assert_non_null(longer.header);
	memcpy(longer.header, p.header, p.header->page_bytes);
	longer.header->page_bytes = header.page_bytes;
	longer.header->daemon.started_ns = 1;
	memcpy(longer.whys, p.whys, sizeof p.whys);
	assert_int_equal(adopt(&longer, &plan, header.generation, &fault), 0);
	assert_int_equal(longer.header->state, PAGE_LIVE);
	/* By the start time a reader sees that another process wrote the addition. */
	assert_true(longer.header->daemon.started_ns > 1);
	shared_page_done(&longer);
	shared_page_done(&p);
}
