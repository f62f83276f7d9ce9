/* SPDX-License-Identifier: BSD-3-Clause */
/* The rank that a parallel job's launcher gave this process, and file names made of it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum { LAUNCH_HOST_MAX = 256 }; /* bytes, with the final NUL */

/* The MPI rank of this process, or -1: no launcher has set one. */
int64_t launch_rank(void);

/* This host's name, or "unknown". */
void launch_host(char ret_name[LAUNCH_HOST_MAX]);

/*
 * Expands %p (process id), %h (host), %r (rank, or process id if there is none) and %% in
 * @template; *@ret_path is the caller's. -EINVAL: any other %; -ENOMEM.
 */
int launch_expand(const char *template, char **ret_path);

/* Does @template contain %p, so that no two processes of a host share the name? */
bool launch_names_process(const char *template);
