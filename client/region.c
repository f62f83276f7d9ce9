/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Named regions: the one piece of the library with state of the process itself.
 *
 * The pointer to that state lies in memory that a forked child finds wiped, so a child starts with
 * no regions and makes its own connection, whatever locks the parent's threads held at the fork.
 * Each thread keeps a stack of the regions it is inside. It remembers which state it belongs to and
 * is emptied when that is another one.
 *
 * The report at exit is written by a destructor of the library: the program's own exit handlers and
 * destructors have run by then, and what they measured is in it.
 */
#include "client/region.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "client/launch.h"
#include "client/text.h"
#include "common/clock.h"

struct frame {
	struct region *region;
	uint64_t begin_ns;
};

struct stack {
	const struct regions *owner;
	uint32_t depth;
	uint32_t excess; /* begun beyond the deepest frame */
	struct frame frames[REGION_DEPTH_MAX];
};

static int no_memory(void)
{
	return error_say(-ENOMEM, "No memory for the regions of this process.");
}

/* --- the state of the process --- */

static struct regions **current;     /* in wiped memory */
static struct regions *last_created; /* in a child: the parent's */
static pid_t loaded_by;

__attribute__((constructor)) static void note_process(void)
{
	loaded_by = getpid();
}

static struct regions **current_slot(void)
{
	struct regions **slot = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
	struct regions **none = NULL;
	void *memory;

	if (slot)
		return slot;
	if (wiped_memory_new(sizeof *slot, &memory) < 0)
		return NULL;
	slot = memory;
	if (__atomic_compare_exchange_n(
		    &current, &none, slot, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return slot;
	wiped_memory_free(slot, sizeof *slot);
	return none;
}

/* The state, if there is one. */
static struct regions *regions_now(void)
{
	struct regions **slot = __atomic_load_n(&current, __ATOMIC_ACQUIRE);

	return slot ? __atomic_load_n(slot, __ATOMIC_ACQUIRE) : NULL;
}

static struct regions *regions_get(void)
{
	struct regions **slot = current_slot();
	struct regions *regions = regions_now(), *none = NULL;

	if (!slot || regions)
		return regions;
	regions = calloc(1, sizeof *regions);
	if (!regions)
		return NULL;
	meter_init(&regions->meter);
	pthread_mutex_init(&regions->table_lock, NULL);
	if (!__atomic_compare_exchange_n(
		    slot, &none, regions, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		free(regions);
		return none;
	}
	regions->inherited = __atomic_exchange_n(&last_created, regions, __ATOMIC_ACQ_REL);
	if (regions->inherited)
		meter_disown(&regions->inherited->meter);
	return regions;
}

/* Keeps a failure, with the calling thread's sentence, for the report. */
static int remember(struct regions *regions, int r)
{
	if (r < 0) {
		pthread_mutex_lock(&regions->table_lock);
		failure_keep(&regions->failure, r);
		pthread_mutex_unlock(&regions->table_lock);
	}
	return r;
}

/* --- the table --- */

static struct region *region_new(const char *name)
{
	struct region *region = calloc(1, sizeof *region);

	if (region) {
		strcpy(region->name, name);
		pthread_mutex_init(&region->lock, NULL);
	}
	return region;
}

static struct region *find_or_add_region(struct regions *regions, const char *name)
{
	struct region **at = &regions->first, *region;

	pthread_mutex_lock(&regions->table_lock);
	while (*at && strcmp((*at)->name, name) != 0)
		at = &(*at)->next;
	if (!*at)
		*at = region_new(name);
	region = *at;
	pthread_mutex_unlock(&regions->table_lock);
	return region;
}

/* Passages whose stretch has no figures. */
static void fail_pending(struct region *region)
{
	region->failed += region->pending;
	region->pending = 0;
}

static void count_excess(struct regions *regions, struct region *region)
{
	pthread_mutex_lock(&regions->table_lock);
	region->begun++;
	region->count++;
	region->failed++;
	pthread_mutex_unlock(&regions->table_lock);
}

/* --- figures --- */

static int check_stretch(const struct regions *regions, const struct region *region)
{
	struct uncore_delta delta = UNCORE_DELTA_INIT;
	int r = 0;

	for (uint32_t i = 0; i < regions->meter.n_sockets && r == 0; i++)
		r = uncore_delta(&region->before[i], &region->after[i], &delta);
	return r;
}

static void add_value(const struct regions *regions, struct region_value *sum,
	const struct uncore_delta_value *value)
{
	const struct uncore *handle = regions->meter.handle;

	sum->count += value->count;
	sum->quality |= value->quality;
	if (value->quality & UNCORE_ABSENT && !sum->why && handle)
		sum->why = strdup(uncore_why(handle, value->why));
}

static void add_delta(
	const struct regions *regions, struct region_sum *sum, const struct uncore_delta *delta)
{
	sum->window_ns += delta->window_ns;
	sum->skew_ns += delta->skew_ns;
	for (uint32_t i = 0; i < delta->n_values; i++)
		add_value(regions, &sum->values[i], &delta->values[i]);
}

/* Adds the stretch, which was checked. table_lock and, for its strings, meter.lock are held. */
static int add_stretch(const struct regions *regions, struct region *region)
{
	struct uncore_delta delta = UNCORE_DELTA_INIT;

	if (!region->sums)
		region->sums = calloc(regions->meter.n_sockets, sizeof *region->sums);
	if (!region->sums)
		return no_memory();
	for (uint32_t i = 0; i < regions->meter.n_sockets; i++) {
		uncore_delta(&region->before[i], &region->after[i], &delta);
		add_delta(regions, &region->sums[i], &delta);
	}
	region->pending = 0;
	return 0;
}

/* --- passages --- */

static int enter(struct regions *regions, struct region *region)
{
	int r;

	pthread_mutex_lock(&region->lock);
	if (!region->inside)
		failure_keep(&region->failure, meter_read(&regions->meter, &region->before));
	r = failure_say(&region->failure);
	pthread_mutex_lock(&regions->table_lock);
	region->begun++;
	region->inside++;
	pthread_mutex_unlock(&regions->table_lock);
	pthread_mutex_unlock(&region->lock);
	return r;
}

/* The reading at the last end; nothing for the others. */
static int close_stretch(struct regions *regions, struct region *region)
{
	int r = failure_say(&region->failure);

	if (r < 0 || region->inside > 1)
		return r;
	r = meter_read(&regions->meter, &region->after);
	return r < 0 ? r : check_stretch(regions, region);
}

static int leave(struct regions *regions, struct region *region, uint64_t time_ns)
{
	int r;

	pthread_mutex_lock(&region->lock);
	r = close_stretch(regions, region);
	pthread_rwlock_rdlock(&regions->meter.lock);
	pthread_mutex_lock(&regions->table_lock);
	region->count++;
	region->pending++;
	region->time_ns += time_ns;
	region->inside--;
	if (r == 0 && !region->inside)
		r = add_stretch(regions, region);
	if (r < 0)
		fail_pending(region);
	pthread_mutex_unlock(&regions->table_lock);
	pthread_rwlock_unlock(&regions->meter.lock);
	pthread_mutex_unlock(&region->lock);
	return r;
}

/* Its thread is gone: when it would have ended nobody can say. */
static void abandon(struct regions *regions, struct region *region)
{
	pthread_mutex_lock(&region->lock);
	pthread_mutex_lock(&regions->table_lock);
	region->inside--;
	if (!region->inside)
		fail_pending(region);
	pthread_mutex_unlock(&regions->table_lock);
	pthread_mutex_unlock(&region->lock);
	remember(regions, error_say(-ECANCELED,
				  "A thread ended inside region %s: that passage, and those "
				  "it overlapped last, have no figures.",
				  region->name));
}

/* --- the stack of a thread --- */

static _Thread_local struct stack thread_stack;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;
static pthread_key_t stack_key;
static int stack_key_failure;

static void abandon_all(void *memory)
{
	struct regions *regions = regions_now();
	struct stack *stack = memory;

	while (regions && stack->owner == regions && stack->depth)
		abandon(regions, stack->frames[--stack->depth].region);
}

static void create_stack_key(void)
{
	stack_key_failure = pthread_key_create(&stack_key, abandon_all);
}

static struct stack *stack_get(const struct regions *regions)
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
	struct region *region;
	struct stack *stack;
	int r = check_name(name);

	if (r < 0)
		return r;
	stack = stack_get(regions);
	region = stack ? find_or_add_region(regions, name) : NULL;
	if (!region)
		return no_memory();
	if (stack->depth == REGION_DEPTH_MAX) {
		stack->excess++;
		count_excess(regions, region);
		return error_say(
			-EOVERFLOW, "Region %s is nested deeper than %d.", name, REGION_DEPTH_MAX);
	}
	r = enter(regions, region);
	stack->frames[stack->depth++] = (struct frame){ region, clock_now_ns() };
	return r;
}

static int end(struct regions *regions, const char *name)
{
	uint64_t now_ns = clock_now_ns();
	struct stack *stack;
	struct frame *frame;
	int r = check_name(name);

	if (r < 0)
		return r;
	stack = stack_get(regions);
	if (!stack)
		return no_memory();
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
	return leave(regions, frame->region, now_ns - frame->begin_ns);
}

_public_ int uncore_region_begin(const char *name)
{
	struct regions *regions = regions_get();

	return regions ? remember(regions, begin(regions, name)) : no_memory();
}

_public_ int uncore_region_end(const char *name)
{
	struct regions *regions = regions_get();

	return regions ? remember(regions, end(regions, name)) : no_memory();
}

/* --- the report --- */

_public_ int uncore_region_report(const char *path)
{
	struct regions *regions = regions_get();
	int r;

	if (!regions)
		return no_memory();
	pthread_rwlock_rdlock(&regions->meter.lock);
	pthread_mutex_lock(&regions->table_lock);
	r = path ? report_write_json(regions, path) : report_write_table(regions);
	pthread_mutex_unlock(&regions->table_lock);
	pthread_rwlock_unlock(&regions->meter.lock);
	return r;
}

/* Is there anything to report? A region that is open now will not end any more. */
static bool has_something(struct regions *regions)
{
	bool something;

	pthread_mutex_lock(&regions->table_lock);
	for (const struct region *region = regions->first; region; region = region->next)
		if (region->inside && !regions->failure.error)
			failure_keep(&regions->failure,
				error_say(-ECANCELED, "Region %s was still open at exit.",
					region->name));
	something = regions->first || regions->failure.error;
	pthread_mutex_unlock(&regions->table_lock);
	return something;
}

/* Where a process and the children it forks would all write, the children add their own numbers. */
static int report_to_file(const char *template)
{
	_cleanup_free_ char *own = NULL;

	if (getpid() == loaded_by || launch_names_process(template))
		return uncore_region_report(template);
	if (asprintf(&own, "%s.%%p", template) < 0)
		return no_memory();
	return uncore_region_report(own);
}

__attribute__((destructor)) static void report_at_exit(void)
{
	const char *template = secure_getenv("UNCORE_REPORT");
	struct regions *regions = regions_now();

	if (!regions || !has_something(regions))
		return;
	if (template && *template) {
		if (report_to_file(template) == 0)
			return;
		fprintf(stderr, "uncore: %s The report follows.\n", uncore_error_text());
	}
	if (uncore_region_report(NULL) < 0)
		fprintf(stderr, "uncore: %s\n", uncore_error_text());
}
