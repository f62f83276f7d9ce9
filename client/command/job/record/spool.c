/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/record/spool.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "client/jobstore/lock.h"
#include "common/clock.h"
#include "common/macro.h"

enum { PAGE_BYTES = 4096, PAGES = SPOOL_BYTES / PAGE_BYTES, FIRST_PAGE = 1 };

static const uint64_t PATIENCE_NS = 1000000000;

/* A file without a valid header, such as a file of zeros, has no entries. */
struct header {
	char magic[8];
	uint64_t n_put;
	uint32_t end; /* no entry begins at this page or after it */
};

/* The first page of an entry. One write(2) makes the entry valid. */
struct page {
	char magic[8];
	uint64_t order;
	uint32_t n_pages;
	uint32_t unused;
	struct run_head head;
};

static const char HEADER_MAGIC[8] = "uncspl1", ENTRY_MAGIC[8] = "uncwai1";

static_assert(sizeof(struct page) <= PAGE_BYTES, "one page");

/* --- open --- */

static int look(const char *path, int flags, struct spool *ret)
{
	ret->folder_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (ret->folder_fd < 0)
		return -errno;
	ret->fd = openat(ret->folder_fd, SPOOL_FILE, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	return ret->fd < 0 ? -errno : 0;
}

int spool_look(const char *path, struct spool *ret)
{
	*ret = (struct spool){ .folder_fd = -1, .fd = -1 };
	return look(path, O_RDONLY, ret);
}

/* Does not fill a disk that has hardly more room. The next process that opens the spool tries
 * again. */
static void reserve(const struct spool *spool)
{
	struct stat status;
	struct statvfs disk;

	if (fstat(spool->fd, &status) < 0 || status.st_size >= SPOOL_BYTES ||
		fstatvfs(spool->fd, &disk) < 0 || disk.f_bavail * disk.f_frsize < 2 * SPOOL_BYTES)
		return;
	(void)!fallocate(spool->fd, 0, 0, SPOOL_BYTES);
}

int spool_open(const char *path, struct spool *ret)
{
	int r;

	*ret = (struct spool){ .folder_fd = -1, .fd = -1 };
	if (mkdir(path, 0700) < 0 && errno != EEXIST)
		return -errno;
	r = look(path, O_RDWR | O_CREAT, ret);
	if (r == 0)
		reserve(ret);
	return r;
}

void spool_close(struct spool *spool)
{
	close_fd(&spool->fd);
	close_fd(&spool->folder_fd);
}

/* --- pages --- */

static off_t offset_of(uint32_t page)
{
	return (off_t)page * PAGE_BYTES;
}

/* Bytes after the end of the file read as zeros. */
static int read_at(const struct spool *spool, void *data, size_t size_bytes, uint32_t page)
{
	ssize_t n = pread(spool->fd, data, size_bytes, offset_of(page));

	if (n < 0)
		return -errno;
	memset((char *)data + n, 0, size_bytes - (size_t)n);
	return 0;
}

static int write_at(const struct spool *spool, const void *data, size_t size_bytes, uint32_t page)
{
	ssize_t n = pwrite(spool->fd, data, size_bytes, offset_of(page));

	if (n < 0)
		return -errno;
	return (size_t)n == size_bytes ? 0 : -ENOSPC;
}

static int read_header(const struct spool *spool, struct header *ret)
{
	int r = read_at(spool, ret, sizeof *ret, 0);

	if (r == 0 && (memcmp(ret->magic, HEADER_MAGIC, sizeof HEADER_MAGIC) != 0 ||
			      ret->end < FIRST_PAGE || ret->end > PAGES)) {
		*ret = (struct header){ .end = FIRST_PAGE };
		memcpy(ret->magic, HEADER_MAGIC, sizeof HEADER_MAGIC);
	}
	return r;
}

static uint32_t pages_of(uint32_t text_bytes)
{
	return 1 + text_bytes / PAGE_BYTES + (text_bytes % PAGE_BYTES != 0);
}

/* The number of pages of the entry at @at; 0: there is none, and the page is free. */
static uint32_t read_entry(const struct spool *spool, uint32_t at, struct spool_entry *ret)
{
	struct page page;

	if (read_at(spool, &page, sizeof page, at) < 0 ||
		memcmp(page.magic, ENTRY_MAGIC, sizeof ENTRY_MAGIC) != 0 ||
		!run_head_is_whole(&page.head) || page.n_pages != pages_of(page.head.text_bytes) ||
		page.n_pages > PAGES - at)
		return 0;
	*ret = (struct spool_entry){
		.order = page.order,
		.at = at,
		.n_pages = page.n_pages,
		.head = page.head,
	};
	return page.n_pages;
}

/* --- removing --- */

static bool is_same_run(const struct run_head *a, const struct run_head *b)
{
	return strcmp(a->id, b->id) == 0 && a->begun_ns == b->begun_ns &&
	       a->begun_real_ns == b->begun_real_ns && a->text_bytes == b->text_bytes;
}

/* Moves the end of the entries forward: nobody reads pages after the last one. */
static int shrink(const struct spool *spool)
{
	struct header header;
	struct spool_entry entry;
	uint32_t end = FIRST_PAGE;
	int r = read_header(spool, &header);

	if (r < 0)
		return r;
	for (uint32_t at = FIRST_PAGE, n; at < header.end; at += n ? n : 1) {
		n = read_entry(spool, at, &entry);
		if (n)
			end = at + n;
	}
	header.end = end;
	return write_at(spool, &header, sizeof header, 0);
}

static int clear(const struct spool *spool, const struct spool_entry *entry)
{
	static const char zeros[PAGE_BYTES];
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < entry->n_pages; i++)
		r = write_at(spool, zeros, sizeof zeros, entry->at + i);
	return r;
}

/* Drops all entries of the run except the one at @but. */
static int drop_run(const struct spool *spool, const struct run_head *head, uint32_t but)
{
	struct header header;
	struct spool_entry entry;
	bool has_dropped = false;
	int r = read_header(spool, &header);

	for (uint32_t at = FIRST_PAGE, n; r == 0 && at < header.end; at += n ? n : 1) {
		n = read_entry(spool, at, &entry);
		if (!n || at == but || !is_same_run(&entry.head, head))
			continue;
		r = clear(spool, &entry);
		has_dropped = true;
	}
	return r == 0 && has_dropped ? shrink(spool) : r;
}

/* --- putting --- */

/* Finds the first of @n_pages free pages. -EEXIST: the record of @head already waits here. */
static int find_room(const struct spool *spool, const struct header *header,
	const struct run_head *head, uint32_t n_pages, uint32_t *ret)
{
	uint32_t at = FIRST_PAGE, first = 0, n_free = 0, n;
	struct spool_entry entry;

	for (; at < header->end; at += n ? n : 1) {
		n = read_entry(spool, at, &entry);
		if (n && is_same_run(&entry.head, head) && strcmp(entry.head.to, head->to) == 0)
			return -EEXIST;
		n_free = n ? 0 : n_free + 1;
		if (!first && n_free == n_pages)
			first = at + 1 - n_pages;
	}
	*ret = first ? first : at - n_free;
	return *ret + n_pages <= PAGES ? 0 : -ENOSPC;
}

/* The first page goes last: an entry is valid only when all of it is on the disk. */
static int put_at(const struct spool *spool, struct header *header, const struct page *page,
	const char *text, uint32_t at)
{
	int r;

	if (header->end < at + page->n_pages)
		header->end = at + page->n_pages;
	header->n_put++;
	r = write_at(spool, text, page->head.text_bytes, at + 1);
	if (r == 0)
		r = write_at(spool, header, sizeof *header, 0);
	if (r == 0 && fdatasync(spool->fd) < 0)
		r = -errno;
	if (r == 0)
		r = write_at(spool, page, sizeof *page, at);
	if (r == 0 && (fsync(spool->fd) < 0 || fsync(spool->folder_fd) < 0))
		r = -errno;
	return r;
}

static int put(const struct spool *spool, const struct run *run, const char *text)
{
	struct page page;
	struct header header;
	uint32_t at = 0;
	int r = read_header(spool, &header);

	memset(&page, 0, sizeof page);
	memcpy(page.magic, ENTRY_MAGIC, sizeof ENTRY_MAGIC);
	page.n_pages = pages_of(run->head.text_bytes);
	page.order = header.n_put;
	page.head = run->head;
	if (r == 0)
		r = find_room(spool, &header, &run->head, page.n_pages, &at);
	if (r == -EEXIST)
		return 0;
	if (r == 0)
		r = put_at(spool, &header, &page, text, at);
	return r < 0 ? r : drop_run(spool, &run->head, at);
}

static int lock(const struct spool *spool)
{
	return lock_until(spool->folder_fd, clock_deadline_ns(PATIENCE_NS));
}

int spool_put(const struct spool *spool, const struct run *run, const char *text)
{
	int r = spool->fd < 0 ? -EBADF : lock(spool);

	if (r < 0)
		return r;
	r = put(spool, run, text);
	flock(spool->folder_fd, LOCK_UN);
	return r;
}

int spool_forget(const struct spool *spool, const struct run_head *head)
{
	int r = lock(spool);

	if (r < 0)
		return r;
	r = drop_run(spool, head, 0);
	flock(spool->folder_fd, LOCK_UN);
	return r;
}

/* --- listing --- */

static int compare(const void *a, const void *b)
{
	const struct spool_entry *x = a, *y = b;

	return (x->order > y->order) - (x->order < y->order);
}

static int list(const struct spool *spool, uint32_t end, struct spool_entry **ret, size_t *ret_n)
{
	_cleanup_free_ struct spool_entry *all = calloc(end, sizeof *all);
	size_t n = 0;

	if (!all)
		return -ENOMEM;
	for (uint32_t at = FIRST_PAGE, n_pages; at < end; at += n_pages ? n_pages : 1) {
		n_pages = read_entry(spool, at, &all[n]);
		n += n_pages > 0;
	}
	qsort(all, n, sizeof *all, compare);
	*ret = take_ptr(all);
	*ret_n = n;
	return 0;
}

int spool_list(const struct spool *spool, struct spool_entry **ret, size_t *ret_n)
{
	struct header header;
	int r = read_header(spool, &header);

	*ret = NULL;
	*ret_n = 0;
	return r < 0 || header.end == FIRST_PAGE ? r : list(spool, header.end, ret, ret_n);
}

int spool_read_text(const struct spool *spool, const struct spool_entry *entry, char **ret)
{
	_cleanup_free_ char *text = calloc((size_t)entry->head.text_bytes + 1, 1);
	int r = text ? read_at(spool, text, entry->head.text_bytes, entry->at + 1) : -ENOMEM;

	if (r == 0)
		*ret = take_ptr(text);
	return r;
}
