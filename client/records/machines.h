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

/* Sentences of one kind. The first few are written, and at the end how many more there are. */
struct note_kind {
	FILE *out;
	size_t n;
};
bool note_kind_goes_on(struct note_kind *kind); /* false: do not write this one */
void note_kind_end(const struct note_kind *kind);
