/* SPDX-License-Identifier: BSD-3-Clause */
/* The memfds that an attack makes the kernel hold. */
#pragma once

#include <sys/types.h>

/* Counts those of @daemon and of these groups of processes; one that both hold counts once. */
unsigned memfds_count(pid_t daemon, const pid_t groups[], unsigned n_groups);
