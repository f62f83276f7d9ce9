/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the files of libuncore; callers do not see it.
 *
 * Only uncore_open() and uncore_set_timeout() write to a handle. All other functions only read it,
 * so threads need no lock. The daemon that writes the page may be an impostor, and this process may
 * run as root. So the library relies on a checked copy of the tables, and uses a live word only as
 * a figure. The handle's mark lies in memory that the kernel wipes in a forked child
 * (MADV_WIPEONFORK). So the child knows without a system call that the handle is its parent's.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/macro.h"
#include "common/page.h"
#include "common/wire.h"

struct uncore_mark {
	uint32_t ours;          /* 1; reads 0 in a child */
	uint32_t gone;          /* atomic: the daemon has closed the connection */
	pthread_mutex_t asking; /* held during a request over the connection */
};

struct uncore {
	struct uncore_mark *mark;
	const void *shared;    /* the page; only live_word() and handle_cell_of() may look there */
	uint64_t shared_bytes; /* mapped */
	struct page_header *tables;        /* copy by page_copy_tables(); all other code uses it */
	const struct page_wakeup *wakeups; /* this user's, one per socket */
	uint64_t wakeups_bytes;            /* mapped */
	const struct page_rules *rules;    /* after the wake-ups */
	uint64_t timeout_ns;               /* 0: not set, see uncore_set_timeout() */
	uint64_t patience_ns; /* how long a reader may take for an answer that is due, then */
	int connection;
	dev_t device; /* of the connection */
	ino_t inode;
	uint32_t n_doorbells; /* one per socket */
	int doorbells[PAGE_SOCKETS_MAX];
};

/*
 * With ten times as many busy processes as CPUs some answers took more than 100 ms. In a virtual
 * machine with twenty times as many on its host, some took more than 500 ms.
 */
#define HANDLE_PATIENCE_NS UINT64_C(10000000000)

/*
 * Keeps the sentence for uncore_error_text() and returns @error, a negative errno. %m in @format
 * gives the description of @error.
 */
int error_say(int error, const char *format, ...) _printf_(2, 3);

enum { ERROR_TEXT_MAX = 1024 }; /* a path, the daemon's text and a hint */

/* In a function that stands between the lines of a program: errno is then as before the call. */
#define _keeps_errno_                                                                              \
	__attribute__((unused)) _cleanup_(errno_restore) const int errno_before = errno

static inline void errno_restore(const int *before)
{
	errno = *before;
}

/* Until the end of the block the thread is not cancelled, for example while it holds a lock and
 * calls what may wait. */
#define _keeps_running_                                                                            \
	__attribute__((unused)) _cleanup_(cancel_restore) const int cancel_before = cancel_disable()

static inline int cancel_disable(void)
{
	int before;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
	return before;
}

static inline void cancel_restore(const int *before)
{
	int now;

	pthread_setcancelstate(*before, &now);
}

/* A failure that is reported again later, perhaps to another thread. */
struct failure {
	int error; /* 0: none */
	char text[ERROR_TEXT_MAX];
};

/* Keeps @error and the calling thread's sentence. 0 clears the failure. */
void failure_keep(struct failure *failure, int error);

/* Sets the thread's sentence to that of @failure and returns the error; 0 if there is none. */
int failure_say(const struct failure *failure);

/* Asks uncored for new doorbells for this user, and replaces the handle's doorbells. 0; errors as
 * uncore_open(). */
int handle_renew_doorbells(const struct uncore *handle);

/*
 * Does this process still have the handle's descriptors? A program that becomes a daemon, or a
 * forked child, may have closed them all. The numbers may then belong to other files. All doorbells
 * have the same inode, so the connection is checked in their place.
 */
bool handle_has_descriptors(const struct uncore *handle);

/* 0; -EINVAL with a sentence: NULL, or the handle of a forked parent. */
int handle_check(const struct uncore *handle);

/*
 * A program that has closed a standard stream may write to its number, or open something in its
 * place. So @fd gets another number if it has such a one. -1, with errno: there is none, and @fd is
 * closed.
 */
static inline int fd_beside_streams(int fd)
{
	int other = fd;

	if (fd >= 0 && fd <= STDERR_FILENO) {
		other = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		close(fd);
	}
	return other;
}

static inline bool handle_is_ours(const struct uncore *handle)
{
	return handle && __atomic_load_n(&handle->mark->ours, __ATOMIC_RELAXED);
}

/*
 * The present value in the page of @copy, a word of the handle's tables. Use it only as a figure or
 * a number to show, never as an index, an offset or a length.
 */
#define live_word(handle, copy)                                                                    \
	__atomic_load_n((__typeof__(&(copy)))shared_place(handle, &(copy)), __ATOMIC_RELAXED)

static inline const void *shared_place(const struct uncore *handle, const void *copy)
{
	return (const char *)handle->shared + ((const char *)copy - (const char *)handle->tables);
}

/* The caller has checked @socket. */
static inline const struct page_cell *handle_cell_of(const struct uncore *handle, uint32_t socket)
{
	const struct page_header *tables = handle->tables;

	return (const void *)((const char *)handle->shared + tables->cells_at +
			      (size_t)socket * tables->cell_stride);
}

/* Sets the sentence for two samples of different generations. Returns -ESTALE. */
int delta_stale(void);

/* The difference of two samples of one socket and generation, @from the earlier one, into all of
 * *@ret but .size; what is behind its .n_values stays. */
void delta_fill(
	const struct uncore_sample *from, const struct uncore_sample *to, struct uncore_delta *ret);

/* Allocates at least @size_bytes of zeroed memory, which is zero again in a forked child. */
int wiped_memory_new(size_t size_bytes, void **ret);
void wiped_memory_free(void *memory, size_t size_bytes);

static_assert(UNCORE_METRICS_MAX == PAGE_METRICS_MAX, "metrics");
static_assert(UNCORE_NAME_MAX == PAGE_NAME_MAX, "names");
static_assert(UNCORE_TEXT_MAX == PAGE_TEXT_MAX, "texts");
static_assert(UNCORE_PASSING_MAX == PAGE_PASSING_MAX, "passing flags");
static_assert(UNCORE_ESTIMATED == PAGE_ESTIMATED, "estimated");
static_assert(UNCORE_PARTIAL == PAGE_PARTIAL, "partial");
static_assert(UNCORE_FROZEN == PAGE_FROZEN, "frozen");
static_assert(UNCORE_RESET == PAGE_RESET, "reset");
static_assert(UNCORE_UNCALIBRATED == PAGE_UNCALIBRATED, "uncalibrated");
static_assert(UNCORE_STANDIN == PAGE_STANDIN, "standin");
static_assert(UNCORE_ABSENT == (uint32_t)PAGE_ABSENT, "absent");

static_assert(sizeof(struct uncore_value) == sizeof(struct page_value), "value");
static_assert(offsetof(struct uncore_value, quality) == offsetof(struct page_value, quality) &&
		      offsetof(struct uncore_value, why) == offsetof(struct page_value, why) &&
		      offsetof(struct uncore_value, raised) == offsetof(struct page_value, raised),
	"value");
static_assert(sizeof(struct uncore_channel_value) == sizeof(struct page_channel_value), "channel");
static_assert(sizeof(struct uncore_sample) - offsetof(struct uncore_sample, sweep) ==
		      sizeof(struct page_sweep),
	"sample");
