/* SPDX-License-Identifier: BSD-3-Clause */
/* A PID names the process that connected only if that process is older than its connection. */
#include "client/command/info/info.h"

#include <time.h>
#include <unistd.h>

#include "tests/harness/test.h"

static const char *name_of(uint64_t pid, uint64_t connected_ns)
{
	static char name[PROCESS_NAME_MAX];

	client_process_name(pid, connected_ns, name);
	return name;
}

CASE("a process is named that is older than its connection")
{
	assert_string_equal(name_of((uint64_t)getpid(), 1), "test-client-pro");
	assert_string_equal(name_of(0, 1), "(not visible to uncored)");
}

CASE("a process that is younger than the connection is another one")
{
	struct timespec boot;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	assert_string_equal(
		name_of((uint64_t)getpid(), (uint64_t)boot.tv_sec * 1000000000), "(has ended)");
}
