/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * papi-overflow COUNTERS THREADS SIGNALS CALLS EVENT: the program moves the counts of the simulated
 * machine, which are in the file COUNTERS, and counts them by EVENT of PAPI, with an overflow
 * handler, until SIGNALS signals made PAPI read, and the handler was called CALLS times. THREADS
 * further threads do the same beside it, without a handler. Each read outside is a fresh one, so
 * the signal also interrupts reads.
 *
 * PAPI's timer goes by CPU time, which the kernel looks at in each tick, 100 to 1000 times a
 * second. So a second timer sends the same signal at 1 kHz of real time, and its signals are
 * counted. The handler is called only at those that find a newer count.
 *
 * While SIGPROF is blocked, a thread is in the handler: there nothing may allocate memory, lock a
 * mutex or write to a doorbell. Prints how many signals came, how often the handler was called,
 * what was counted, what was moved, and how often something forbidden was called.
 */
#include <dlfcn.h>
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <papi.h>

#include "tests/harness/program.h"
#include "tests/traffic/counters.h"

enum { THREADS_MAX = 16, MOST = 1000000, PERIOD_NS = 1000000, LINES = 2000 };

static struct traffic_counters *counters;
static const char *event;
static unsigned long signals, enough_signals, calls, enough_calls, moved, forbidden;
static pthread_t threads[THREADS_MAX];
static timer_t timer;
static void (*read_by_papi)(int, siginfo_t *, void *);

/* --- what a handler must not call --- */

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void __libc_free(void *memory);

static void note_forbidden(void)
{
	sigset_t blocked;

	if (pthread_sigmask(SIG_BLOCK, NULL, &blocked) == 0 && sigismember(&blocked, SIGPROF) == 1)
		__atomic_fetch_add(&forbidden, 1, __ATOMIC_RELAXED);
}

void *malloc(size_t size)
{
	note_forbidden();
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	note_forbidden();
	return __libc_calloc(n, size);
}

void *realloc(void *memory, size_t size)
{
	note_forbidden();
	return __libc_realloc(memory, size);
}

void free(void *memory)
{
	note_forbidden();
	__libc_free(memory);
}

int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static int (*lock)(pthread_mutex_t * mutex);

	if (!lock)
		lock = (int (*)(pthread_mutex_t *))dlsym(RTLD_NEXT, "pthread_mutex_lock");
	note_forbidden();
	return lock(mutex);
}

/* Also of libuncore, to a doorbell. */
ssize_t write(int fd, const void *bytes, size_t n)
{
	note_forbidden();
	return syscall(SYS_write, fd, bytes, n);
}

/* --- counting --- */

static void check(int status, const char *call)
{
	if (status != PAPI_OK)
		errx(1, "%s: %s (%d)", call, PAPI_strerror(status), status);
}

static bool is_enough(void)
{
	return __atomic_load_n(&calls, __ATOMIC_RELAXED) >= enough_calls &&
	       __atomic_load_n(&signals, __ATOMIC_RELAXED) >= enough_signals;
}

static void on_overflow(int set, void *address, long long vector, void *context)
{
	(void)set, (void)address, (void)vector, (void)context;
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

/* Needs CPU time, by which the timer goes, and allocates memory, which its signal interrupts. */
static void move_lines(void)
{
	for (int i = 0; i < LINES; i++) {
		void *volatile memory = malloc(64);
		__atomic_fetch_add(&counters->lines[0][TRAFFIC_READ][0], 1, __ATOMIC_RELAXED);
		__atomic_fetch_add(&moved, 1, __ATOMIC_RELAXED);
		free(memory);
	}
}

static void move_and_read(int set)
{
	long long value, last = 0;

	while (!is_enough()) {
		move_lines();
		check(PAPI_read(set, &value), "PAPI_read");
		if (value < last || value % TRAFFIC_LINE_BYTES)
			errx(1, "PAPI_read: %lld after %lld", value, last);
		last = value;
	}
}

static int new_set(void)
{
	int set = PAPI_NULL;

	check(PAPI_create_eventset(&set), "PAPI_create_eventset");
	check(PAPI_add_named_event(set, event), event);
	return set;
}

static void *read_beside(void *unused)
{
	int set = new_set();

	(void)unused;
	check(PAPI_start(set), "PAPI_start");
	move_and_read(set);
	check(PAPI_stop(set, NULL), "PAPI_stop");
	check(PAPI_unregister_thread(), "PAPI_unregister_thread");
	return NULL;
}

static void begin_papi(void)
{
	PAPI_option_t option = { .itimer = { .ns = PERIOD_NS } };

	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		errx(1, "PAPI does not begin.");
	check(PAPI_thread_init((unsigned long (*)(void))pthread_self), "PAPI_thread_init");
	check(PAPI_set_opt(PAPI_DEF_ITIMER_NS, &option), "PAPI_set_opt");
}

static void on_signal(int number, siginfo_t *info, void *context)
{
	if (info->si_code == SI_TIMER)
		__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
	read_by_papi(number, info, context);
}

/* PAPI's handler goes on under the same mask. */
static void count_signals(void)
{
	struct sigaction action;

	if (sigaction(SIGPROF, NULL, &action) < 0)
		err(1, "sigaction");
	read_by_papi = action.sa_sigaction;
	action.sa_sigaction = on_signal;
	if (sigaction(SIGPROF, &action, NULL) < 0)
		err(1, "sigaction");
}

static void start_timer(void)
{
	struct sigevent how = {
		.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGPROF, ._sigev_un._tid = gettid()
	};
	const struct timespec period = { .tv_nsec = PERIOD_NS };
	const struct itimerspec times = { .it_interval = period, .it_value = period };

	if (timer_create(CLOCK_MONOTONIC, &how, &timer) < 0 ||
		timer_settime(timer, 0, &times, NULL) < 0)
		err(1, "timer");
}

static void map_counters(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	counters = fd < 0 ? MAP_FAILED
			  : mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (counters == MAP_FAILED)
		err(1, "%s", path);
}

int main(int argc, char *argv[])
{
	long long value;
	int set, code;
	unsigned long n;

	if (argc != 6)
		errx(2, "Usage: papi-overflow COUNTERS THREADS SIGNALS CALLS EVENT");
	map_counters(argv[1]);
	n = program_number(argv[2], THREADS_MAX);
	enough_signals = program_number(argv[3], MOST);
	enough_calls = program_number(argv[4], MOST);
	event = argv[5];
	begin_papi();
	set = new_set();
	check(PAPI_event_name_to_code(event, &code), event);
	check(PAPI_overflow(set, code, 1, PAPI_OVERFLOW_FORCE_SW, on_overflow), "PAPI_overflow");
	check(PAPI_start(set), "PAPI_start");
	for (unsigned long i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, read_beside, NULL) != 0)
			errx(1, "Cannot begin a thread.");
	count_signals();
	start_timer();
	move_and_read(set);
	timer_delete(timer);
	for (unsigned long i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	check(PAPI_stop(set, &value), "PAPI_stop");
	printf("%lu %lu %lld %lu %lu\n", signals, calls, value / TRAFFIC_LINE_BYTES, moved,
		forbidden);
	return 0;
}
