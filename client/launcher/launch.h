/* SPDX-License-Identifier: BSD-3-Clause */
/* The environment variables of batch systems and launchers of parallel jobs, and file names made
 * from them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/team.h"

/* Bytes, with the final NUL. */
enum { LAUNCH_HOST_MAX = 256, LAUNCH_JOB_MAX = 128, LAUNCH_LABEL_MAX = 64 };

/* The MPI rank of this process; -1: no launcher has set one. */
int64_t launch_rank(void);

/* The number of this process among those of its job on this node, from 0; -1: not known. */
int64_t launch_local_rank(void);

/* The batch system's id of the job, for example "4711". False, and "": there is none. */
bool launch_job(char ret_id[LAUNCH_JOB_MAX]);

/* UNCORE_LABEL as plain text, cut to fit. "": the user gave none. */
void launch_label(char ret_label[LAUNCH_LABEL_MAX]);

/*
 * The name that all processes of this step have on this node, and no other processes of this user:
 * for example "slurm/4711.0". "": no launcher has set one.
 */
void job_step_name(char ret_name[TEAM_NAME_BYTES]);

/* The number of processes of the step on this node; 0: not known. */
uint32_t job_step_local_size(void);

/* This host's name, or "unknown". */
void launch_host(char ret_name[LAUNCH_HOST_MAX]);

/*
 * Expands %p (process id), %h (host), %r (rank, or process id if there is none), %j (job, or
 * "nojob") and %% in @template. *@ret_path is the caller's. -EINVAL: @template has another %;
 * -ENOMEM.
 */
int launch_expand(const char *template, char **ret_path);

/*
 * The same for a name that a variable of the environment has: if the process has changed its folder
 * since this library was loaded, a relative name is taken from the former one.
 */
int launch_expand_variable(const char *template, char **ret_path);

/* A relative template as one from the root, for processes that begin in other folders. NULL: it is
 * one already, or the present folder has no name that can be used. For free(3). */
char *launch_from_root(const char *template);

/* Does @template contain %p, so that no two processes of a host share the name? */
bool launch_names_process(const char *template);
