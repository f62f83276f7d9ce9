/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/trace/ring-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/macro.h"
#include "common/text.h"

static void end_text(char *text, size_t size_bytes)
{
	text[size_bytes - 1] = '\0';
	text_make_plain(text);
}

static void make_plain(struct trace_file *file)
{
	struct trace_head *head = &file->head;

	end_text(head->host, sizeof head->host);
	for (size_t i = 0; i < UNCORE_METRICS_MAX; i++) {
		end_text(head->metrics[i], UNCORE_NAME_MAX);
		end_text(head->units[i], UNCORE_NAME_MAX);
	}
	for (size_t i = 0; i < TRACE_REGIONS; i++)
		end_text(file->names[i], TRACE_NAME_BYTES);
	if (head->n_metrics > UNCORE_METRICS_MAX)
		head->n_metrics = UNCORE_METRICS_MAX;
}

static bool is_in_range(const struct trace_file *file, const struct trace_record *record)
{
	switch (record->state & 0xff) {
	case TRACE_BEGIN:
	case TRACE_END:
	case TRACE_SPAN_BEGIN:
	case TRACE_SPAN_END:
		return record->which < TRACE_REGIONS;
	case TRACE_COUNT:
		return (record->which & 0xff) < file->head.n_metrics;
	default:
		return false;
	}
}

const struct trace_record *ring_file_record(const struct ring_file *ring, uint64_t number)
{
	const struct trace_record *record = &ring->file->records[number % TRACE_RECORDS];

	return record->state >> 8 == (number / TRACE_RECORDS & 0xff) &&
			       is_in_range(ring->file, record)
		       ? record
		       : NULL;
}

static void ring_file_count(struct ring_file *ring)
{
	const uint64_t end = ring->file->head.n;

	ring->n = end < TRACE_RECORDS ? end : TRACE_RECORDS;
	ring->first = end - ring->n;
	ring->n_lost = ring->first;
	for (uint64_t i = 0; i < ring->n; i++)
		ring->n_lost += !ring_file_record(ring, ring->first + i);
}

int ring_file_read(const char *path, struct ring_file *ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	ssize_t n;
	int r = 0;

	*ret = (struct ring_file){ .file = NULL };
	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_size != sizeof(struct trace_file))
		return -ENOMSG;
	ret->file = malloc(sizeof *ret->file);
	if (!ret->file)
		return -ENOMEM;
	n = read(fd, ret->file, sizeof *ret->file);
	if (n < 0)
		r = -errno;
	else if (n < status.st_size || ret->file->head.magic != TRACE_MAGIC)
		r = -ENOMSG;
	if (r < 0) {
		ring_file_done(ret);
		return r;
	}
	make_plain(ret->file);
	ring_file_count(ret);
	return 0;
}

void ring_file_done(struct ring_file *ring)
{
	free(take_ptr(ring->file));
}
