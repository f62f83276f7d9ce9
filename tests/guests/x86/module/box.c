// SPDX-License-Identifier: GPL-2.0
/* What the events of a box have counted. Changes of what drives an event never change its count. */
#include <linux/ktime.h>
#include <linux/math64.h>

#include "test_pmu.h"

static u64 wires_value(const struct source *source)
{
	const struct wire *wire;
	u64 sum = 0;

	for (wire = source->wires; wire < source->wires + source->n_wires; wire++)
		sum += (words_read(wire->byte) - wire->start) * wire->numerator / wire->denominator;
	return sum;
}

static u64 rate_value(const struct source *source)
{
	u64 elapsed_ns = ktime_get_ns() - source->since_ns;

	return mul_u64_u64_div_u64(source->rate, elapsed_ns, NSEC_PER_SEC);
}

u64 source_value(const struct source *source)
{
	return source->base + rate_value(source) + wires_value(source);
}

/* Makes an event that was never opened or driven before, if there is room. */
struct source *box_source(struct box *box, u64 config)
{
	unsigned int i;

	for (i = 0; i < box->n_sources; i++)
		if (box->sources[i].config == config)
			return &box->sources[i];
	if (box->n_sources == MAX_SOURCES)
		return NULL;
	box->sources[box->n_sources] =
		(struct source){ .config = config, .since_ns = ktime_get_ns() };
	return &box->sources[box->n_sources++];
}

int box_add(struct box *box, u64 config, u64 n)
{
	struct source *source;
	unsigned long flags;

	raw_spin_lock_irqsave(&box->lock, flags);
	source = box_source(box, config);
	if (source)
		source->base += n;
	raw_spin_unlock_irqrestore(&box->lock, flags);
	return source ? 0 : -ENOSPC;
}

int box_rate(struct box *box, u64 config, u64 n)
{
	struct source *source;
	unsigned long flags;

	raw_spin_lock_irqsave(&box->lock, flags);
	source = box_source(box, config);
	if (source) {
		source->base += rate_value(source);
		source->since_ns = ktime_get_ns();
		source->rate = n;
	}
	raw_spin_unlock_irqrestore(&box->lock, flags);
	return source ? 0 : -ENOSPC;
}

int box_wire(struct box *box, u64 config, const struct wire *wire)
{
	struct source *source;
	unsigned long flags;
	bool room;

	raw_spin_lock_irqsave(&box->lock, flags);
	source = box_source(box, config);
	room = source && source->n_wires < MAX_WIRES;
	if (room) {
		source->wires[source->n_wires] = *wire;
		source->wires[source->n_wires++].start = words_read(wire->byte);
	}
	raw_spin_unlock_irqrestore(&box->lock, flags);
	return room ? 0 : -ENOSPC;
}

void box_unwire(struct box *box)
{
	struct source *source;
	unsigned long flags;

	raw_spin_lock_irqsave(&box->lock, flags);
	for (source = box->sources; source < box->sources + box->n_sources; source++) {
		source->base += wires_value(source);
		source->n_wires = 0;
	}
	raw_spin_unlock_irqrestore(&box->lock, flags);
}

void box_show(struct seq_file *file, const char *name, int package, struct box *box)
{
	struct source *source;
	unsigned long flags;
	unsigned int i;
	int n_running;
	u64 value;

	for (i = 0; i < box->n_sources; i++) {
		source = &box->sources[i];
		raw_spin_lock_irqsave(&box->lock, flags);
		value = source_value(source);
		n_running = source->n_running;
		raw_spin_unlock_irqrestore(&box->lock, flags);
		seq_printf(file, "%s %d %d 0x%llx %llu %d\n", name, package, designated[package],
			source->config, value, n_running);
	}
}
