/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI programs as they are: the time inside of MPI is a state of each rank (uncore_state_set() of
 * libuncore(3)), so the report says what moved while no rank, some ranks, or all ranks of the node
 * were inside. With UNCORE_MPI=calls each function is a region, too.
 *
 * One library serves every MPI. All arguments of MPI's functions are integers and pointers, in C
 * and in Fortran. Where a long has the size of a pointer, the machine passes each of them like a
 * long: in a register of its own, or in 8 bytes of the stack. So a function here takes as many
 * longs as the longest one of MPI has arguments, and hands them on as they came. It knows no type
 * of MPI, nor how many arguments there are: what it reads behind the last one are bytes of its
 * caller's frame, which nobody looks at.
 *
 * Fortran's functions call those of C, as PMPI_ (Open MPI) or as MPI_ (MPICH). Only the outermost
 * call of a thread counts.
 *
 * A poll that finds nothing takes as long as reading the clock once. So no way to time each of them
 * is cheap enough for a program that polls between its steps. Of polls that follow each other fast
 * only a few count, and the others are outside of MPI.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "client/libuncore/uncore.h"
#include "client/markers/base/marker.h"
#include "client/markers/mpi/calls.h"
#include "common/clock.h"
#include "common/macro.h"

_Static_assert(sizeof(long) == sizeof(void *), "integers and pointers are passed alike");

/* MPI_Rget_accumulate() has 13 arguments, and in Fortran one more. The lengths of texts come behind
 * those of shorter functions. */
#define PARAMETERS                                                                                 \
	long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k,    \
		long l, long m, long n
#define ARGUMENTS a, b, c, d, e, f, g, h, i, j, k, l, m, n

typedef long function(PARAMETERS);

/* MPI_Improbe() in Fortran has most of those that poll. */
#define POLL_PARAMETERS long a, long b, long c, long d, long e, long f, long g
#define POLL_ARGUMENTS  a, b, c, d, e, f, g

typedef long poll_function(POLL_PARAMETERS);

/* What a program that looks for MPI finds here without an MPI: MPI_ERR_OTHER of Open MPI. */
enum { ERROR_OTHER = 16 };

static const char STATE[] = "MPI";

/* Of the polls of a thread so many count in each period: less than 1 % of it. */
#define POLLS_COUNTED 16
#define POLLS_PERIOD  1 /* ms */

/* While polls do not count, one in so many looks at the clock. */
enum { POLLS_TO_LOOK = 32 };

#define TEXT_OF(number) #number
#define TEXT_IN(number) TEXT_OF(number)
#define POLLS_NOT_COUNTED                                                                          \
	"while any rank of the node had the state MPI; of the polls of a thread at most " TEXT_IN( \
		POLLS_COUNTED) " count in " TEXT_IN(POLLS_PERIOD) " ms"

static bool is_wanted, by_call, has_all_polls;
static __thread int depth __attribute__((tls_model("initial-exec")));

/* Of this thread, since a period began. */
static __thread struct polls {
	uint32_t n;
	uint64_t since_ns;
} polls __attribute__((tls_model("initial-exec")));

/* A user who wants each passage read also wants each poll. */
static bool is_exact(void)
{
	const char *text = secure_getenv("UNCORE_OVERHEAD");
	char *end = NULL;

	return text && strtod(text, &end) == 0 && end != text && !*end;
}

__attribute__((constructor)) static void read_wishes(void)
{
	const char *wish = secure_getenv("UNCORE_MPI");

	is_wanted = marker_is_wanted("mpi");
	by_call = wish && strcmp(wish, "calls") == 0;
	has_all_polls = by_call || (wish && strcmp(wish, "polls") == 0) || is_exact();
}

static void mpi_say_not_counted(void)
{
	static bool is_said;

	if (!__atomic_exchange_n(&is_said, true, __ATOMIC_RELAXED))
		uncore_region_title("MPI/any", POLLS_NOT_COUNTED);
}

/* After the first polls of a period. True: the next period begins with this one. */
static __attribute__((noinline)) bool is_next_period(void)
{
	const uint64_t now_ns = clock_of(CLOCK_MONOTONIC);

	if (now_ns - polls.since_ns < POLLS_PERIOD * 1000000) {
		mpi_say_not_counted();
		return false;
	}
	polls = (struct polls){ .n = 1, .since_ns = now_ns };
	return true;
}

/* The first one behind those that count looks at the clock: where polls have pauses, each counts.
 */
static inline bool poll_counts(void)
{
	return polls.n++ < POLLS_COUNTED ||
	       ((polls.n - POLLS_COUNTED) % POLLS_TO_LOOK == 1 && is_next_period());
}

/* Calls inside of another one do not count anyway. */
static inline bool poll_is_left_out(void)
{
	return is_wanted && !has_all_polls && !depth && !poll_counts();
}

/* A function of MPI in one of its forms. There are a thousand of them, so what each needs is kept
 * short. */
struct form {
	const char *symbol, *name;
	bool is_last; /* MPI has ended behind it */
	void *real;
};

/* A call that goes on. Its form is NULL: it is not counted. */
struct call {
	const struct form *form;
};

static struct call mpi_enter(const struct form *form)
{
	if (!is_wanted || depth++)
		return (struct call){ .form = NULL };
	if (by_call)
		uncore_region_begin(form->name);
	uncore_state_set(STATE, UNCORE_STATE_ON);
	return (struct call){ form };
}

/* Also if an exception of C++ goes through the call. */
static void mpi_leave(const struct call *call)
{
	if (is_wanted)
		depth--;
	if (!call->form)
		return;
	uncore_state_set(STATE, call->form->is_last ? UNCORE_STATE_LEFT : UNCORE_STATE_OFF);
	if (by_call)
		uncore_region_end(call->form->name);
}

/* Another library that counts calls may come before MPI's own. */
static void *mpi_find(struct form *form)
{
	void *found = __atomic_load_n(&form->real, __ATOMIC_RELAXED);

	if (found)
		return found;
	found = dlsym(RTLD_NEXT, form->symbol);
	__atomic_store_n(&form->real, found, __ATOMIC_RELAXED);
	return found;
}

static __attribute__((noinline)) long go_through(struct form *form, PARAMETERS)
{
	function *real = mpi_find(form);
	_cleanup_(mpi_leave) struct call call = mpi_enter(form);

	return real ? real(ARGUMENTS) : ERROR_OTHER;
}

static __attribute__((noinline)) long go_through_poll(struct form *form, POLL_PARAMETERS)
{
	poll_function *real = mpi_find(form);
	_cleanup_(mpi_leave) struct call call = mpi_enter(form);

	return real ? real(POLL_ARGUMENTS) : ERROR_OTHER;
}

#define WRAP(symbol, name, is_last)                                                                \
	static struct form symbol##_form = { #symbol, name, is_last, NULL };                       \
	_public_ long symbol(PARAMETERS);                                                          \
	_public_ long symbol(PARAMETERS)                                                           \
	{                                                                                          \
		return go_through(&symbol##_form, ARGUMENTS);                                      \
	}

/* A poll that does not count is a jump to MPI's own. */
#define WRAP_POLL_ONE(symbol, name, is_last)                                                       \
	static struct form symbol##_form = { #symbol, name, is_last, NULL };                       \
	_public_ long symbol(POLL_PARAMETERS);                                                     \
	_public_ long symbol(POLL_PARAMETERS)                                                      \
	{                                                                                          \
		poll_function *real = poll_is_left_out() ? mpi_find(&symbol##_form) : NULL;        \
                                                                                                   \
		return real ? real(POLL_ARGUMENTS)                                                 \
			    : go_through_poll(&symbol##_form, POLL_ARGUMENTS);                     \
	}

/* C, with large counts, mpif.h and "use mpi", and the two forms of mpi_f08. */
#define EACH_FORM(WRAP, name, fortran, is_last)                                                    \
	WRAP(MPI_##name, "MPI_" #name, is_last)                                                    \
	WRAP(MPI_##name##_c, "MPI_" #name, is_last)                                                \
	WRAP(mpi_##fortran##_, "MPI_" #name, is_last)                                              \
	WRAP(mpi_##fortran##_f08_, "MPI_" #name, is_last)                                          \
	WRAP(mpi_##fortran##_f08ts_, "MPI_" #name, is_last)

#define WRAP_CALL(name, fortran) EACH_FORM(WRAP, name, fortran, false)
#define WRAP_POLL(name, fortran) EACH_FORM(WRAP_POLL_ONE, name, fortran, false)
#define WRAP_LAST(name, fortran) EACH_FORM(WRAP, name, fortran, true)

CALLS(WRAP_CALL)
POLLS(WRAP_POLL)
LAST_CALLS(WRAP_LAST)
