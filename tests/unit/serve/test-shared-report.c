/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory of a report, which is written again and again and shared read-only. */
#include "daemon/serve/shared-report.h"

#include <errno.h>
#include <unistd.h>

#include "tests/harness/test.h"

CASE("a report that is written again stays in its memory, which its readers cannot write")
{
	struct shared_report report = SHARED_REPORT_INIT;
	char text[8] = "";
	int fd;

	assert_int_equal(shared_report_write(&report, "{}"), 0);
	fd = report.read_fd;
	assert_int_equal(shared_report_write(&report, "{\"a\":1}"), 0);
	assert_int_equal(report.read_fd, fd);
	assert_int_equal(report.size_bytes, 7);
	assert_int_equal(pread(fd, text, report.size_bytes, 0), 7);
	assert_string_equal(text, "{\"a\":1}");
	assert_int_equal(pwrite(fd, "x", 1, 0), -1);
	assert_int_equal(errno, EBADF);
	shared_report_close(&report);
}

CASE("a report is recent until it is too old, or withdrawn")
{
	struct shared_report report = SHARED_REPORT_INIT;

	assert_false(shared_report_is_recent(&report, UINT64_MAX));
	assert_int_equal(shared_report_write(&report, "{}"), 0);
	assert_true(shared_report_is_recent(&report, UINT64_MAX));
	assert_false(shared_report_is_recent(&report, 0));
	shared_report_invalidate(&report);
	assert_false(shared_report_is_recent(&report, UINT64_MAX));
	shared_report_close(&report);
}
