/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The marks of Caliper as regions: the functions of <caliper/cali.h> that begin and end something,
 * and the constructors and destructors of the C++ classes behind its macros, by their names after
 * the C++ ABI that g++ and clang++ share. Each call goes on to Caliper.
 *
 * What has only a text is a region of this name. Of an attribute, a text is the region's name if
 * Caliper nests the attribute ("loop"), and behind the attribute's name otherwise: "solver=cg". The
 * region of a number has the attribute's name alone, so that a loop has one region of iterations.
 *
 * Where Caliper itself is told to work, by its variables, nothing happens here.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "client/markers/base/marker.h"
#include "common/macro.h"

enum {
	TEXT_BYTES = 512,
	NESTED = 256, /* CALI_ATTR_NESTED */
	DEPTH = 32,   /* as deep as regions nest */
};

static bool caliper_is_ours(void)
{
	static const char *const variables[] = { "CALI_CONFIG", "CALI_SERVICES_ENABLE",
		"CALI_CONFIG_PROFILE", NULL };
	static int known;

	return marker_is_ours("caliper", variables, &known);
}

/* Caliper's own. A program may have loaded it later, by dlopen(). */
static void *caliper_find(const char *name)
{
	void *next = dlsym(RTLD_NEXT, name);
	void *library = next ? NULL : dlopen("libcaliper.so.2", RTLD_LAZY | RTLD_NOLOAD);

	return library ? dlsym(library, name) : next;
}

#define NEXT(name)                                                                                 \
	({                                                                                         \
		static void *next_; /* atomic */                                                   \
		void *found_ = __atomic_load_n(&next_, __ATOMIC_RELAXED);                          \
		if (!found_) {                                                                     \
			found_ = caliper_find(#name);                                              \
			__atomic_store_n(&next_, found_, __ATOMIC_RELAXED);                        \
		}                                                                                  \
		(__typeof__(&name))found_;                                                         \
	})

/* Also where there is no such function, as in an older Caliper. */
#define CALL_NEXT(name, ...)                                                                       \
	do {                                                                                       \
		__typeof__(&name) own_ = NEXT(name);                                               \
		if (own_)                                                                          \
			own_(__VA_ARGS__);                                                         \
	} while (0)
#define ASK_NEXT(answer, name, ...)                                                                \
	do {                                                                                       \
		__typeof__(&name) own_ = NEXT(name);                                               \
		if (own_)                                                                          \
			answer = own_(__VA_ARGS__);                                                \
	} while (0)

#define DEFINE(name, ...)                                                                          \
	_public_ void name(__VA_ARGS__);                                                           \
	void name(__VA_ARGS__)

/*
 * --- open marks ---
 *
 * Those of this thread that end without a text: an end says which object or attribute it is of. The
 * latest of that ends; an end without a begin, as of an attribute that was only set, does nothing.
 */

struct open_mark {
	uint64_t key;
	const void *inside;
	char text[MARKER_NAME_BYTES]; /* or the name of its region, if it is longer */
};

static _Thread_local struct open_mark marks[DEPTH];
static _Thread_local uint32_t depth; /* also those that are not in the table */

static void caliper_keep(const char *text, char ret[MARKER_NAME_BYTES])
{
	const size_t n = text ? strnlen(text, MARKER_NAME_BYTES) : MARKER_NAME_BYTES;

	if (n < MARKER_NAME_BYTES)
		memcpy(ret, text, n + 1);
	else
		marker_name(text, ret);
}

/* @inside: what the mark's object has inside, for text_with(); NULL: nothing of interest. */
static void begin_mark(uint64_t key, const void *inside, const char *text)
{
	if (depth < DEPTH) {
		marks[depth].key = key;
		marks[depth].inside = inside;
		caliper_keep(text, marks[depth].text);
	}
	depth++;
	marker_begin(text);
}

static struct open_mark *find_mark(uint64_t key)
{
	for (uint32_t i = depth; i-- > 0;)
		if (i < DEPTH && marks[i].key == key)
			return &marks[i];
	return NULL;
}

static void end_mark(uint64_t key)
{
	struct open_mark *mark = depth > DEPTH ? NULL : find_mark(key);

	if (depth > DEPTH)
		marker_pop();
	if (depth > DEPTH || mark)
		depth--;
	if (!mark)
		return;
	marker_end(mark->text);
	memmove(mark, mark + 1, (size_t)(&marks[depth] - mark) * sizeof *mark);
}

/* The text of the open mark whose object has @inside; "": there is none. */
static const char *text_with(const void *inside)
{
	for (uint32_t i = 0; i < depth && i < DEPTH; i++)
		if (marks[i].inside == inside)
			return marks[i].text;
	return "";
}

/* --- names --- */

#define DEFINE_NAMED(begin, end)                                                                   \
	DEFINE(begin, const char *name)                                                            \
	{                                                                                          \
		CALL_NEXT(begin, name);                                                            \
		if (caliper_is_ours())                                                             \
			marker_begin(name);                                                        \
	}                                                                                          \
	DEFINE(end, const char *name)                                                              \
	{                                                                                          \
		if (caliper_is_ours())                                                             \
			marker_end(name);                                                          \
		CALL_NEXT(end, name);                                                              \
	}

DEFINE_NAMED(cali_begin_region, cali_end_region)
DEFINE_NAMED(cali_begin_phase, cali_end_phase)
DEFINE_NAMED(cali_begin_comm_region, cali_end_comm_region)

/* --- attributes, by number or name --- */

uint64_t cali_find_attribute(const char *name);
const char *cali_attribute_name(uint64_t id);
int cali_attribute_properties(uint64_t id);

static const char *caliper_name_of(uint64_t id)
{
	const char *name = NULL;

	if (caliper_is_ours())
		ASK_NEXT(name, cali_attribute_name, id);
	return name;
}

static void begin_attribute(const char *name)
{
	if (name && caliper_is_ours())
		begin_mark(marker_hash(name), NULL, name);
}

static void begin_text(const char *name, const char *value)
{
	char text[TEXT_BYTES];
	uint64_t id = 0;
	int properties = 0;

	if (!name || !caliper_is_ours())
		return;
	ASK_NEXT(id, cali_find_attribute, name);
	ASK_NEXT(properties, cali_attribute_properties, id);
	snprintf(text, sizeof text, "%s=%s", name, value);
	begin_mark(marker_hash(name), NULL, properties & NESTED ? value : text);
}

static void end_attribute(const char *name)
{
	if (name && caliper_is_ours())
		end_mark(marker_hash(name));
}

#define DEFINE_VALUE(begin, begin_byname, type)                                                    \
	DEFINE(begin, uint64_t id, type value)                                                     \
	{                                                                                          \
		CALL_NEXT(begin, id, value);                                                       \
		begin_attribute(caliper_name_of(id));                                              \
	}                                                                                          \
	DEFINE(begin_byname, const char *name, type value)                                         \
	{                                                                                          \
		CALL_NEXT(begin_byname, name, value);                                              \
		begin_attribute(name);                                                             \
	}

DEFINE_VALUE(cali_begin_int, cali_begin_int_byname, int)
DEFINE_VALUE(cali_begin_double, cali_begin_double_byname, double)

DEFINE(cali_begin, uint64_t id)
{
	CALL_NEXT(cali_begin, id);
	begin_attribute(caliper_name_of(id));
}

DEFINE(cali_begin_byname, const char *name)
{
	CALL_NEXT(cali_begin_byname, name);
	begin_attribute(name);
}

DEFINE(cali_begin_string, uint64_t id, const char *value)
{
	CALL_NEXT(cali_begin_string, id, value);
	begin_text(caliper_name_of(id), value);
}

DEFINE(cali_begin_string_byname, const char *name, const char *value)
{
	CALL_NEXT(cali_begin_string_byname, name, value);
	begin_text(name, value);
}

DEFINE(cali_end, uint64_t id)
{
	end_attribute(caliper_name_of(id));
	CALL_NEXT(cali_end, id);
}

DEFINE(cali_end_byname, const char *name)
{
	end_attribute(name);
	CALL_NEXT(cali_end_byname, name);
}

/* --- objects of C++ --- */

static void begin_object(const void *object, const void *inside, const char *name)
{
	if (caliper_is_ours())
		begin_mark((uintptr_t)object, inside, name);
}

static void end_object(const void *object)
{
	if (caliper_is_ours())
		end_mark((uintptr_t)object);
}

/* C1 and D1: of an object that is not the base of another one. */
#define DEFINE_CONSTRUCTOR(name, inside)                                                           \
	DEFINE(name, void *object, const char *text)                                               \
	{                                                                                          \
		CALL_NEXT(name, object, text);                                                     \
		begin_object(object, inside, text);                                                \
	}
#define DEFINE_END(name)                                                                           \
	DEFINE(name, void *object)                                                                 \
	{                                                                                          \
		end_object(object);                                                                \
		CALL_NEXT(name, object);                                                           \
	}

DEFINE_CONSTRUCTOR(_ZN4cali8FunctionC1EPKc, NULL)
DEFINE_END(_ZN4cali8FunctionD1Ev)

DEFINE_CONSTRUCTOR(_ZN4cali15ScopeAnnotationC1EPKc, NULL)
DEFINE_END(_ZN4cali15ScopeAnnotationD1Ev)

/* Loop::end() ends it, or the destructor does. Its only member is shared by its copies, as those
 * that lambdas make. */
DEFINE_CONSTRUCTOR(_ZN4cali4LoopC1EPKc, *(void **)object)
DEFINE_END(_ZN4cali4Loop3endEv)
DEFINE_END(_ZN4cali4LoopD1Ev)

/* Loop::Iteration. As in C, a loop's iterations have an attribute of their own. */
#define DEFINE_ITERATION(name)                                                                     \
	DEFINE(name, void *object, const void *inside, int number)                                 \
	{                                                                                          \
		char text[TEXT_BYTES];                                                             \
                                                                                                   \
		CALL_NEXT(name, object, inside, number);                                           \
		snprintf(text, sizeof text, "iteration#%s", text_with(inside));                    \
		begin_object(object, NULL, text);                                                  \
	}

DEFINE_ITERATION(_ZN4cali4Loop9IterationC1EPKNS0_4ImplEi)
DEFINE_END(_ZN4cali4Loop9IterationD1Ev)
