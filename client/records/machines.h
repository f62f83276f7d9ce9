/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds which records are of one machine. Its name is not enough: ranks in containers have host
 * names of their own, but read the same uncored, so a generation belongs to one machine. A host
 * stays the same machine when uncored begins a new generation.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "client/records/names.h"
#include "client/report/record.h"

/* Without a generation, the machine is known by its host's name alone. */
static inline bool machines_is_known(const uint64_t generation[2])
{
	return generation[0] | generation[1];
}

/* Numbers the machines in .machine of each record, from 0 on. Returns how many they are; -ENOMEM.
 */
int64_t machines_find(struct record *records, uint32_t n_records);

/* Writes a line for each of @n_machines that has several names; see machines_find(). */
void machines_write(
	const struct record *records, uint32_t n_records, uint32_t n_machines, FILE *out);

/* The same for a caller that knows the names of a machine: lines of machines with several of them,
 * the first few, and at the end how many more there are. */
struct machines_said {
	FILE *out;
	uint32_t n;
};
void machines_say(struct machines_said *said, const struct names *names);
void machines_said_done(const struct machines_said *said);
