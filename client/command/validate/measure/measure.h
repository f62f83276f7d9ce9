/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The measurement of one kernel: readings around its passes and around an idle window before them,
 * repeated until the result is known well enough.
 */
#pragma once

#include "client/command/validate/measure/measured.h"

/*
 * Measures @job into @ret, which measured_done() frees. 0; errors of workers_start() and
 * probe_take(); -EINTR: *@rules->stop became true.
 */
int measure(struct probe *probe, const struct workers_job *job, const struct measure_rules *rules,
	struct measured *ret);
