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

/* The path of the compiled help texts, without its suffix. */
const char *agent_help_path(void);

/*
 * Sets the agent's functions in @interface, which pmdaDaemon() or pmdaDSO() has set up.
 * @socket_path: of uncored, must stay valid; NULL: as libuncore finds it. @is_brief: wait only
 * briefly for uncored, because others wait for this process.
 */
void agent_start(pmdaInterface *interface, const char *socket_path, bool is_brief);
