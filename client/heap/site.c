/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To unwind the stack takes a microsecond or two, by its tables: programs have no frame pointers.
 * So each thread keeps the stacks that it saw last: if the first caller and the address of its
 * frame are the same, the return addresses of the other frames are compared where they lie on the
 * stack. Only x86 has them at a known distance from a frame's begin.
 */
#include "client/heap/site.h"

#include <string.h>
#include <unwind.h>

#include "client/heap/real.h"

enum { HEAP_NOT_KNOWN = HEAP_NO_PLACE + 1, SEEN_MAX = 16, UNWIND_MAX = 32 };

struct heap_place heap_places[HEAP_SITES_MAX] = { { .kind = NULL } };
struct heap_module heap_modules[HEAP_MODULES_MAX];
uint32_t heap_n_places = 1, heap_n_modules;

#if defined(__x86_64__)
#define HAS_CODES_BEFORE_FRAMES true
#else
#define HAS_CODES_BEFORE_FRAMES false
#endif

/* A stack: where its frames return to, and where on the stack that stands. */
struct stack {
	const void *caller;
	const char *frame;
	const char *kind;
	uint32_t n, depth;
	const void *codes[HEAP_FRAMES];
	const void *const *at[HEAP_FRAMES];
};

static uint32_t age; /* atomic: how often addresses were forgotten */

/* --- unwinding --- */

static _Unwind_Reason_Code take_frame(struct _Unwind_Context *context, void *argument)
{
	struct stack *stack = argument;
	const void *code = (const void *)_Unwind_GetIP(context);

	if (!code || ++stack->depth > UNWIND_MAX)
		return _URC_END_OF_STACK;
	if (!stack->n && code != stack->caller) /* a frame of this module */
		return _URC_NO_REASON;
	stack->codes[stack->n] = code;
	stack->at[stack->n] = (const void *const *)_Unwind_GetCFA(context) - 1;
	stack->n++;
	return stack->n == HEAP_FRAMES ? _URC_END_OF_STACK : _URC_NO_REASON;
}

static void unwind(struct stack *stack)
{
	_Unwind_Backtrace(take_frame, stack);
	if (!stack->n)
		stack->codes[stack->n++] = stack->caller;
}

/* --- modules --- */

/* 0: there is no room, or no memory. */
static uint32_t site_number_of(const struct module_place *found)
{
	struct heap_module *module = &heap_modules[0];

	while (module < &heap_modules[heap_n_modules] &&
		(strcmp(module->path, found->path) != 0 || strcmp(module->id, found->id) != 0))
		module++;
	if (module == &heap_modules[HEAP_MODULES_MAX])
		return 0;
	if (module == &heap_modules[heap_n_modules]) {
		module->path = strdup(found->path);
		strcpy(module->id, found->id);
		heap_n_modules += module->path != NULL;
	}
	return module->path ? (uint32_t)(module - heap_modules) + 1 : 0;
}

static struct heap_frame site_frame_of(const void *code)
{
	struct heap_frame frame = { .offset = (uintptr_t)code };
	struct module_place found;

	if (!module_find_place(code, &found))
		return frame;
	pthread_mutex_lock(&heap_lock);
	frame.module = site_number_of(&found);
	pthread_mutex_unlock(&heap_lock);
	if (frame.module)
		frame.offset = found.offset;
	return frame;
}

/* --- places --- */

static bool is_equal(const struct heap_place *a, const struct heap_place *b)
{
	if (a->kind != b->kind || a->n_frames != b->n_frames)
		return false;
	for (uint32_t i = 0; i < a->n_frames; i++)
		if (a->frames[i].module != b->frames[i].module ||
			a->frames[i].offset != b->frames[i].offset)
			return false;
	return true;
}

/* What this project's libraries allocate in a program is not the program's. */
static bool site_is_ours(const struct heap_place *place)
{
	const uint32_t module = place->frames[0].module;
	const char *slash = module ? strrchr(heap_modules[module - 1].path, '/') : NULL;

	return slash && strncmp(slash, "/libuncore", strlen("/libuncore")) == 0;
}

static uint32_t add_place(const struct heap_place *place)
{
	if (site_is_ours(place))
		return HEAP_NO_PLACE;
	for (uint32_t i = 1; i < heap_n_places; i++)
		if (is_equal(&heap_places[i], place))
			return i;
	if (heap_n_places == HEAP_SITES_MAX)
		return 0;
	heap_places[heap_n_places] = *place;
	return heap_n_places++;
}

void heap_places_forget_addresses(void)
{
	pthread_mutex_lock(&heap_lock);
	for (uint32_t i = 0; i < heap_n_places; i++)
		memset(heap_places[i].codes, 0, sizeof heap_places[i].codes);
	__atomic_fetch_add(&age, 1, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&heap_lock);
}

static uint32_t find_known(const struct stack *stack)
{
	uint32_t i = 1;

	pthread_mutex_lock(&heap_lock);
	while (i < heap_n_places &&
		(heap_places[i].kind != stack->kind ||
			memcmp(heap_places[i].codes, stack->codes, sizeof stack->codes) != 0))
		i++;
	if (i == heap_n_places)
		i = HEAP_NOT_KNOWN;
	pthread_mutex_unlock(&heap_lock);
	return i;
}

static uint32_t find_new(const struct stack *stack)
{
	struct heap_place place = { .kind = stack->kind, .n_frames = stack->n };
	uint32_t number;

	for (uint32_t i = 0; i < stack->n; i++)
		place.frames[i] = site_frame_of(stack->codes[i]);
	pthread_mutex_lock(&heap_lock);
	number = add_place(&place);
	if (number != HEAP_NO_PLACE)
		memcpy(heap_places[number].codes, stack->codes, sizeof stack->codes);
	pthread_mutex_unlock(&heap_lock);
	return number;
}

/* --- stacks of this thread --- */

struct seen {
	struct stack stack;
	uint32_t age, place;
};

static bool site_is_same(const struct seen *seen, const struct stack *stack)
{
	if (seen->stack.caller != stack->caller || seen->stack.frame != stack->frame ||
		seen->stack.kind != stack->kind ||
		seen->age != __atomic_load_n(&age, __ATOMIC_ACQUIRE))
		return false;
	for (uint32_t i = 1; i < seen->stack.n; i++)
		if (*seen->stack.at[i] != seen->stack.codes[i])
			return false;
	return true;
}

uint32_t heap_place_here(const char *kind, const void *caller)
{
	static _Thread_local struct seen all[SEEN_MAX] __attribute__((tls_model("initial-exec")));
	struct stack stack = {
		.caller = caller, .frame = __builtin_frame_address(0), .kind = kind
	};
	struct seen *seen =
		&all[((uintptr_t)caller ^ (uintptr_t)stack.frame >> 4) * 0x9e3779b9 >> 8 &
			(SEEN_MAX - 1)];
	uint32_t before = __atomic_load_n(&age, __ATOMIC_ACQUIRE), place;

	if (HAS_CODES_BEFORE_FRAMES && site_is_same(seen, &stack))
		return seen->place;
	unwind(&stack);
	place = find_known(&stack);
	if (place == HEAP_NOT_KNOWN)
		place = find_new(&stack);
	*seen = (struct seen){ stack, before, place };
	return place;
}
