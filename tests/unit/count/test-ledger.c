/* SPDX-License-Identifier: BSD-3-Clause */
/* What a ledger keeps, and which ledgers uncored refuses to go on with. */
#include "daemon/count/ledger.h"
#include "tests/harness/test.h"
#include "tests/unit/count/perf-fake.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/macro.h"
#include "daemon/base/memfd.h"

enum { SOCKETS = 2, BOXES = 3 };

static const uint64_t SECOND = 1000000000;

/* Two boxes on socket 0, one on socket 1, and their ledger. */
struct fixture {
	struct fake_kernel kernel;
	struct perf perf;
	struct platform platform;
	struct plan_socket sockets[SOCKETS];
	struct plan_box plan_boxes[BOXES];
	struct plan plan;
	struct box boxes[BOXES];
	struct page_header page;
	struct shared_page shared_page; /* only the members that the ledger uses */
	struct ledger ledger;
	struct fault fault;
};

static void make(struct fixture *f)
{
	*f = (struct fixture){
		.perf = fake_perf(&f->kernel),
		.platform = { .name = "icelake-sp", .n_metrics = 1 },
		.sockets = { { .n_boxes = 2 }, { .first_box = 2, .n_boxes = 1 } },
		.page = { .generation = { 3, 4 }, .platform = "icelake-sp" },
		.shared_page = { .header = &f->page, .whys = { { 7 } } },
	};
	f->plan = (struct plan){ .platform = &f->platform,
		.n_sockets = SOCKETS,
		.n_boxes = BOXES,
		.sockets = f->sockets,
		.boxes = f->plan_boxes };
	for (unsigned i = 0; i < BOXES; i++) {
		f->plan_boxes[i] = (struct plan_box){ .pmu = "uncore_imc_0",
			.type = 10 + i,
			.cpu = (int)i,
			.socket = i / 2,
			.n_events = 1,
			.n_uses = 1,
			.events = { { .code.config = 0x304 } },
			.uses = { { .scale = { 64, 1 }, .channel = PLAN_NO_CHANNEL } } };
		box_open(&f->boxes[i], &f->plan_boxes[i], &f->perf);
	}
	assert_int_equal(
		ledger_init(&f->ledger, &f->plan, f->boxes, &f->shared_page, &f->fault), 0);
	ledger_complete(&f->ledger);
}

static void done(struct fixture *f)
{
	ledger_done(&f->ledger);
	for (unsigned i = 0; i < BOXES; i++)
		box_close(&f->boxes[i]);
}

/* Has another process adopt the ledger. */
static int adopt(struct fixture *f)
{
	struct ledger adopted;
	int r = ledger_adopt(
		&adopted, fcntl(f->ledger.fd, F_DUPFD_CLOEXEC, 0), &f->plan, &f->fault);

	if (r == 0) {
		assert_int_equal(adopted.header->generation[1], 4);
		assert_int_equal(adopted.header->whys[0][0], 7);
		ledger_done(&adopted);
	}
	return r;
}

static void assert_refused(struct fixture *f, int error, const char *words)
{
	assert_int_equal(adopt(f), error);
	if (!strstr(f->fault.text, words))
		fail_msg("\"%s\" is not in: %s", words, f->fault.text);
	done(f);
}

CASE("the state that the last sweep committed is restored, socket by socket")
{
	struct page_sweep sweep = { .number = 9, .values = { { .count = 640 } } };
	struct box restored[2] = {};
	struct fixture f;

	make(&f);
	assert_int_equal(ledger_sweep(ledger_book(&f.ledger, 0))->number, 0);
	f.kernel.events[1].value = 10;
	fake_pass(&f.kernel, SECOND, SECOND);
	for (unsigned i = 0; i < 2; i++)
		box_read(&f.boxes[i], false, SECOND);
	ledger_commit(ledger_book(&f.ledger, 0), &sweep, f.boxes, 2);
	sweep.number++;
	ledger_commit(ledger_book(&f.ledger, 0), &sweep, f.boxes, 2);
	ledger_restore(ledger_book(&f.ledger, 0), restored, 2);
	assert_int_equal(ledger_sweep(ledger_book(&f.ledger, 0))->number, 10);
	assert_int_equal(ledger_sweep(ledger_book(&f.ledger, 0))->values[0].count, 640);
	assert_int_equal(restored[1].mode, BOX_PINNED);
	assert_int_equal(restored[1].read_ns, SECOND);
	assert_int_equal(restored[1].events[0].count, 10);
	assert_int_equal(restored[1].events[0].id, f.boxes[1].events[0].id);
	/* The other socket's book is its own. */
	assert_int_equal(ledger_sweep(ledger_book(&f.ledger, 1))->number, 0);
	done(&f);
}

CASE("the same counters go on, also on another CPU")
{
	struct fixture f;

	make(&f);
	assert_int_equal(adopt(&f), 0);
	/* The kernel moves events to another CPU of the socket when theirs goes offline. */
	f.plan_boxes[1].cpu = 40;
	assert_int_equal(adopt(&f), 0);
	done(&f);
}

/* A mode that the ledger holds and no box can have becomes BOX_CLOSED. */
CASE("an unknown mode is closed")
{
	struct page_sweep sweep = { .number = 1 };
	struct box restored[1] = {};
	struct fixture f;

	make(&f);
	f.boxes[2].mode = 77;
	ledger_commit(ledger_book(&f.ledger, 1), &sweep, &f.boxes[2], 1);
	f.boxes[2].mode = BOX_PINNED;
	ledger_restore(ledger_book(&f.ledger, 1), restored, 1);
	assert_int_equal(restored[0].mode, BOX_CLOSED);
	done(&f);
}

CASE("boxes that the kernel refused are remembered")
{
	struct fixture f;
	struct ledger other;

	make(&f);
	f.boxes[1].error = -ENODEV;
	assert_int_equal(ledger_init(&other, &f.plan, f.boxes, &f.shared_page, &f.fault), 0);
	assert_int_equal(ledger_refused(&other, 0), 0);
	assert_int_equal(ledger_refused(&other, 1), -ENODEV);
	ledger_done(&other);
	done(&f);
}

CASE("another platform is refused")
{
	struct fixture f;

	make(&f);
	strcpy(f.platform.name, "power9");
	assert_refused(&f, -ESTALE, "it is about platform icelake-sp, this is power9");
}

CASE("other boxes are refused")
{
	struct fixture f;

	make(&f);
	f.plan.n_boxes = 2;
	f.sockets[1].n_boxes = 0;
	assert_refused(&f, -ESTALE, "2 sockets with 3 counter boxes, this machine has 2 with 2");
}

/* As many boxes in all, but on other sockets. */
CASE("boxes that moved to another socket are refused")
{
	struct fixture f;

	make(&f);
	f.sockets[0].n_boxes = 1;
	f.sockets[1].n_boxes = 2;
	assert_refused(&f, -ESTALE, "2 sockets with 3 counter boxes");
}

CASE("other events are refused")
{
	struct fixture f;

	make(&f);
	f.plan_boxes[2].events[0].code.config1 = 1;
	assert_refused(&f, -ESTALE, "counter box uncore_imc_0 of socket 1 now has other events");
}

/* When a site calibrates, bytes of the old and of the new worth must not be added up. */
CASE("another worth of a count is refused")
{
	struct fixture f;

	make(&f);
	f.plan_boxes[0].uses[0].scale.n = 128;
	assert_refused(&f, -ESTALE, "counter box uncore_imc_0 of socket 0");
	make(&f);
	f.plan_boxes[2].uses[0].scale.d = 9;
	assert_refused(&f, -ESTALE, "counter box uncore_imc_0 of socket 1");
}

CASE("another version is refused")
{
	struct fixture f;

	make(&f);
	f.ledger.header->version = LEDGER_VERSION + 1;
	assert_refused(
		&f, -EPROTONOSUPPORT, "version 3 of the layout, this uncored knows version 2");
}

CASE("a ledger from which nobody was served is refused")
{
	struct fixture f;

	make(&f);
	f.ledger.header->complete = 0;
	assert_refused(&f, -EBADMSG, "ended before it served anybody");
}

CASE("a file that is not a ledger is refused")
{
	static const size_t sizes[] = { 0, 8, sizeof(struct ledger_header), 65536 };
	struct fixture f;

	make(&f);
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct ledger ledger;
		int fd = memfd_new("test", sizes[i], 0600);

		assert_true(fd >= 0);
		assert_int_equal(ledger_adopt(&ledger, fd, &f.plan, &f.fault), -EBADMSG);
		assert_null(ledger.header);
	}
	done(&f);
}

/* Whatever the header says, the memory that is read must be there. */
CASE("a ledger that is cut off is refused")
{
	struct fixture f;
	struct ledger ledger;
	int fd = memfd_new("test", sizeof(struct ledger_header), 0600);

	make(&f);
	assert_int_equal(pwrite(fd, f.ledger.header, sizeof(struct ledger_header), 0),
		sizeof(struct ledger_header));
	assert_int_equal(ledger_adopt(&ledger, fd, &f.plan, &f.fault), -EBADMSG);
	done(&f);
}
