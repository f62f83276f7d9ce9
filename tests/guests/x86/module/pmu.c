// SPDX-License-Identifier: GPL-2.0
/* What perf calls. */
#include <linux/module.h>
#include <linux/topology.h>

#include "test_pmu.h"

static struct test_pmu *pmu_of(const struct perf_event *event)
{
	return container_of(event->pmu, struct test_pmu, pmu);
}

static u64 width_mask(const struct test_pmu *p)
{
	return GENMASK_ULL(p->width - 1, 0);
}

static unsigned int events_of_group(const struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	unsigned int n = 1;

	if (leader == event)
		return 1;
	n += leader->pmu == event->pmu;
	for_each_sibling_event(sibling, leader) n += sibling->pmu == event->pmu;
	return n;
}

static int test_pmu_event_init(struct perf_event *event)
{
	struct test_pmu *p = pmu_of(event);
	struct source *source;
	unsigned long flags;
	struct box *box;
	int package;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (is_sampling_event(event) || event->cpu < 0)
		return -EINVAL;
	if (p->n_fail > 0) {
		p->n_fail--;
		return -p->fail_errno;
	}
	package = topology_logical_package_id(event->cpu);
	if (package < 0 || package >= MAX_PACKAGES || !test_bit(package, &p->packages))
		return -EINVAL;
	if (designated[package] < 0)
		return -EINVAL;
	if (p->counters > 0 && events_of_group(event) > p->counters)
		return -EINVAL;
	box = &p->boxes[package];
	event->cpu = designated[package];
	event->event_caps |= PERF_EV_CAP_READ_ACTIVE_PKG;
	event->pmu_private = box;
	event->hw.config = event->attr.config & p->config_mask;
	raw_spin_lock_irqsave(&box->lock, flags);
	source = box_source(box, event->hw.config);
	raw_spin_unlock_irqrestore(&box->lock, flags);
	return source ? 0 : -ENOSPC;
}

static u64 counter_read(struct perf_event *event)
{
	struct box *box = event->pmu_private;
	unsigned long flags;
	u64 value;

	raw_spin_lock_irqsave(&box->lock, flags);
	value = source_value(box_source(box, event->hw.config));
	raw_spin_unlock_irqrestore(&box->lock, flags);
	return value & width_mask(pmu_of(event));
}

static void test_pmu_read(struct perf_event *event)
{
	u64 before, now;

	do {
		before = local64_read(&event->hw.prev_count);
		now = counter_read(event);
	} while (local64_cmpxchg(&event->hw.prev_count, before, now) != before);
	local64_add((now - before) & width_mask(pmu_of(event)), &event->count);
}

static void count_running(struct perf_event *event, int change)
{
	struct box *box = event->pmu_private;
	unsigned long flags;

	raw_spin_lock_irqsave(&box->lock, flags);
	box_source(box, event->hw.config)->n_running += change;
	raw_spin_unlock_irqrestore(&box->lock, flags);
}

static void test_pmu_start(struct perf_event *event, int flags)
{
	if (!(event->hw.state & PERF_HES_STOPPED))
		return;
	event->hw.state = 0;
	local64_set(&event->hw.prev_count, counter_read(event));
	count_running(event, 1);
	perf_event_update_userpage(event);
}

static void test_pmu_stop(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	test_pmu_read(event);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	count_running(event, -1);
}

/* Where all counters are taken, perf lets the events take turns. */
static int test_pmu_add(struct perf_event *event, int flags)
{
	const struct test_pmu *p = pmu_of(event);
	struct box *box = event->pmu_private;
	unsigned long irq;
	bool full;

	raw_spin_lock_irqsave(&box->lock, irq);
	full = p->counters > 0 && box->n_used >= p->counters;
	if (!full)
		box->n_used++;
	raw_spin_unlock_irqrestore(&box->lock, irq);
	if (full)
		return -EINVAL;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		test_pmu_start(event, 0);
	return 0;
}

static void test_pmu_del(struct perf_event *event, int flags)
{
	struct box *box = event->pmu_private;
	unsigned long irq;

	test_pmu_stop(event, PERF_EF_UPDATE);
	raw_spin_lock_irqsave(&box->lock, irq);
	box->n_used--;
	raw_spin_unlock_irqrestore(&box->lock, irq);
}

const struct pmu pmu_template = {
	.module = THIS_MODULE,
	.task_ctx_nr = perf_invalid_context,
	.capabilities = PERF_PMU_CAP_NO_EXCLUDE,
	.event_init = test_pmu_event_init,
	.add = test_pmu_add,
	.del = test_pmu_del,
	.start = test_pmu_start,
	.stop = test_pmu_stop,
	.read = test_pmu_read,
};
