/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/counter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/libuncore/internal.h"
#include "common/macro.h"
#include "common/number.h"

#if defined(__x86_64__) || defined(__i386__)
#define HAS_RDPMC 1
#else
#define HAS_RDPMC 0
#endif

/* --- which event --- */

/*
 * Event 0x2e, umask 0x41 (Intel's manual, volume 3B, architectural events: LLC Misses) counts
 * requests that miss L3 on these (linux-6.12 cache.json of each in tools/perf/pmu-events/arch/x86,
 * LONGEST_LAT_CACHE.MISS). There the kernel's generic event is this one
 * (arch/x86/events/intel/core.c, intel_perfmon_event_map), but L2's misses on AMD (amd/core.c,
 * 0x0964), and L1's on Arm and POWER9. Knights Landing has no L3. On Intel's hybrid CPUs an event
 * counts on one kind of core only.
 */
static const char *const with_l3[] = { "sandybridge-ep", "haswell-ep", "broadwell-ep", "skylake-sp",
	"cascade-lake", "icelake-sp", "sapphire-rapids", "granite-rapids", "sierra-forest",
	"intel-client-old" };
static const struct counter_event miss_of_l3 = { "LONGEST_LAT_CACHE.MISS", PERF_TYPE_RAW, 0x412e };
static const struct counter_event page_faults = { "page-faults", PERF_TYPE_SOFTWARE,
	PERF_COUNT_SW_PAGE_FAULTS };

int counter_wish(struct counter_wish *ret)
{
	const char *text = secure_getenv("UNCORE_MISSES");

	*ret = (struct counter_wish){ .event = page_faults };
	if (!text || !*text || strcmp(text, "0") == 0)
		return 0;
	ret->is_platforms = strcmp(text, "1") == 0;
	ret->is_set = ret->is_platforms || strcmp(text, page_faults.name) == 0;
	if (ret->is_set)
		return 0;
	ret->event.type = PERF_TYPE_RAW;
	snprintf(ret->event.name, sizeof ret->event.name, "%s", text);
	ret->is_set =
		*text == 'r' && number_parse_whole(text + 1, 16, UINT64_MAX, &ret->event.config);
	return ret->is_set ? 0
			   : error_say(-EINVAL,
				     "UNCORE_MISSES takes 1, page-faults, or r and the hexadecimal "
				     "number of an event of the CPU.");
}

/* --- why not --- */

/* The first reason stays. uncore_error_text() stays as it is: it is about the caller's region. */
_printf_(2, 3) static void keep_why(struct table *table, const char *format, ...)
{
	struct table_header *header = &table->header;
	char why[TABLE_WHY_BYTES];
	uint64_t none = 0;
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(why, sizeof why, format, arguments);
	va_end(arguments);
	if (REPLACE(header->has_misses_why, none, 1))
		TABLE_WRITE_TEXT(header->misses_why, why);
}

/* What the kernel's setting lets processes do, for a person who may be elsewhere. */
static void read_paranoid(char *ret_text, size_t size_bytes)
{
	_cleanup_close_ int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
	const ssize_t n = fd < 0 ? -1 : read(fd, ret_text, size_bytes - 1);

	ret_text[n > 0 ? strcspn(ret_text, "\n") : 0] = '\0';
}

static void keep_refusal(struct table *table, const char *event, int error)
{
	char paranoid[16] = "";

	if (error == -EACCES || error == -EPERM)
		read_paranoid(paranoid, sizeof paranoid);
	errno = -error;
	keep_why(table,
		*paranoid ? "The kernel lets no thread count %s: %m. kernel.perf_event_paranoid is "
			    "%s. If that is above 2, it is the reason; if not, a filter of system "
			    "calls is."
			  : "A thread could not count %s: %m. Many virtual machines have no "
			    "counters.",
		event, paranoid);
}

/* --- choosing --- */

/* 0; -EAGAIN: the platform is not known yet; -ENOENT. The reason is kept. */
static int counter_find_event(
	struct table *table, const struct counter_wish *wish, struct counter_event *ret)
{
	char platform[UNCORE_NAME_MAX];
	size_t i = 0;

	*ret = wish->event;
	if (!wish->is_platforms)
		return 0;
	if (!__atomic_load_n(&table->header.is_described, __ATOMIC_ACQUIRE)) {
		keep_why(table, "uncored has not said which platform this is.");
		return -EAGAIN;
	}
	TABLE_READ_TEXT(platform, table->header.platform);
	while (i < ARRAY_SIZE(with_l3) && strcmp(with_l3[i], platform) != 0)
		i++;
	*ret = miss_of_l3;
	if (i < ARRAY_SIZE(with_l3))
		return 0;
	keep_why(table, "No event is known that counts misses of the last-level cache on %s.",
		platform);
	return -ENOENT;
}

/* All members of a team count the same event. */
static bool agree_on(struct table *table, const struct counter_event *event)
{
	struct table_header *header = &table->header;
	const uint64_t key = ((uint64_t)event->type + 1) << 56 ^ event->config;
	uint64_t found = 0;

	if (REPLACE(header->misses_key, found, key) || found == key) {
		TABLE_WRITE_TEXT(header->misses_event, event->name);
		return true;
	}
	keep_why(table, "A process wanted to count %s, but the team counts another event.",
		event->name);
	return false;
}

/* --- reading --- */

/* The kernel takes the times at which an event is scheduled, and at which its thread is, one after
 * the other. */
static const uint64_t SLACK_NS = 1000000;

/* Had other events the CPU's counter for more than 1 % of the time? */
static bool was_shared(uint64_t enabled_ns, uint64_t running_ns)
{
	return running_ns + enabled_ns / 100 + SLACK_NS < enabled_ns;
}

/* --- in user space --- */

static inline uint64_t rdpmc(uint32_t counter)
{
#if HAS_RDPMC
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(counter));
	return (uint64_t)high << 32 | low;
#else
	(void)counter;
	return 0;
#endif
}

/*
 * As linux/perf_event.h describes the page: the kernel changes .lock before and after it writes.
 * 1; 0: the event is not in a counter of this CPU just now; -EBUSY.
 */
static int read_page(const volatile struct perf_event_mmap_page *page, uint64_t *ret)
{
	uint32_t lock, index;
	uint64_t enabled_ns, running_ns;

	do {
		lock = page->lock;
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
		index = page->index;
		if (!page->cap_user_rdpmc || !index || !page->pmc_width || page->pmc_width > 64)
			return 0;
		enabled_ns = page->time_enabled;
		running_ns = page->time_running;
		*ret = counter_sum((uint64_t)page->offset, rdpmc(index - 1), page->pmc_width);
		__atomic_signal_fence(__ATOMIC_SEQ_CST);
	} while (page->lock != lock);
	return was_shared(enabled_ns, running_ns) ? -EBUSY : 1;
}

static struct perf_event_mmap_page *counter_map_page(int fd)
{
	struct perf_event_mmap_page *page;

	if (!HAS_RDPMC)
		return NULL;
	page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		return NULL;
	if (page->cap_user_rdpmc)
		return page;
	munmap(page, (size_t)sysconf(_SC_PAGESIZE));
	return NULL;
}

/* --- by the descriptor --- */

static bool has_event(const struct counter *counter)
{
	uint64_t id = 0;

	return ioctl(counter->fd, PERF_EVENT_IOC_ID, &id) == 0 && id == counter->id;
}

static int read_descriptor(const struct counter *counter, uint64_t *ret)
{
	struct {
		uint64_t count, enabled_ns, running_ns;
	} now;

	if (!has_event(counter) || read(counter->fd, &now, sizeof now) != sizeof now)
		return -EBADF;
	*ret = now.count;
	return was_shared(now.enabled_ns, now.running_ns) ? -EBUSY : 0;
}

/* --- all --- */

static int open_event(const struct counter_event *event, struct counter *ret)
{
	struct perf_event_attr attributes = {
		.type = event->type,
		.size = sizeof attributes,
		.config = event->config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	struct counter counter = { .fd = fd_beside_streams((int)syscall(SYS_perf_event_open,
					   &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC)) };

	if (counter.fd < 0)
		return -errno;
	if (ioctl(counter.fd, PERF_EVENT_IOC_ID, &counter.id) < 0) {
		const int r = -errno;

		close(counter.fd);
		return r;
	}
	counter.page = counter_map_page(counter.fd);
	*ret = counter;
	return 0;
}

int counter_open(struct table *table, const struct counter_wish *wish, struct counter *ret)
{
	struct counter_event event;
	int r = counter_find_event(table, wish, &event);

	if (r == 0)
		r = agree_on(table, &event) ? open_event(&event, ret) : -ENOENT;
	else
		return r;
	if (r < 0)
		keep_refusal(table, event.name, r); /* the first reason stays */
	return r;
}

int counter_read(struct table *table, const struct counter *counter, uint64_t *ret)
{
	char event[TABLE_EVENT_BYTES];
	int r = counter->page ? read_page(counter->page, ret) : 0;

	if (r == 0)
		r = read_descriptor(counter, ret);
	if (r >= 0)
		return 0;
	TABLE_READ_TEXT(event, table->header.misses_event);
	keep_why(table,
		r == -EBUSY
			? "The kernel shared the CPU's counter of %s with other events, so a part "
			  "was not counted."
			: "The program closed the descriptor by which a thread counted %s.",
		event);
	return r;
}

void counter_close(const struct counter *counter)
{
	if (counter->page)
		munmap(counter->page, (size_t)sysconf(_SC_PAGESIZE));
	counter_close_inherited(counter);
}

void counter_close_inherited(const struct counter *counter)
{
	if (has_event(counter))
		close(counter->fd);
}
