/* SPDX-License-Identifier: BSD-3-Clause */
/* In which mode a generation opens extra boxes. This file has perf_calls in place of perf.c's, so
 * the linker takes this one. */
#include "daemon/count/generation.h"
#include "tests/harness/test.h"
#include "tests/unit/count/perf-fake.h"

enum { MAIN = 0x304, EXTRA = 0x50, BOXES = 3 };

static struct fake_kernel kernel;
const struct perf perf_calls = { fake_open, fake_read, fake_enable, fake_id, fake_close, &kernel };

/* Opens an extra box of "cha_0" on CPU 0, behind @before. Was it ever tried as pinned? */
static bool is_tried_pinned(struct plan_box before, struct fake_kernel options)
{
	struct plan_box boxes[] = { { .pmu = "imc_0", .n_events = 1 }, before,
		{ .pmu = "cha_0",
			.is_extra = true,
			.n_events = 1,
			.events = { { .code.config = EXTRA } } } };
	struct plan_socket socket = { .n_boxes = BOXES };
	const struct plan plan = {
		.n_sockets = 1, .sockets = &socket, .n_boxes = BOXES, .boxes = boxes
	};
	struct generation generation;
	bool tried = false;

	kernel = options;
	assert_int_equal(generation_init(&generation, &plan), 0);
	generation_open(&generation);
	assert_int_equal(generation.boxes[2].error, 0);
	for (int i = 0; i < kernel.n_events; i++)
		tried |= kernel.events[i].config == EXTRA && kernel.events[i].pinned;
	assert_true(tried || generation.boxes[2].mode == BOX_FLEXIBLE);
	generation_done(&generation);
	assert_int_equal(fake_open_events(&kernel), 0);
	return tried;
}

static const struct plan_box main_box = {
	.pmu = "cha_0", .n_events = 2, .events = { { .code.config = MAIN } }
};
static const struct fake_kernel others_have_counters = { .pinned_fails = true };

CASE("an extra box is flexible if its main box is")
{
	assert_false(is_tried_pinned(main_box, others_have_counters));
}

CASE("an extra box is pinned if its main box is")
{
	assert_true(is_tried_pinned(main_box, (struct fake_kernel){}));
}

/* It has no counters that the extra box could take. */
CASE("an extra box is pinned if the kernel refuses its main box")
{
	assert_true(is_tried_pinned(main_box, (struct fake_kernel){ .sibling_error = -ENOENT }));
}

CASE("an extra box is pinned if it has no main box")
{
	struct plan_box other_pmu = main_box, other_cpu = main_box, other_extra = main_box;

	strcpy(other_pmu.pmu, "cha_1");
	other_cpu.cpu = 1;
	other_extra.is_extra = true;
	assert_true(is_tried_pinned(other_pmu, others_have_counters));
	assert_true(is_tried_pinned(other_cpu, others_have_counters));
	assert_true(is_tried_pinned(other_extra, others_have_counters));
}
