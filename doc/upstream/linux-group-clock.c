/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * linux-group-clock.md: page faults and cpu-clock in one group, in either order, while 1000 new
 * pages are touched; first with a leader that counts when the member joins it, then with one that
 * is enabled afterwards. Needs no privilege.
 */
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGES = 1000, PAGE = 4096 };

struct count {
	uint64_t value, enabled, running;
};

static int open_event(uint64_t config, int disabled, int leader)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = config,
		.disabled = disabled,
		.exclude_kernel = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, leader, 0);

	if (fd < 0) {
		perror("Cannot run: perf_event_open");
		exit(77);
	}
	return fd;
}

static void touch_pages(void)
{
	char *memory = mmap(
		NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED) {
		perror("Cannot run: mmap");
		exit(77);
	}
	madvise(memory, PAGES * PAGE, MADV_NOHUGEPAGE);
	for (int i = 0; i < PAGES; i++)
		((volatile char *)memory)[i * PAGE] = 1;
	munmap(memory, PAGES * PAGE);
}

static struct count read_count(const char *who, int fd)
{
	struct count count = { 0 };

	if (read(fd, &count, sizeof count) != sizeof count)
		exit(77);
	printf("  %s: %llu, enabled %llu ns, running %llu ns\n", who,
		(unsigned long long)count.value, (unsigned long long)count.enabled,
		(unsigned long long)count.running);
	close(fd);
	return count;
}

/* Says whether the member was left out while the leader counted. */
static int left_out(uint64_t leader_config, uint64_t member_config, int later)
{
	int leader = open_event(leader_config, later, -1),
	    member = open_event(member_config, 0, leader);
	struct count of_leader, of_member;

	printf("%s leads, enabled %s the member joins\n",
		leader_config == PERF_COUNT_SW_CPU_CLOCK ? "cpu-clock" : "page-faults",
		later ? "after" : "before");
	ioctl(leader, PERF_EVENT_IOC_ENABLE, 0);
	touch_pages();
	of_leader = read_count("leader", leader);
	of_member = read_count("member", member);
	return of_leader.running == of_leader.enabled && of_member.running < of_member.enabled;
}

int main(void)
{
	enum { FAULTS = PERF_COUNT_SW_PAGE_FAULTS, CLOCK = PERF_COUNT_SW_CPU_CLOCK };
	int before = left_out(FAULTS, CLOCK, 0) + left_out(CLOCK, FAULTS, 0);
	int after = left_out(FAULTS, CLOCK, 1) + left_out(CLOCK, FAULTS, 1);
	int fails = before == 2 && after == 0;

	printf("%s\n", fails ? "Fails as described." : "Does not fail as described.");
	return fails ? 0 : 3;
}
