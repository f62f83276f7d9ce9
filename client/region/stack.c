/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each thread keeps a stack of the regions that it is inside. The stack remembers its struct
 * regions, and is emptied when the process has a new one (in a forked child).
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "client/region/passage.h"
#include "client/region/regions.h"
#include "common/clock.h"
#include "common/text.h"

struct stack {
	const struct regions *owner;
	uint32_t depth;
	uint32_t excess; /* regions begun beyond the deepest frame */
	struct passage frames[REGION_DEPTH_MAX];
};

static _Thread_local struct stack thread_stack;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;
static pthread_key_t stack_key;
static int stack_key_failure;

static void abandon_all(void *memory)
{
	struct regions *regions = regions_now();
	struct stack *stack = memory;

	if (!regions || stack->owner != regions)
		return;
	while (stack->depth)
		passage_abandon(regions, &stack->frames[--stack->depth]);
	passage_count_thread(regions, -1);
	stack->owner = NULL;
}

static void create_stack_key(void)
{
	stack_key_failure = pthread_key_create(&stack_key, abandon_all);
}

static struct stack *stack_get(struct regions *regions)
{
	struct stack *stack = &thread_stack;

	if (pthread_once(&stack_once, create_stack_key) != 0 || stack_key_failure)
		return NULL;
	if (!pthread_getspecific(stack_key) && pthread_setspecific(stack_key, stack) != 0)
		return NULL;
	if (stack->owner != regions) {
		stack->owner = regions;
		stack->depth = 0;
		stack->excess = 0;
		passage_count_thread(regions, 1);
	}
	return stack;
}

/* --- begin and end --- */

static int check_name(const char *name)
{
	if (!name || !*name || !memchr(name, '\0', REGION_NAME_MAX))
		return error_say(
			-EINVAL, "A region's name has 1 to %d bytes.", REGION_NAME_MAX - 1);
	if (!text_is_plain(name))
		return error_say(-EINVAL,
			"A region's name is UTF-8 without control characters: it is shown on "
			"terminals and in JSON.");
	return 0;
}

static int begin(struct regions *regions, const char *name)
{
	struct region *region, *outer;
	struct stack *stack;
	int r = check_name(name);

	if (r < 0)
		return r;
	stack = stack_get(regions);
	if (!stack)
		return regions_no_memory();
	r = regions_find_or_add(regions, name, &region);
	if (r < 0)
		return r;
	if (stack->depth == REGION_DEPTH_MAX) {
		stack->excess++;
		passage_count_excess(regions, region);
		return error_say(
			-EOVERFLOW, "Region %s is nested deeper than %d.", name, REGION_DEPTH_MAX);
	}
	outer = stack->depth ? stack->frames[stack->depth - 1].region : NULL;
	return passage_begin(regions, region, outer, &stack->frames[stack->depth++]);
}

static int end(struct regions *regions, const char *name)
{
	uint64_t now_ns = clock_now_ns();
	struct stack *stack;
	struct passage *frame;
	int r = check_name(name);

	if (r < 0)
		return r;
	stack = stack_get(regions);
	if (!stack)
		return regions_no_memory();
	if (stack->excess) {
		stack->excess--;
		return error_say(
			-EOVERFLOW, "Region %s was nested deeper than %d.", name, REGION_DEPTH_MAX);
	}
	if (!stack->depth)
		return error_say(-EINVAL, "Region %s is not open in this thread.", name);
	frame = &stack->frames[stack->depth - 1];
	if (strcmp(frame->region->name, name) != 0)
		return error_say(-EINVAL, "Region %s cannot end: %s, begun later, is still open.",
			name, frame->region->name);
	stack->depth--;
	return passage_end(regions, frame, now_ns);
}

_public_ int uncore_region_begin(const char *name)
{
	struct regions *regions = regions_get();

	return regions ? regions_remember(regions, begin(regions, name)) : regions_no_memory();
}

_public_ int uncore_region_end(const char *name)
{
	struct regions *regions = regions_get();

	return regions ? regions_remember(regions, end(regions, name)) : regions_no_memory();
}

/* --- work --- */

static int work(struct regions *regions, const char *name, double amount, const char *unit)
{
	struct region *region;
	int r = check_name(name);

	if (r < 0)
		return r;
	if (!(amount >= 0) || isinf(amount))
		return error_say(-EINVAL, "An amount of work is a number from 0 on.");
	if (!unit || !*unit || !memchr(unit, '\0', TABLE_UNIT_BYTES) || !text_is_plain(unit))
		return error_say(-EINVAL,
			"A unit of work is UTF-8 of 1 to %d bytes without control characters.",
			TABLE_UNIT_BYTES - 1);
	r = regions_find_or_add(regions, name, &region);
	return r < 0 ? r : passage_work(regions, region, amount, unit);
}

_public_ int uncore_region_work(const char *name, double amount, const char *unit)
{
	struct regions *regions = regions_get();

	return regions ? regions_remember(regions, work(regions, name, amount, unit))
		       : regions_no_memory();
}
