/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The passages of a thread that its markers opened. The library's own stack cannot be asked, and
 * holds what other libraries and the program itself have opened, too.
 */
#include "client/markers/base/marker.h"

#include <stdlib.h>
#include <string.h>

#include "client/libuncore/uncore.h"

enum { DEPTH = 32 }; /* as deep as libuncore nests; it counts those that are deeper as failed */

struct stack {
	uint32_t depth; /* also those that have no place here */
	struct passage {
		const struct marker *marker;
		const void *owner, *inside;
	} passages[DEPTH];
};

/* To find a thread's variable takes a call, which the compiler would repeat. */
static struct stack *stack_of_thread(void)
{
	static _Thread_local struct stack own;
	struct stack *stack = &own;

	__asm__("" : "+r"(stack));
	return stack;
}

/* --- begin and end --- */

static void marker_stack_begin(struct stack *stack, struct passage passage)
{
	if (stack->depth < DEPTH)
		stack->passages[stack->depth] = passage;
	stack->depth++;
	uncore_region_begin(passage.marker->name);
}

static void marker_stack_end(struct stack *stack)
{
	stack->depth--;
	uncore_region_end(
		stack->depth < DEPTH ? stack->passages[stack->depth].marker->name : "deeper");
}

/* Those above @depth end, and all but the lowest of them begin again, one place lower. */
static void end_below_others(struct stack *stack, uint32_t depth)
{
	const uint32_t before = stack->depth;

	while (stack->depth > depth)
		marker_stack_end(stack);
	while (stack->depth + 1 < before)
		marker_stack_begin(stack, stack->passages[stack->depth + 1]);
}

/* The innermost passage of @owner and, unless NULL, @marker. */
static bool marker_leave_one(const struct marker *marker, const void *owner)
{
	struct stack *stack = stack_of_thread();
	uint32_t depth = stack->depth;

	if (depth > DEPTH) {
		marker_stack_end(stack);
		return true;
	}
	while (depth && (stack->passages[depth - 1].owner != owner ||
				(marker && stack->passages[depth - 1].marker != marker)))
		depth--;
	if (depth == stack->depth && depth)
		marker_stack_end(stack);
	else if (depth)
		end_below_others(stack, depth - 1);
	return depth;
}

void marker_enter(const struct marker *marker)
{
	marker_enter_in(NULL, marker);
}

bool marker_leave(const struct marker *marker)
{
	return marker_leave_one(marker, NULL);
}

void marker_enter_in(const void *owner, const struct marker *marker)
{
	marker_enter_with(owner, NULL, marker);
}

void marker_enter_with(const void *owner, const void *inside, const struct marker *marker)
{
	marker_stack_begin(stack_of_thread(), (struct passage){ marker, owner, inside });
}

const struct marker *marker_with(const void *inside)
{
	const struct stack *stack = stack_of_thread();

	for (uint32_t i = 0; i < stack->depth && i < DEPTH; i++)
		if (stack->passages[i].inside == inside)
			return stack->passages[i].marker;
	return NULL;
}

void marker_pop_in(const void *owner)
{
	marker_leave_one(NULL, owner);
}

/* --- whether at all --- */

bool marker_list_has(const char *list, const char *word)
{
	const size_t n = strlen(word);

	while (*list) {
		const size_t length = strcspn(list, ",");

		if (length == n && strncmp(list, word, n) == 0)
			return true;
		list += length + (list[length] == ',');
	}
	return false;
}

bool marker_is_wanted(const char *family)
{
	const char *list = secure_getenv("UNCORE_MARKERS");

	return !list || marker_list_has(list, family);
}

enum { NOT_KNOWN, OURS, THEIRS };

bool marker_is_ours(const char *family, const char *const variables[], int *known)
{
	int found = __atomic_load_n(known, __ATOMIC_RELAXED);

	if (found == NOT_KNOWN) {
		found = marker_is_wanted(family) ? OURS : THEIRS;
		for (; *variables; variables++)
			found = getenv(*variables) ? THEIRS : found;
		__atomic_store_n(known, found, __ATOMIC_RELAXED);
	}
	return found == OURS;
}
