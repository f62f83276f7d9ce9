/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does what NVTX's header does inside a program, on the simulated machine: it has a pointer for
 * each function, loads the library that NVTX_INJECTION64_PATH names, lets it fill the pointers, and
 * calls those that are filled. NVIDIA/NVTX: c/include/nvtx3/nvtxDetail/nvtxInit.h, nvtxImplCore.h.
 */
#include <dlfcn.h>
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "tests/languages/programs/mover.h"

typedef void (*function)(void);

enum { CORE = 16, CORE2 = 16 };

static function core[CORE], core2[CORE2];
static function *core_slots[CORE + 1], *core2_slots[CORE2 + 1];

static int get_slots(int module, function ***ret_slots, unsigned *ret_n)
{
	if (module != 1 && module != 5)
		return 0;
	*ret_slots = module == 1 ? core_slots : core2_slots;
	*ret_n = module == 1 ? CORE : CORE2;
	return 1;
}

static const struct {
	size_t size;
	int (*get_slots)(int, function ***, unsigned *);
} CALLBACKS = { sizeof CALLBACKS, get_slots };

static const void *get_table(uint32_t table)
{
	return table == 1 ? &CALLBACKS : NULL;
}

static void load(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*initialize)(const void *(*)(uint32_t));

	if (!library)
		errx(1, "%s", path ? dlerror() : "no library");
	for (int i = 1; i < CORE; i++)
		core_slots[i] = &core[i], core2_slots[i] = &core2[i];
	*(void **)&initialize = dlsym(library, "InitializeInjectionNvtx2");
	if (!initialize || !initialize(get_table)) {
		dlclose(library);
		memset(core, 0, sizeof core);
		memset(core2, 0, sizeof core2);
	}
}

/* Calls function NUMBER of a table, or is 0 where it is not filled. */
#define CALL(table, number, type, parameters, ...)                                                 \
	(table[number] ? ((type(*) parameters)table[number])(__VA_ARGS__) : (type)0)

struct event {
	uint16_t version, size;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type, reserved;
	uint64_t payload;
	int32_t text_type;
	const void *text;
};

static struct event *event(int text_type, const void *text)
{
	static struct event event = { .version = 3, .size = sizeof event };

	event.text_type = text_type;
	event.text = text;
	return &event;
}

static int push(const char *text)
{
	return CALL(core, 9, int, (const char *), text);
}

static int pop(void)
{
	return CALL(core, 11, int, (void), );
}

static void *create(const char *text)
{
	return CALL(core2, 12, void *, (const char *), text);
}

static void *intern(void *domain, const char *text)
{
	return CALL(core2, 10, void *, (void *, const char *), domain, text);
}

static int push_in(void *domain, int type, const void *text)
{
	return CALL(core2, 4, int, (void *, const struct event *), domain, event(type, text));
}

static int pop_in(void *domain)
{
	return CALL(core2, 5, int, (void *), domain);
}

static uint64_t start(const char *text)
{
	return CALL(core, 5, uint64_t, (const char *), text);
}

static void *end(void *range)
{
	CALL(core, 7, void, (uint64_t), *(uint64_t *)range);
	return NULL;
}

/* --- what programs do --- */

static void do_stack(void)
{
	printf("depths %d", push("outer"));
	mover_move(1, 0, 0);
	printf(" %d", CALL(core, 10, int, (const wchar_t *), L"w\u00eed\u20ac \U0001f600"));
	mover_move(2, 0, 0);
	printf(" %d", CALL(core, 8, int, (const struct event *), event(1, "event")));
	CALL(core, 2, void, (const char *), "a mark");
	mover_move(4, 0, 0);
	for (int i = 0; i < 4; i++) /* one too many */
		printf(" %d", pop());
	puts("");
}

/* Stacks of two domains and none overlap in a thread. */
static void do_domains(void)
{
	void *one = create("one"), *two = CALL(core2, 13, void *, (const wchar_t *), L"tw\u00f6");
	void *text = intern(one, "registered");
	void *wide = CALL(core2, 11, void *, (void *, const wchar_t *), two, L"wide");

	printf("domains %d %d %d\n", one == create("one"), one != two,
		text == intern(one, "registered"));
	push_in(one, 3, text);
	mover_move(1, 0, 0);
	push_in(two, 3, wide);
	mover_move(2, 0, 0);
	push("no domain");
	mover_move(4, 0, 0);
	pop_in(one);
	mover_move(8, 0, 0);
	pop();
	mover_move(16, 0, 0);
	push_in(two, 2, L"inner");
	mover_move(32, 0, 0);
	pop_in(two);
	pop_in(two);
	pop_in(two);
	push_in(one, 0, NULL);
	pop_in(one);
	CALL(core2, 14, void, (void *), one);
}

/* Ranges overlap, and end in other threads. */
static void do_ranges(void)
{
	void *domain = create("one");
	uint64_t a = start("range"), b, c, none = 0;
	pthread_t thread;

	mover_move(1, 0, 0);
	b = CALL(core2, 2, uint64_t, (void *, const struct event *), domain, event(1, "range"));
	mover_move(2, 0, 0);
	c = CALL(core, 6, uint64_t, (const wchar_t *), L"range");
	pthread_create(&thread, NULL, end, &a);
	pthread_join(thread, NULL);
	mover_move(4, 0, 0);
	CALL(core2, 3, void, (void *, uint64_t), domain, b);
	mover_move(8, 0, 0);
	end(&c);
	end(&c);
	end(&none);
	printf("ranges %d\n", a && b && c && a != b && b != c);
}

static void do_long(void)
{
	static char texts[2][3000];
	static wchar_t wide[2][3000];

	for (int i = 0; i < 2; i++) {
		void *domain = create("long");

		memset(texts[i], 'x', sizeof texts[i] - 1);
		texts[i][2998] = (char)('a' + i);
		wmemset(wide[i], L'y', 2999);
		wide[i][2998] = L'a' + i;
		push_in(domain, 1, texts[i]);
		push_in(domain, 2, wide[i]);
		pop_in(domain);
		pop_in(domain);
	}
}

int main(void)
{
	load();
	do_stack();
	do_domains();
	do_ranges();
	do_long();
	puts("done");
	return 0;
}
