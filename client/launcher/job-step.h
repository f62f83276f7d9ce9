/* SPDX-License-Identifier: BSD-3-Clause */
/* The job step of this process, from variables of launchers and batch systems. */
#pragma once

#include <stdint.h>

#include "common/team.h"

/*
 * The name that all processes of this step have on this node, and no other processes of this user:
 * for example "slurm/4711.0". "": no launcher has set one.
 */
void job_step_name(char ret_name[TEAM_NAME_BYTES]);

/* The number of processes of the step on this node; 0: not known. */
uint32_t job_step_local_size(void);
