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

#include "common/clock.h"
#include "common/macro.h"

enum { PAGE_BYTES = 4096, PAGES = SPOOL_BYTES / PAGE_BYTES, FIRST_PAGE = 1 };

static const uint64_t PATIENCE_NS = 1000000000;

/* A file without a valid header, such as a file of zeros, has no entries. */
struct header {
	char magic[8];
	uint32_t end; /* no entry begins at this page or after it */
};

/* The first page of an entry. One write(2) makes the entry valid. */
struct page {
	char magic[8];
	struct run_head head;
};

static const char HEADER_MAGIC[8] = "uncspl2", ENTRY_MAGIC[8] = "uncwai2";

static_assert(sizeof(struct page) <= PAGE_BYTES, "one page");

/* --- open --- */

static int look(const char *path, int flags, struct spool *ret)
{
	ret->folder_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (ret->folder_fd >= 0)
		ret->fd = openat(ret->folder_fd, SPOOL_FILE, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (ret->fd < 0)
		ret->fd = -errno;
	return ret->fd < 0 ? ret->fd : 0;
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
	if (mkdir(path, 0700) < 0 && errno != EEXIST) {
		ret->fd = -errno;
		return ret->fd;
	}
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
	return file_write(spool->fd, data, size_bytes, offset_of(page));
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

static uint32_t pages_of(const struct run_head *head)
{
	return 1 + head->text_bytes / PAGE_BYTES + (head->text_bytes % PAGE_BYTES != 0);
}

/* False: there is no entry at @at, and the page is free. */
static bool read_entry(const struct spool *spool, uint32_t at, struct spool_entry *ret)
{
	struct page page;

	if (read_at(spool, &page, sizeof page, at) < 0 ||
		memcmp(page.magic, ENTRY_MAGIC, sizeof ENTRY_MAGIC) != 0 ||
		!run_head_is_whole(&page.head) || pages_of(&page.head) > PAGES - at)
		return false;
	*ret = (struct spool_entry){ .at = at, .head = page.head };
	return true;
}

/* Finds the first entry from page *@at on, and moves *@at behind it. False: there is none. */
static bool next_entry(const struct spool *spool, const struct header *header, uint32_t *at,
	struct spool_entry *ret)
{
	while (*at < header->end) {
		if (read_entry(spool, *at, ret)) {
			*at += pages_of(&ret->head);
			return true;
		}
		++*at;
	}
	return false;
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
	uint32_t at = FIRST_PAGE, end = FIRST_PAGE;
	int r = read_header(spool, &header);

	if (r < 0)
		return r;
	while (next_entry(spool, &header, &at, &entry))
		end = at;
	header.end = end;
	return write_at(spool, &header, sizeof header, 0);
}

static int clear(const struct spool *spool, const struct spool_entry *entry)
{
	static const char zeros[PAGE_BYTES];
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < pages_of(&entry->head); i++)
		r = write_at(spool, zeros, sizeof zeros, entry->at + i);
	return r;
}

/* Drops all entries of the run except the one at @but. */
static int drop_run(const struct spool *spool, const struct run_head *head, uint32_t but)
{
	struct header header;
	struct spool_entry entry;
	uint32_t at = FIRST_PAGE;
	bool has_dropped = false;
	int r = read_header(spool, &header);

	while (r == 0 && next_entry(spool, &header, &at, &entry)) {
		if (entry.at == but || !is_same_run(&entry.head, head))
			continue;
		r = clear(spool, &entry);
		has_dropped = true;
	}
	return r == 0 && has_dropped ? shrink(spool) : r;
}

/* --- putting --- */

/* Finds the first page of enough free pages. -EEXIST: the record of @head already waits here. */
static int find_room(const struct spool *spool, const struct header *header,
	const struct run_head *head, uint32_t *ret)
{
	uint32_t at = FIRST_PAGE, end = FIRST_PAGE, first = 0;
	struct spool_entry entry;

	while (next_entry(spool, header, &at, &entry)) {
		if (is_same_run(&entry.head, head) && strcmp(entry.head.to, head->to) == 0)
			return -EEXIST;
		if (!first && entry.at - end >= pages_of(head))
			first = end;
		end = at;
	}
	*ret = first ? first : end;
	return *ret + pages_of(head) <= PAGES ? 0 : -ENOSPC;
}

/* The first page goes last: an entry is valid only when all of it is on the disk. */
static int put_at(const struct spool *spool, struct header *header, const struct page *page,
	const char *text, uint32_t at)
{
	int r = write_at(spool, text, page->head.text_bytes, at + 1);

	if (header->end < at + pages_of(&page->head))
		header->end = at + pages_of(&page->head);
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
	struct page page = { .head = run->head };
	struct header header;
	uint32_t at = 0;
	int r = read_header(spool, &header);

	memcpy(page.magic, ENTRY_MAGIC, sizeof ENTRY_MAGIC);
	if (r == 0)
		r = find_room(spool, &header, &run->head, &at);
	if (r == -EEXIST)
		return 0;
	if (r == 0)
		r = put_at(spool, &header, &page, text, at);
	return r < 0 ? r : drop_run(spool, &run->head, at);
}

static int lock(const struct spool *spool)
{
	if (spool->fd < 0)
		return spool->fd;
	return file_lock(spool->folder_fd, clock_deadline_ns(PATIENCE_NS));
}

int spool_put(const struct spool *spool, const struct run *run, const char *text)
{
	int r = lock(spool);

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

	return (x->head.begun_real_ns > y->head.begun_real_ns) -
	       (x->head.begun_real_ns < y->head.begun_real_ns);
}

int spool_list(const struct spool *spool, struct spool_entry **ret, size_t *ret_n)
{
	_cleanup_free_ struct spool_entry *all = NULL;
	struct header header;
	uint32_t at = FIRST_PAGE;
	size_t n = 0;
	int r = read_header(spool, &header);

	if (r < 0)
		return r;
	all = calloc(header.end, sizeof *all);
	if (!all)
		return -ENOMEM;
	while (next_entry(spool, &header, &at, &all[n]))
		n++;
	qsort(all, n, sizeof *all, compare);
	*ret = take_ptr(all);
	*ret_n = n;
	return 0;
}

int spool_read_text(const struct spool *spool, const struct spool_entry *entry, char **ret)
{
	_cleanup_free_ char *text = calloc((size_t)entry->head.text_bytes + 1, 1);
	int r = text ? read_at(spool, text, entry->head.text_bytes, entry->at + 1) : -ENOMEM;

	if (r == 0)
		*ret = take_ptr(text);
	return r;
}
