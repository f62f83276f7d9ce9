/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The page's sequence lock, and the wake-ups' futex. See page.h for the model.
 *
 * The payload is copied as 64-bit words with relaxed atomic accesses; the fences order them against
 * the lock word. That is the seqlock of Boehm, "Can seqlocks get along with programming language
 * memory models?" (MSPC 2012), which compiles to plain loads and stores.
 */
#include "common/page.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/words.h"

/*
 * A writer holds the lock for less than a microsecond, unless it lost its CPU (for example to a
 * hypervisor) or died while writing. So a copy first spins, then sleeps between tries, then gives
 * up.
 */
enum { COPY_SPINS = 200, COPY_NAPS = 400, NAP_NS = 50000 };

const struct page_quality_word page_quality_words[PAGE_QUALITY_WORDS] = {
	{ PAGE_ESTIMATED, "estimated" },
	{ PAGE_PARTIAL, "partial" },
	{ PAGE_FROZEN, "frozen" },
	{ PAGE_RESET, "reset" },
	{ PAGE_UNCALIBRATED, "uncalibrated" },
	{ PAGE_STANDIN, "standin" },
	{ PAGE_ABSENT, "absent" },
};

/* --- writing --- */

/* A daemon that was killed while writing leaves an odd lock; "| 1" takes it over. */
static uint32_t page_lock(uint32_t *word)
{
	uint32_t odd = __atomic_load_n(word, __ATOMIC_RELAXED) | 1;

	__atomic_store_n(word, odd, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	return odd;
}

static void unlock(uint32_t *word, uint32_t odd)
{
	__atomic_store_n(word, odd + 1, __ATOMIC_RELEASE);
}

/* Are the data that were loaded since the lock was @before consistent? */
static bool is_unchanged(const uint32_t *word, uint32_t before)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(word, __ATOMIC_RELAXED) == before;
}

static size_t sweep_bytes(uint32_t n_metrics)
{
	return offsetof(struct page_sweep, values) + n_metrics * sizeof(struct page_value);
}

uint32_t page_sweep_begin(struct page_cell *cell)
{
	/* A full barrier: no counter may be read before others can see this number. */
	return __atomic_add_fetch(&cell->started, 1, __ATOMIC_SEQ_CST);
}

/*
 * No wake-up is lost. A waiter loads the number of rings, then `finished`, and FUTEX_WAIT compares
 * the number. If the number that it loaded includes this ring, it also sees `finished`. If not,
 * either the number has changed before FUTEX_WAIT, which then returns at once, or the waiter sleeps
 * already and is woken by page_wakeup_wake(). The number is a count of rings, because the number of
 * a sweep may occur again in another page.
 */
void page_wakeup_announce(struct page_wakeup *wakeup)
{
	uint32_t n_rung = __atomic_load_n(&wakeup->n_rung, __ATOMIC_RELAXED);

	__atomic_store_n(&wakeup->n_rung, n_rung + 1, __ATOMIC_RELEASE);
}

unsigned page_wakeup_wake(struct page_wakeup *wakeup, unsigned most)
{
	long n = syscall(SYS_futex, &wakeup->n_rung, FUTEX_WAKE, most, NULL, NULL, 0);

	return n > 0 ? (unsigned)n : 0;
}

void page_sweep_end(struct page_cell *cell, uint32_t started, const struct page_result *result)
{
	uint32_t odd = page_lock(&cell->lock);

	words_store(&cell->sweep, result->sweep, sweep_bytes(result->n_metrics));
	words_store(
		cell->channels, result->channels, result->n_channels * sizeof *result->channels);
	unlock(&cell->lock, odd);

	__atomic_store_n(&cell->finished, started, __ATOMIC_RELEASE);
}

void page_rules_write(struct page_rules *page, const struct rules *rules)
{
	uint32_t odd = page_lock(&page->lock);

	words_store(&page->rules, rules, sizeof *rules);
	unlock(&page->lock, odd);
}

/* --- reading --- */

static bool try_copy(const struct page_cell *cell, struct page_sweep *ret, uint32_t n_metrics,
	struct page_channel_value *ret_channels, uint32_t n_channels)
{
	uint32_t before = __atomic_load_n(&cell->lock, __ATOMIC_ACQUIRE);

	if (before & 1)
		return false;
	words_load(ret, &cell->sweep, sweep_bytes(n_metrics));
	words_load(ret_channels, cell->channels, n_channels * sizeof *ret_channels);
	return is_unchanged(&cell->lock, before);
}

static bool try_copy_rules(const struct page_rules *page, struct rules *ret)
{
	uint32_t before = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);

	if (!before || before & 1)
		return false;
	words_load(ret, &page->rules, sizeof *ret);
	return is_unchanged(&page->lock, before);
}

int page_rules_copy(const struct page_rules *page, struct rules *ret)
{
	for (int i = 0; i < COPY_SPINS; i++)
		if (try_copy_rules(page, ret))
			return ret->n_users <= RULES_USERS_MAX ? 0 : -EBADMSG;
	return -EAGAIN;
}

int page_copy(const struct page_cell *cell, struct page_sweep *ret, uint32_t n_metrics,
	struct page_channel_value *ret_channels, uint32_t n_channels)
{
	const struct timespec nap = { .tv_nsec = NAP_NS };

	for (int i = 0; i < COPY_SPINS; i++)
		if (try_copy(cell, ret, n_metrics, ret_channels, n_channels))
			return 0;
	for (int i = 0; i < COPY_NAPS; i++) {
		nanosleep(&nap, NULL);
		if (try_copy(cell, ret, n_metrics, ret_channels, n_channels))
			return 0;
	}
	return -EAGAIN;
}

/*
 * All sequentially consistent accesses have one order. If a client sees the promise after it has
 * loaded `started`, the writer has not ended the promise yet. The writer ends it before it adds one
 * to `started`, so the promised sweep begins after the client's load.
 */
bool page_wakeup_is_claimed(const struct page_wakeup *wakeup)
{
	return __atomic_load_n(&wakeup->claimed, __ATOMIC_SEQ_CST);
}

static bool is_finished(const struct page_cell *cell, uint32_t started)
{
	return (int32_t)(__atomic_load_n(&cell->finished, __ATOMIC_ACQUIRE) - started) > 0;
}

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#elif defined(__powerpc__)
	__asm__ volatile("or 27,27,27"); /* low priority for this thread of the core */
#endif
}

static uint32_t spin_ns_of(const struct page_wakeup *wakeup)
{
	if (page_wakeup_is_claimed(wakeup))
		return 0; /* the promised sweep is due later */
	return __atomic_load_n(&wakeup->spin_ns, __ATOMIC_RELAXED);
}

int page_wait(const struct page_cell *cell, const struct page_wakeup *wakeup, uint32_t started,
	uint64_t deadline_ns)
{
	uint64_t now = clock_now_ns();
	uint64_t spin_until_ns = now + spin_ns_of(wakeup);
	struct timespec left;

	for (;; now = clock_now_ns()) {
		uint32_t n_rung = __atomic_load_n(&wakeup->n_rung, __ATOMIC_ACQUIRE);

		if (is_finished(cell, started))
			return 0;
		if (now >= deadline_ns)
			return -ETIMEDOUT;
		if (now < spin_until_ns) {
			relax();
			continue;
		}
		left.tv_sec = (time_t)((deadline_ns - now) / 1000000000U);
		left.tv_nsec = (long)((deadline_ns - now) % 1000000000U);
		/* A read-only mapping is enough: FUTEX_WAIT only loads (kernel/futex/core.c). */
		syscall(SYS_futex, &wakeup->n_rung, FUTEX_WAIT, n_rung, &left, NULL, 0);
	}
}
