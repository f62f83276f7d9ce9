/* SPDX-License-Identifier: BSD-3-Clause */
/* The agent as a shared object inside pmcd, or inside a program with a local context. */
#include "pmda/agent.h"

__PMDA_INIT_CALL void uncore_init(pmdaInterface *interface);

void uncore_init(pmdaInterface *interface)
{
	static char name[] = "uncore DSO"; /* PCP keeps it, as it does the path */

	pmdaDSO(interface, PMDA_INTERFACE_7, name, (char *)agent_help_path());
	agent_start(interface, NULL);
}
