/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * short COUNTERS PASSAGES BODY_US GAP_US LINES GAP_LINES [THEN]: passages of a region that is as
 * short as a call, with gaps between them. A passage reads so many lines, and a gap, too, both
 * spread over their time, in the counts of a simulated memory controller
 * (tests/traffic/counters.h). Nobody else moves these counts.
 *
 * THEN is what follows: "idle" is a pause of 300 ms, in which as many lines are read as in all gaps
 * or 1000, and the same passages once more; "long" is a passage of 300 ms in the middle.
 *
 * Prints the bytes that the region read, and how long all of it took.
 */
#include <err.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/harness/program-region.h"
#include "tests/harness/program.h"
#include "tests/traffic/counters.h"

static const uint64_t PAUSE_NS = 300000000;

struct work {
	uint64_t time_ns, lines;
};

static struct traffic_counters *counters;

static void emit(uint64_t lines)
{
	__atomic_fetch_add(&counters->lines[0][TRAFFIC_READ][0], lines, __ATOMIC_SEQ_CST);
}

/* Half of the lines at the begin, the rest at the end. */
static void do_work(const struct work *work)
{
	const uint64_t end_ns = clock_now_ns() + work->time_ns;

	emit(work->lines / 2);
	while (work->time_ns && clock_now_ns() < end_ns)
		;
	emit(work->lines - work->lines / 2);
}

static uint64_t pass(const struct work *work)
{
	program_begin("short");
	do_work(work);
	program_end("short");
	return work->lines;
}

static uint64_t loop(uint64_t passages, const struct work *body, const struct work *gap)
{
	uint64_t lines = 0;

	for (uint64_t i = 0; i < passages; i++) {
		lines += pass(body);
		do_work(gap);
	}
	return lines;
}

static void pause_with_traffic(void)
{
	for (int i = 0; i < 10; i++) {
		usleep((useconds_t)(PAUSE_NS / 10000));
		emit(1000);
	}
}

int main(int argc, char *argv[])
{
	const char *then = argc == 8 ? argv[7] : "";
	struct work body, gap;
	uint64_t passages, lines;
	int fd;

	if (argc < 7 || argc > 8)
		errx(2, "Usage: short COUNTERS PASSAGES BODY_US GAP_US LINES GAP_LINES [THEN]");
	fd = open(argv[1], O_RDWR | O_CLOEXEC);
	counters = mmap(NULL, sizeof *counters, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || counters == MAP_FAILED)
		err(1, "%s", argv[1]);
	passages = program_number(argv[2], UINT32_MAX);
	body = (struct work){ 1000 * program_number(argv[3], 10000000),
		program_number(argv[5], UINT32_MAX) };
	gap = (struct work){ 1000 * program_number(argv[4], 10000000),
		program_number(argv[6], UINT32_MAX) };
	lines = loop(passages, &body, &gap);
	if (strcmp(then, "long") == 0)
		lines += pass(&(struct work){ PAUSE_NS, 1000 });
	else if (*then)
		pause_with_traffic();
	if (*then)
		lines += loop(passages, &body, &gap);
	printf("short %llu\n", (unsigned long long)lines * TRAFFIC_LINE_BYTES);
	return 0;
}
