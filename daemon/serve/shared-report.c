/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/shared-report.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "common/wire.h"
#include "daemon/base/memfd.h"

/* Only a withdrawal of the page leads to new memory, and only root can cause one: job-owner.h. */
static int shared_report_open_memory(struct shared_report *report)
{
	if (report->write_fd < 0)
		report->write_fd = memfd_new_growing("uncored-report", 0444);
	if (report->write_fd >= 0 && report->read_fd < 0)
		report->read_fd = memfd_reopen_read_only(report->write_fd);
	return report->write_fd < 0 ? report->write_fd : report->read_fd;
}

void shared_report_close(struct shared_report *report)
{
	close_fd(&report->write_fd);
	close_fd(&report->read_fd);
	report->made_ns = 0;
}

static int shared_report_write_at(int fd, const void *bytes, size_t size_bytes, uint64_t at)
{
	ssize_t n = pwrite(fd, bytes, size_bytes, (off_t)at);

	return n < 0 ? -errno : (size_t)n < size_bytes ? -ENOSPC : 0;
}

int shared_report_write(struct shared_report *report, const char *json)
{
	const uint64_t size_bytes = strlen(json);
	const struct wire_report_end end = { size_bytes, wire_hash(json, size_bytes) };
	int r = shared_report_open_memory(report);

	report->made_ns = 0;
	if (r >= 0)
		r = shared_report_write_at(report->write_fd, json, size_bytes, 0);
	if (r >= 0)
		r = shared_report_write_at(
			report->write_fd, &end, sizeof end, wire_report_end_at(size_bytes));
	if (r < 0)
		return r;
	report->size_bytes = size_bytes;
	report->made_ns = clock_now_ns();
	return 0;
}

bool shared_report_is_recent(const struct shared_report *report, uint64_t age_ns)
{
	return report->made_ns && clock_now_ns() - report->made_ns < age_ns;
}

void shared_report_invalidate(struct shared_report *report)
{
	report->made_ns = 0;
}
