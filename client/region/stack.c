/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each thread keeps a stack of the regions that it is inside. The stack remembers its struct
 * regions, and is emptied when the process has a new one (in a forked child).
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "client/region/misses.h"
#include "client/region/passage.h"
#include "client/region/regions.h"
#include "common/clock.h"

enum { KNOWN = 16 };

struct stack {
	const struct regions *owner;
	uint32_t depth;
	uint32_t excess;             /* regions begun beyond the deepest frame */
	uint64_t took_ns;            /* the last passage that ended; 0: not known */
	struct region *known[KNOWN]; /* the last ones that were found, by the place of the name */
	struct passage frames[REGION_DEPTH_MAX];
};

static _Thread_local struct stack thread_stack;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;
static pthread_key_t stack_key;
static int stack_key_failure;
static bool stack_is_over; /* atomic */

static void abandon_all(void *memory)
{
	struct regions *regions = regions_now();
	struct stack *stack = memory;

	if (!regions || stack->owner != regions)
		return;
	misses_end_thread(regions, stack->depth ? stack->frames[stack->depth - 1].region : NULL);
	while (stack->depth) {
		const struct passage *frame = &stack->frames[--stack->depth];

		regions_trace(regions, TRACE_END, frame->region->index, clock_now_ns(), 0);
		passage_abandon(regions, frame);
	}
	passage_count_thread(regions, -1);
	stack->owner = NULL;
}

static void create_stack_key(void)
{
	stack_key_failure = pthread_key_create(&stack_key, abandon_all);
}

static bool stack_has_key(void)
{
	return pthread_once(&stack_once, create_stack_key) == 0 && !stack_key_failure;
}

/* Has the end of this thread be noticed, as long as there is somebody to notice it. */
static bool stack_watch(struct stack *stack)
{
	if (!stack_has_key())
		return false;
	return LOAD(stack_is_over) || pthread_getspecific(stack_key) ||
	       pthread_setspecific(stack_key, stack) == 0;
}

void regions_forget_threads(void)
{
	STORE(stack_is_over, true);
	if (stack_has_key())
		pthread_key_delete(stack_key);
}

static struct stack *stack_get(struct regions *regions)
{
	struct stack *stack = &thread_stack;

	if (stack->owner == regions) /* until the thread ends */
		return stack;
	if (!stack_watch(stack))
		return NULL;
	stack->owner = regions;
	stack->depth = 0;
	stack->excess = 0;
	memset(stack->known, 0, sizeof stack->known);
	passage_count_thread(regions, 1);
	return stack;
}

/* A program passes the same text again and again, mostly from the same place. To look there costs
 * less than the hash of a name. */
static int stack_find(
	struct regions *regions, struct stack *stack, const char *name, struct region **ret)
{
	struct region **known = &stack->known[((uintptr_t)name ^ (uintptr_t)name >> 4) % KNOWN];
	int r;

	if (name && *known && strcmp((*known)->name, name) == 0) {
		*ret = *known;
		return 0;
	}
	r = regions_find_or_add(regions, name, ret);
	if (r == 0 && (*ret)->index != TABLE_OTHERS)
		*known = *ret;
	return r;
}

/* In the trace the reading between two phases belongs to neither. */
static int stack_cross(
	struct regions *regions, struct passage *frame, struct region *next, uint64_t now_ns)
{
	int r;

	if (frame->region)
		regions_trace(regions, TRACE_END, frame->region->index, now_ns, 0);
	r = (regions->misses.is_set ? misses_cross : passage_cross)(regions, frame, next, now_ns);
	if (next)
		regions_trace(regions, TRACE_BEGIN, next->index, frame->begun_ns, 0);
	return r;
}

/* --- begin and end --- */

static int stack_begin(struct regions *regions, const char *name)
{
	struct region *region, *outer;
	struct passage *frame;
	struct stack *stack = stack_get(regions);
	int r;

	if (!stack)
		return regions_no_memory();
	r = stack_find(regions, stack, name, &region);
	if (r < 0)
		return r;
	if (stack->depth == REGION_DEPTH_MAX) {
		stack->excess++;
		passage_count_excess(regions, region);
		return error_say(
			-EOVERFLOW, "Region %s is nested deeper than %d.", name, REGION_DEPTH_MAX);
	}
	outer = stack->depth ? stack->frames[stack->depth - 1].region : NULL;
	frame = &stack->frames[stack->depth++];
	*frame = (struct passage){ .outer = outer };
	return stack_cross(regions, frame, region, clock_now_ns());
}

/* Is this region the innermost one of the thread? A name that equals a region's is one. */
static bool is_innermost(struct regions *regions, const struct stack *stack, const char *name)
{
	return name && stack->depth && !stack->excess &&
	       regions_has_name(regions, stack->frames[stack->depth - 1].region, name);
}

static int cannot_end(struct stack *stack, const char *name)
{
	int r = region_check_name(name);

	if (r < 0)
		return r;
	if (stack->excess) {
		stack->excess--;
		stack->took_ns = 0;
		return error_say(
			-EOVERFLOW, "Region %s was nested deeper than %d.", name, REGION_DEPTH_MAX);
	}
	if (!stack->depth)
		return error_say(-EINVAL, "Region %s is not open in this thread.", name);
	return error_say(-EINVAL, "Region %s cannot end: %s, begun later, is still open.", name,
		stack->frames[stack->depth - 1].region->name);
}

static int stack_end(struct regions *regions, const char *name)
{
	uint64_t now_ns = clock_now_ns();
	struct stack *stack = stack_get(regions);
	struct passage *frame;

	if (!stack)
		return regions_no_memory();
	if (!is_innermost(regions, stack, name))
		return cannot_end(stack, name);
	frame = &stack->frames[--stack->depth];
	stack->took_ns = now_ns - frame->begun_ns;
	return stack_cross(regions, frame, NULL, now_ns);
}

_public_ int uncore_region_begin(const char *name)
{
	return REGIONS_CALL(stack_begin, name);
}

_public_ int uncore_region_end(const char *name)
{
	return REGIONS_CALL(stack_end, name);
}

_public_ uint64_t uncore_passage_ns(void)
{
	return thread_stack.took_ns;
}

/* --- from one phase to the next --- */

static int cannot_go_on(const char *old, const char *new)
{
	int r = region_check_name(old);

	if (r == 0)
		r = region_check_name(new);
	return r < 0 ? r
		     : error_say(-EINVAL,
			       "Region %s is not the innermost one of this thread, so %s cannot "
			       "follow it.",
			       old, new);
}

static int next(struct regions *regions, const char *old, const char *new)
{
	struct stack *stack = stack_get(regions);
	struct region *region;
	int r;

	if (!stack)
		return regions_no_memory();
	if (!is_innermost(regions, stack, old))
		return cannot_go_on(old, new);
	r = stack_find(regions, stack, new, &region);
	return r < 0 ? r
		     : stack_cross(
			       regions, &stack->frames[stack->depth - 1], region, clock_now_ns());
}

_public_ int uncore_region_next(const char *old, const char *new)
{
	return REGIONS_CALL(next, old, new);
}

/* --- titles --- */

static int title(struct regions *regions, const char *name, const char *text)
{
	struct region *region;
	int r = region_check_text("A region's title", text, TABLE_TITLE_BYTES);

	if (r >= 0)
		r = regions_find_or_add(regions, name, &region);
	if (r < 0)
		return r;
	if (region->index == TABLE_OTHERS)
		return error_say(-ENOSPC, "There are so many regions that %s has no row.", name);
	table_keep_title(regions->team.table, region->index, text);
	return 0;
}

_public_ int uncore_region_title(const char *name, const char *text)
{
	return REGIONS_CALL(title, name, text);
}

/* --- work --- */

static int stack_work(struct regions *regions, const char *name, double amount, const char *unit)
{
	struct region *region;
	int r;

	if (!(amount >= 0) || isinf(amount))
		return error_say(-EINVAL, "An amount of work is a number from 0 on.");
	r = region_check_text("A unit of work", unit, TABLE_UNIT_BYTES);
	if (r >= 0)
		r = regions_find_or_add(regions, name, &region);
	return r < 0 ? r : passage_work(regions, region, amount, unit);
}

_public_ int uncore_region_work(const char *name, double amount, const char *unit)
{
	return REGIONS_CALL(stack_work, name, amount, unit);
}
