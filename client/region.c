/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Named regions: the one piece of the library with state of the process itself.
 *
 * The pointer to that state lies in memory that a forked child finds wiped, so a child starts with
 * no regions and makes its own connection, whatever locks the parent's threads held at the fork.
 * Each thread keeps a stack of open regions. It remembers which state it belongs to and is emptied
 * when that is another one. Readings are taken outside the table's lock, so threads measure side by
 * side and share sweeps.
 *
 * A daemon that was restarted closes the connection; the next reading connects again, and where the
 * generation is still the same, a region that was open meanwhile has lost nothing.
 */
#include "client/region.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "client/internal.h"

/* A program without a daemon must not pay for an attempt at every region. */
#define RETRY_AFTER_NS 10000000000ULL

struct frame {
	struct region *region;
	int failure;                   /* of the begin */
	struct uncore_sample *samples; /* one per socket; kept for the next region this deep */
};

struct stack {
	const struct regions *owner;
	uint32_t depth;
	uint32_t excess; /* begun beyond the deepest frame */
	struct frame frames[REGION_DEPTH_MAX];
	struct frame after; /* readings at an end */
	struct uncore_delta *deltas;
};

/* --- the state of the process --- */

static struct regions **current;     /* in wiped memory */
static struct regions *last_created; /* in a child: the parent's */
static int exit_registered;

static void report_at_exit(void)
{
	const char *path = secure_getenv("UNCORE_REPORT");
	struct regions *regions = __atomic_load_n(current, __ATOMIC_ACQUIRE);

	if (!regions || !regions->first)
		return;
	if (uncore_region_report(path && *path ? path : NULL) < 0)
		fprintf(stderr, "uncore: %s\n", uncore_error_text());
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

/* What is done once by the thread whose state was taken. */
static void state_taken(struct regions *regions)
{
	struct regions *parents = __atomic_exchange_n(&last_created, regions, __ATOMIC_ACQ_REL);

	/* Else this child would hold the parent's place at the daemon. */
	if (parents)
		uncore_close(parents->handle);
	if (!__atomic_exchange_n(&exit_registered, 1, __ATOMIC_ACQ_REL))
		atexit(report_at_exit);
}

static struct regions *regions_get(void)
{
	struct regions **slot = current_slot();
	struct regions *regions, *none = NULL;

	if (!slot)
		return NULL;
	regions = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
	if (regions)
		return regions;
	regions = calloc(1, sizeof *regions);
	if (!regions)
		return NULL;
	pthread_rwlock_init(&regions->connection_lock, NULL);
	pthread_mutex_init(&regions->table_lock, NULL);
	if (!__atomic_compare_exchange_n(
		    slot, &none, regions, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		free(regions);
		return none;
	}
	state_taken(regions);
	return regions;
}

/* --- the stack of a thread --- */

static pthread_once_t stack_once = PTHREAD_ONCE_INIT;
static pthread_key_t stack_key;
static int stack_key_failure;

static void stack_free(void *memory)
{
	struct stack *stack = memory;

	for (uint32_t i = 0; i < REGION_DEPTH_MAX; i++)
		free(stack->frames[i].samples);
	free(stack->after.samples);
	free(stack->deltas);
	free(stack);
}

static void create_stack_key(void)
{
	stack_key_failure = pthread_key_create(&stack_key, stack_free);
}

static struct stack *stack_create(void)
{
	struct stack *stack = calloc(1, sizeof *stack);

	if (stack && pthread_setspecific(stack_key, stack) == 0)
		return stack;
	free(stack);
	return NULL;
}

static struct stack *stack_get(const struct regions *regions)
{
	struct stack *stack;

	if (pthread_once(&stack_once, create_stack_key) != 0 || stack_key_failure)
		return NULL;
	stack = pthread_getspecific(stack_key);
	if (!stack)
		stack = stack_create();
	if (stack && stack->owner != regions) {
		stack->owner = regions;
		stack->depth = 0;
		stack->excess = 0;
	}
	return stack;
}

/* --- the connection --- */

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

/* Keeps the calling thread's sentence for the report. */
static int remember_failure(struct regions *regions, int failure)
{
	pthread_mutex_lock(&regions->table_lock);
	regions->failure = failure;
	snprintf(regions->failure_text, sizeof regions->failure_text, "%s", uncore_error_text());
	pthread_mutex_unlock(&regions->table_lock);
	return failure;
}

static int repeat_failure(struct regions *regions)
{
	int r;

	pthread_mutex_lock(&regions->table_lock);
	r = error_say(regions->failure, "%s", regions->failure_text);
	pthread_mutex_unlock(&regions->table_lock);
	return r;
}

static void adopt_machine(
	struct regions *regions, const struct uncore *handle, const struct uncore_machine *machine)
{
	strcpy(regions->platform, machine->platform);
	regions->n_sockets = machine->n_sockets;
	regions->n_metrics = machine->n_metrics;
	for (uint32_t i = 0; i < machine->n_metrics; i++) {
		strcpy(regions->names[i], uncore_metric_name(handle, i));
		strcpy(regions->units[i], uncore_metric_unit(handle, i));
	}
}

/* Sums of different things must not be mixed. */
static bool machine_agrees(const struct regions *regions, const struct uncore *handle,
	const struct uncore_machine *machine)
{
	if (machine->n_sockets != regions->n_sockets || machine->n_metrics != regions->n_metrics)
		return false;
	for (uint32_t i = 0; i < machine->n_metrics; i++)
		if (strcmp(regions->names[i], uncore_metric_name(handle, i)) != 0 ||
			strcmp(regions->units[i], uncore_metric_unit(handle, i)) != 0)
			return false;
	return true;
}

/* connection_lock is held for writing. */
static int open_now(struct regions *regions)
{
	struct uncore_machine machine = UNCORE_MACHINE_INIT;
	struct uncore *handle;
	int r = uncore_open(NULL, &handle);

	if (r < 0)
		return r;
	uncore_describe(handle, &machine);
	if (!*regions->platform)
		adopt_machine(regions, handle, &machine);
	if (!machine_agrees(regions, handle, &machine)) {
		uncore_close(handle);
		return error_say(-ESTALE, "uncored serves other metrics now than when the first "
					  "region began.");
	}
	memcpy(regions->generation, machine.generation, sizeof regions->generation);
	regions->handle = handle;
	return 0;
}

/* Opens the connection, unless another thread has meanwhile put a new one in place of @stale. */
static int connect_again(struct regions *regions, struct uncore *stale)
{
	int r = 0;

	pthread_rwlock_wrlock(&regions->connection_lock);
	if (regions->handle == stale) {
		uncore_close(stale);
		regions->handle = NULL;
		if (now_ns() < regions->retry_at_ns) {
			r = repeat_failure(regions);
		} else {
			r = open_now(regions);
			if (r < 0) {
				regions->retry_at_ns = now_ns() + RETRY_AFTER_NS;
				remember_failure(regions, r);
			}
		}
	}
	pthread_rwlock_unlock(&regions->connection_lock);
	return r;
}

/* --- readings --- */

static int make_room(struct frame *frame, uint32_t n_sockets)
{
	if (!frame->samples)
		frame->samples = calloc(n_sockets, sizeof *frame->samples);
	if (!frame->samples)
		return error_say(-ENOMEM, "No memory for the readings of a region.");
	for (uint32_t i = 0; i < n_sockets; i++)
		frame->samples[i].size = sizeof frame->samples[i];
	return 0;
}

/* One attempt; *@ret_used is the handle that was read (NULL: none is open). */
static int try_reading(struct regions *regions, struct frame *frame, struct uncore **ret_used)
{
	int r = -ENOTCONN;

	pthread_rwlock_rdlock(&regions->connection_lock);
	*ret_used = regions->handle;
	if (regions->handle) {
		r = make_room(frame, regions->n_sockets);
		if (r == 0)
			r = uncore_read_all(
				regions->handle, UNCORE_FRESH, frame->samples, regions->n_sockets);
	}
	pthread_rwlock_unlock(&regions->connection_lock);
	return r;
}

static int take_reading(struct regions *regions, struct frame *frame)
{
	struct uncore *used;
	int r = try_reading(regions, frame, &used);

	/* Gone, or the page was withdrawn: there may be a new daemon, or a new page. */
	if (r == -ENOTCONN || r == -EACCES) {
		r = connect_again(regions, used);
		if (r < 0)
			return r;
		r = try_reading(regions, frame, &used);
	}
	return r < 0 ? remember_failure(regions, r) : 0;
}

/* --- the table --- */

static struct region *find_region(struct regions *regions, const char *name)
{
	struct region *region = regions->first;

	while (region && strcmp(region->name, name) != 0)
		region = region->next;
	return region;
}

static struct region *find_or_add_region(struct regions *regions, const char *name)
{
	struct region *region, **last = &regions->first;

	pthread_mutex_lock(&regions->table_lock);
	region = find_region(regions, name);
	if (!region) {
		region = calloc(1, sizeof *region);
		if (region) {
			strcpy(region->name, name);
			while (*last)
				last = &(*last)->next;
			*last = region;
		}
	}
	pthread_mutex_unlock(&regions->table_lock);
	return region;
}

static void add_value(const struct regions *regions, struct region_value *sum,
	const struct uncore_delta_value *value)
{
	sum->count += value->count;
	sum->quality |= value->quality;
	if (value->quality & UNCORE_ABSENT && !sum->why)
		sum->why = strdup(uncore_why(regions->handle, value->why));
}

static void add_delta(
	const struct regions *regions, struct region_sum *sum, const struct uncore_delta *delta)
{
	sum->window_ns += delta->window_ns;
	sum->skew_ns += delta->skew_ns;
	for (uint32_t i = 0; i < delta->n_values; i++)
		add_value(regions, &sum->values[i], &delta->values[i]);
}

static void count_failed(struct regions *regions, struct region *region)
{
	pthread_mutex_lock(&regions->table_lock);
	region->count++;
	region->failed++;
	pthread_mutex_unlock(&regions->table_lock);
}

static int count_passage(
	struct regions *regions, struct region *region, const struct uncore_delta deltas[])
{
	int r = 0;

	pthread_rwlock_rdlock(&regions->connection_lock);
	pthread_mutex_lock(&regions->table_lock);
	region->count++;
	if (!region->sums)
		region->sums = calloc(regions->n_sockets, sizeof *region->sums);
	if (!region->sums) {
		region->failed++;
		r = error_say(-ENOMEM, "No memory for the sums of region %s.", region->name);
	}
	for (uint32_t i = 0; region->sums && i < regions->n_sockets; i++)
		add_delta(regions, &region->sums[i], &deltas[i]);
	pthread_mutex_unlock(&regions->table_lock);
	pthread_rwlock_unlock(&regions->connection_lock);
	return r;
}

/* --- begin and end --- */

static int bad_name(void)
{
	return error_say(-EINVAL, "A region's name has 1 to %d bytes.", REGION_NAME_MAX - 1);
}

static bool name_is_good(const char *name)
{
	return name && *name && memchr(name, '\0', REGION_NAME_MAX);
}

static int no_memory(void)
{
	return error_say(-ENOMEM, "No memory for the regions of this process.");
}

_public_ int uncore_region_begin(const char *name)
{
	struct regions *regions = regions_get();
	struct stack *stack = regions ? stack_get(regions) : NULL;
	struct region *region;
	struct frame *frame;

	if (!name_is_good(name))
		return bad_name();
	region = stack ? find_or_add_region(regions, name) : NULL;
	if (!region)
		return no_memory();
	if (stack->depth == REGION_DEPTH_MAX) {
		stack->excess++;
		return error_say(
			-EOVERFLOW, "Region %s is nested deeper than %d.", name, REGION_DEPTH_MAX);
	}
	frame = &stack->frames[stack->depth++];
	frame->region = region;
	frame->failure = take_reading(regions, frame);
	return frame->failure;
}

/* Its begin had no frame left: all that is known of it is its name. */
static int end_excess(struct regions *regions, struct stack *stack, const char *name)
{
	struct region *region = find_or_add_region(regions, name);

	if (!region)
		return no_memory();
	stack->excess--;
	count_failed(regions, region);
	return error_say(
		-EOVERFLOW, "Region %s was nested deeper than %d.", name, REGION_DEPTH_MAX);
}

/* The differences of all sockets between the begin of @frame and now, into the stack's deltas. */
static int measure_passage(struct regions *regions, struct stack *stack, const struct frame *frame)
{
	int r = take_reading(regions, &stack->after);

	if (r < 0)
		return r;
	if (!stack->deltas)
		stack->deltas = calloc(regions->n_sockets, sizeof *stack->deltas);
	if (!stack->deltas)
		return no_memory();
	for (uint32_t i = 0; i < regions->n_sockets && r == 0; i++) {
		stack->deltas[i].size = sizeof stack->deltas[i];
		r = uncore_delta(&frame->samples[i], &stack->after.samples[i], &stack->deltas[i]);
	}
	return r < 0 ? remember_failure(regions, r) : 0;
}

static int end_frame(struct regions *regions, struct stack *stack, const struct frame *frame)
{
	int r = frame->failure;

	if (r < 0)
		error_say(r, "Region %s had no reading when it began: %m.", frame->region->name);
	else
		r = measure_passage(regions, stack, frame);
	stack->depth--;
	if (r == 0)
		return count_passage(regions, frame->region, stack->deltas);
	count_failed(regions, frame->region);
	return r;
}

_public_ int uncore_region_end(const char *name)
{
	struct regions *regions = regions_get();
	struct stack *stack = regions ? stack_get(regions) : NULL;
	struct frame *frame;

	if (!name_is_good(name))
		return bad_name();
	if (!stack)
		return no_memory();
	if (stack->excess)
		return end_excess(regions, stack, name);
	if (!stack->depth)
		return error_say(-EINVAL, "Region %s is not open in this thread.", name);
	frame = &stack->frames[stack->depth - 1];
	if (strcmp(frame->region->name, name) != 0)
		return error_say(-EINVAL, "Region %s cannot end: %s, begun later, is still open.",
			name, frame->region->name);
	return end_frame(regions, stack, frame);
}

_public_ int uncore_region_report(const char *path)
{
	struct regions *regions = regions_get();
	int r;

	if (!regions)
		return no_memory();
	pthread_rwlock_rdlock(&regions->connection_lock);
	pthread_mutex_lock(&regions->table_lock);
	r = path ? report_write_json(regions, path) : report_write_table(regions);
	pthread_mutex_unlock(&regions->table_lock);
	pthread_rwlock_unlock(&regions->connection_lock);
	return r;
}
