/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One pmcd with every agent that is compared, in a folder of its own and without privilege: nothing
 * of the machine's PCP is touched. pmdaperfevent is started beside pmcd, because it opens its
 * counters as root and then becomes nobody. pmcd talks to pmdaperfevent through a socket, and to
 * the other daemons through pipes.
 */
#pragma once

/*
 * The CPU of both, of their children, and of a single client, which run in turns. If they could
 * move, the figures would depend on their CPUs: a fetch from an agent that does nothing takes twice
 * as long if its parts wake each other across CPUs.
 */
enum { SHARED_CPU = 0 };

/*
 * Starts both, and sets the PCP_ variables of this process such that PCP's library talks to this
 * pmcd. Ends the process if it cannot. Both are stopped when the process ends.
 */
void private_pmcd_start(const char *uncored_socket);
void private_pmcd_stop(void);
