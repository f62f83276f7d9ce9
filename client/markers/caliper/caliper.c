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

enum {
	TEXT_BYTES = 512,
	NESTED = 256, /* CALI_ATTR_NESTED */
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

#define DEFINE(name, ...) MARKER_FUNCTION(void, name, __VA_ARGS__)

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

/* --- attributes, by number or name: an end says no text, and ends the latest of its attribute. One
 * without a begin, as of an attribute that was only set, does nothing. --- */

static const void *caliper_owner_of(const char *name)
{
	return (const void *)(uintptr_t)marker_hash(name);
}

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
		marker_enter_in(caliper_owner_of(name), marker_of(name));
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
	marker_enter_in(caliper_owner_of(name), marker_of(properties & NESTED ? value : text));
}

static void end_attribute(const char *name)
{
	if (name && caliper_is_ours())
		marker_pop_in(caliper_owner_of(name));
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

/* --- objects of C++: @inside is what a loop's iterations know of it --- */

static void begin_object(const void *object, const void *inside, const char *name)
{
	if (caliper_is_ours())
		marker_enter_with(object, inside, marker_of(name));
}

static void end_object(const void *object)
{
	if (caliper_is_ours())
		marker_pop_in(object);
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
DEFINE(_ZN4cali4Loop9IterationC1EPKNS0_4ImplEi, void *object, const void *inside, int number)
{
	const struct marker *loop = marker_with(inside);
	char text[TEXT_BYTES];

	CALL_NEXT(_ZN4cali4Loop9IterationC1EPKNS0_4ImplEi, object, inside, number);
	snprintf(text, sizeof text, "iteration#%s", loop ? loop->name : "");
	begin_object(object, NULL, text);
}
DEFINE_END(_ZN4cali4Loop9IterationD1Ev)
