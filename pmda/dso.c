/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent as a shared object inside pmcd, or inside a program with a local context. */
#include <string.h>

#include "pmda/agent.h"

__PMDA_INIT_CALL void uncore_init(pmdaInterface *interface);

/* In a local context only the program itself waits. */
static bool is_in_pmcd(void)
{
	return !strcmp(pmGetProgname(), "pmcd");
}

void uncore_init(pmdaInterface *interface)
{
	static char name[] = "uncore DSO"; /* PCP keeps this pointer and the path */

	pmdaDSO(interface, PMDA_INTERFACE_7, name, (char *)agent_help_path());
	agent_start(interface, NULL, is_in_pmcd());
}
