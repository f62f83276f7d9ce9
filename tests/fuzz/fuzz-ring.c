/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as the file of a process for `uncore trace`: the first byte says how the file is cut,
 * the next ones are its head, its first names and its first records. All texts and numbers that
 * come out are in range, and so is what is made of the counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/command/trace/counts.h"
#include "client/command/trace/ring-file.h"
#include "common/text.h"
#include "tests/fuzz/target.h"

enum { NAMES_MAX_BYTES = 256 };

/* Takes up to @most_bytes of the input. */
static void take(const uint8_t **data, size_t *size, void *to, size_t most_bytes)
{
	const size_t n = *size < most_bytes ? *size : most_bytes;

	memcpy(to, *data, n);
	*data += n;
	*size -= n;
}

static int make_file(const uint8_t *data, size_t size)
{
	struct trace_file *file = calloc(1, sizeof *file);
	int fd = memfd_create("input", MFD_CLOEXEC);
	uint8_t cut = 0;

	if (!file || fd < 0)
		exit(0);
	take(&data, &size, &cut, 1);
	take(&data, &size, &file->head, sizeof file->head);
	take(&data, &size, file->names, NAMES_MAX_BYTES);
	take(&data, &size, file->records, sizeof file->records);
	if (write(fd, file, sizeof *file - (cut & 1)) < 0)
		exit(0);
	free(file);
	return fd;
}

static void check_records(const struct ring_file *ring)
{
	uint64_t n_lost = ring->first;

	if (ring->n > TRACE_RECORDS)
		abort();
	for (uint64_t i = 0; i < ring->n; i++) {
		const struct trace_record *record = ring_file_record(ring, ring->first + i);

		n_lost += !record;
		if (record && (record->state & 0xff) != TRACE_COUNT &&
			!text_is_plain(ring->file->names[record->which]))
			abort();
	}
	if (n_lost != ring->n_lost)
		abort();
}

static void write_counts(const struct ring_file *ring)
{
	static const char names[2][TRACE_HOST_BYTES] = { "one", "other" };
	FILE *out = fopen("/dev/null", "w");
	struct counts counts = { .n = 0 };

	if (!out || counts_add(&counts, ring, 0, 0) < 0 || counts_add(&counts, ring, 1, 1) < 0)
		exit(0);
	counts_write(out, &counts, names, ring->file);
	counts_done(&counts);
	fclose(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ring_file ring;
	char path[64];
	int fd = make_file(data, size);

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (ring_file_read(path, &ring) == 0) {
		check_records(&ring);
		write_counts(&ring);
		ring_file_done(&ring);
	}
	close(fd);
	return 0;
}
