/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pmdauncore: uncored's values as metrics of Performance Co-Pilot, in two forms: a daemon (main.c)
 * and a shared object inside pmcd (dso.c).
 *
 * It is an ordinary client of uncored without privilege. Each fetch takes one snapshot before the
 * first value is asked for, so all values of a fetch belong together.
 */
#pragma once

#include <pcp/pmapi.h>
#include <pcp/pmda.h>
#include <stdbool.h>

/* Where the compiled help texts are, without their ending. */
const char *agent_help_path(void);

/*
 * Hangs the agent's functions into @interface, which pmdaDaemon() or pmdaDSO() has set up.
 * @socket_path: of uncored, kept; NULL: as libuncore finds it. @is_brief: others stand still while
 * this process waits for uncored.
 */
void agent_start(pmdaInterface *interface, const char *socket_path, bool is_brief);
