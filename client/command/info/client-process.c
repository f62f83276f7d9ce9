/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/info/client-process.h"

#include <string.h>

void client_process_name(uint64_t pid, uint64_t connected_ns, char ret[PROCESS_NAME_MAX])
{
	uint64_t age_ns;

	if (!pid)
		strcpy(ret, "(not visible to uncored)");
	else if (!process_age(pid, ret, &age_ns) || age_ns < connected_ns)
		strcpy(ret, "(has ended)");
}
