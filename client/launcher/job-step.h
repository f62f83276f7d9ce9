/* SPDX-License-Identifier: BSD-3-Clause */
/* The job step that launchers and batch systems say this process is a part of. */
#pragma once

#include <stdint.h>

#include "common/team.h"

/*
 * A name that all processes of this step have on this node, and no others of this user: for
 * example "slurm/4711.0". "": no launcher has set one.
 */
void job_step_name(char ret_name[TEAM_NAME_BYTES]);

/* How many processes the step has on this node; 0: not known. */
uint32_t job_step_local_size(void);
