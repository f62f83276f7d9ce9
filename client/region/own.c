/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/own.h"

#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/cpus.h"

enum { SOCKETS_MOST = 32 };

/* A program may bind its threads later, one by one; the binding by its launcher is known at load
 * time. */
static cpu_set_t loaded_on;
static bool is_known;

__attribute__((constructor)) static void note_affinity(void)
{
	is_known = sched_getaffinity(0, sizeof loaded_on, &loaded_on) == 0;
}

static uint32_t sockets_of_package(const struct uncore *handle, int package)
{
	struct uncore_socket socket = UNCORE_SOCKET_INIT;
	uint32_t mask = 0;

	for (uint32_t i = 0; i < SOCKETS_MOST && uncore_describe_socket(handle, i, &socket) == 0;
		i++)
		if ((int)socket.package == package)
			mask |= UINT32_C(1) << i;
	return mask;
}

uint32_t own_sockets(const struct uncore *handle)
{
	const char *wish = secure_getenv("UNCORE_SOCKETS");
	uint32_t mask = 0;

	if (!wish || strcmp(wish, "own") != 0 || !is_known)
		return UINT32_MAX;
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &loaded_on))
			mask |= sockets_of_package(handle, cpus_package(cpu));
	return mask ? mask : UINT32_MAX;
}
