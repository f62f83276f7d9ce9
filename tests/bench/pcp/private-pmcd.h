/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One pmcd with every agent that is compared, in a folder of its own and without privilege: nothing
 * of the machine's PCP is touched. pmdaperfevent is started beside it, for it opens its counters as
 * root and then becomes nobody; pmcd talks to it through a socket, to the other daemons through
 * pipes.
 */
#pragma once

/*
 * Where both run and whatever they start, and a single client, too: these take turns. If they could
 * move, the figures would tell where they were: a fetch from an agent that does nothing is twice as
 * long if its parts wake each other across CPUs.
 */
enum { SHARED_CPU = 0 };

/*
 * Starts both, and sets the PCP_ variables of this process such that PCP's library talks to this
 * pmcd. Ends the process if it cannot; whatever was started is stopped when the process ends.
 */
void private_pmcd_start(const char *uncored_socket);
void private_pmcd_stop(void);
