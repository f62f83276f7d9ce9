/* SPDX-License-Identifier: BSD-3-Clause */
/* What the kernel says of the machine itself, for the reports that sites send in. */
#pragma once

/* Calls @take for each thing that /proc/cpuinfo says of the first CPU and that tells one kind from
 * another, by its own keys: x86's, POWER's, Arm's. */
void machine_processor(
	void (*take)(void *context, const char *key, const char *value), void *context);

/* How many DIMMs and memory controllers the kernel shows (EDAC); 0 where it shows none. */
struct machine_memory {
	unsigned n_dimms, n_controllers;
};
struct machine_memory machine_memory(void);
