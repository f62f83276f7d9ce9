/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Does what ITT's static part does inside a program, on the simulated machine: it has a list of its
 * functions, loads the library that INTEL_LIBITTNOTIFY64 names, lets it fill the list, and calls
 * what is filled. intel/ittapi: src/ittnotify/ittnotify_static.c.
 */
#include <dlfcn.h>
#include <err.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/languages/programs/mover.h"

struct id {
	unsigned long long d1, d2, d3;
};

struct domain {
	volatile int flags;
	const char *name;
	void *wide;
	int extra1;
	void *extra2;
	struct domain *next;
};

struct string {
	const char *text;
	void *wide;
	int extra1;
	void *extra2;
	struct string *next;
};

static struct domain *(*domain_create)(const char *);
static struct string *(*string_handle_create)(const char *);
static void (*task_begin)(const struct domain *, struct id, struct id, struct string *);
static void (*task_begin_fn)(const struct domain *, struct id, struct id, void *);
static void (*task_end)(const struct domain *);
static void (*task_begin_overlapped)(const struct domain *, struct id, struct id, struct string *);
static void (*task_end_overlapped)(const struct domain *, struct id);
static void (*region_begin)(const struct domain *, struct id, struct id, struct string *);
static void (*region_end)(const struct domain *, struct id);
static void (*frame_begin_v3)(const struct domain *, struct id *);
static void (*frame_end_v3)(const struct domain *, struct id *);
static int (*event_create)(const char *, int);
static int (*event_start)(int);
static int (*event_end)(int);
static void (*pause_)(void);
static void (*marker)(const struct domain *, struct id, struct string *, int);

static void initial(void)
{
}

struct api {
	const char *name;
	void *function;
	void (*init)(void);
	void (*absent)(void);
	int group;
};

#define API(name, absent)                                                                          \
	{                                                                                          \
		"__itt_" #name, &name, initial, absent, 1 << 12                                    \
	}

static struct api apis[] = {
	API(domain_create, initial),
	API(string_handle_create, initial),
	{ "__itt_pause", &pause_, initial, initial, 1 << 1 },
	API(task_begin, NULL),
	API(task_begin_fn, NULL),
	API(task_end, NULL),
	API(task_begin_overlapped, NULL),
	API(task_end_overlapped, NULL),
	API(region_begin, NULL),
	API(region_end, NULL),
	API(frame_begin_v3, NULL),
	API(frame_end_v3, NULL),
	API(event_create, NULL),
	API(event_start, NULL),
	API(event_end, NULL),
	API(marker, NULL),
	{ NULL, NULL, NULL, NULL, 0 },
};
enum { N_APIS = sizeof apis / sizeof *apis - 1 };

static struct {
	unsigned char magic[8];
	unsigned long major, minor, build;
	volatile long is_initialized, has_mutex, counter;
	pthread_mutex_t mutex;
	void *library, *error_handler;
	const char **path;
	struct api *apis;
	void *others[8];
} global = { { 0xED, 0xAB, 0xAB, 0xEC, 0x0D, 0xEE, 0xDA, 0x30 }, 3, 0, 20180723, 0, 0, 0,
	PTHREAD_MUTEX_INITIALIZER, NULL, NULL, NULL, apis, { NULL } };

/* What a pointer is while nothing is loaded, and, of some functions, without a collector. */
static int is_filled(int i)
{
	void (*function)(void);

	memcpy(&function, apis[i].function, sizeof function);
	return function && function != initial;
}

static void load(void)
{
	const char *path = getenv("INTEL_LIBITTNOTIFY64");
	void (*initialize)(void *, int);

	global.library = path ? dlopen(path, RTLD_LAZY) : NULL;
	if (!global.library)
		errx(1, "%s", path ? dlerror() : "no library");
	for (int i = 0; i < N_APIS; i++)
		memcpy(apis[i].function, &apis[i].init, sizeof apis[i].init);
	*(void **)&initialize = dlsym(global.library, "__itt_api_init");
	if (!initialize)
		errx(1, "%s", dlerror());
	initialize(&global, -1);
}

/* --- what programs do --- */

static const struct id NONE;
static struct domain early = { 1, "early", NULL, 0, NULL,
	NULL }; /* made before the library was there */
static struct string early_text = { "text", NULL, 0, NULL, NULL };

void itt_named(void)
{
}

static void do_tasks(void)
{
	struct domain *one = domain_create("one"), *two = domain_create("two");
	struct string *task = string_handle_create("task"), *inner = string_handle_create("inner");

	printf("same %d %d, enabled %d, texts %s %s\n", one == domain_create("one"),
		task == string_handle_create("task"), one->flags, one->name, task->text);
	task_begin(one, NONE, NONE, task);
	mover_move(1, 0, 0);
	task_begin(two, NONE, NONE, inner);
	mover_move(2, 0, 0);
	task_end(one); /* in another order than they began */
	mover_move(4, 0, 0);
	task_end(two);
	task_end(two);
	task_begin(&early, NONE, NONE, &early_text);
	mover_move(8, 0, 0);
	task_begin_fn(&early, NONE, NONE, (void *)itt_named);
	mover_move(16, 0, 0);
	task_end(&early);
	task_end(&early);
}

static void *end_overlapped(void *domain)
{
	task_end_overlapped(domain, (struct id){ 1, 2, 0 });
	return NULL;
}

/* The same ID stands for a task, a region and a frame. */
static void do_spans(void)
{
	struct domain *domain = domain_create("spans");
	struct string *text = string_handle_create("text");
	struct id a = { 1, 2, 0 }, b = { 1, 3, 0 };
	pthread_t thread;

	task_begin_overlapped(domain, a, NONE, text);
	task_begin_overlapped(domain, b, NONE, text);
	task_begin_overlapped(domain, a, NONE, text); /* ignored */
	mover_move(1, 0, 0);
	pthread_create(&thread, NULL, end_overlapped, domain);
	pthread_join(thread, NULL);
	region_begin(domain, a, NONE, string_handle_create("region"));
	mover_move(2, 0, 0);
	task_end_overlapped(domain, b);
	frame_begin_v3(domain, &a);
	frame_begin_v3(domain, NULL);
	mover_move(4, 0, 0);
	frame_end_v3(domain, NULL);
	region_end(domain, a);
	region_end(domain, a); /* ignored */
	mover_move(8, 0, 0);
	frame_end_v3(domain, &a);
	frame_end_v3(domain, &a);
	frame_begin_v3(&early, NULL); /* two objects for one domain */
	mover_move(16, 0, 0);
	frame_end_v3(domain_create("early"), NULL);
	mover_move(32, 0, 0);
}

static void do_events(void)
{
	int first = event_create("eventful", 5), second = event_create("other", 0);

	printf("events %d %d\n", first == event_create("event", 100), first != second);
	event_start(first);
	mover_move(1, 0, 0);
	event_start(second);
	mover_move(2, 0, 0);
	event_end(first);
	mover_move(4, 0, 0);
	event_end(second);
	event_start(12345);
	event_end(12345);
}

/* Many spans of one name, whose IDs are addresses, by threads at once. */
static void *do_many(void *unused)
{
	static struct id ids[4][64];
	static int threads;
	struct id *own = ids[__atomic_fetch_add(&threads, 1, __ATOMIC_SEQ_CST)];
	struct domain *domain = domain_create("many");

	for (int i = 0; i < 64; i++)
		own[i] = (struct id){ (uintptr_t)&own[i], 0, 0 };
	for (int i = 0; i < 64; i++)
		frame_begin_v3(domain, &own[i]);
	for (int i = 0; i < 64; i++)
		frame_end_v3(domain, &own[63 - i]);
	return unused;
}

int main(void)
{
	pthread_t threads[4];

	load();
	for (int i = 0; i < N_APIS; i++)
		printf("%s%d", i ? " " : "filled ", is_filled(i));
	puts("");
	if (is_filled(0)) {
		do_tasks();
		do_spans();
		do_events();
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, do_many, NULL);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
	}
	puts("done");
	return 0;
}
