/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of records: one that has something in each member. */
#pragma once

#include <stdio.h>
#include <string.h>

#include "client/report/record.h"
#include "common/macro.h"
#include "tests/harness/test.h"

/* As a machine with one kind of memory has them. */
static const char *const record_case_metrics[] = { "dram.read", "dram.write", "specitom",
	"check.dram.read", "hbm.read", "clock" };

static inline void record_case_metric(struct record *record, const char *name)
{
	uint32_t i = record->n_metrics++;

	strcpy(record->metrics[i], name);
	strcpy(record->units[i], strcmp(name, "clock") == 0 ? "ns" : "bytes");
}

/* hbm.read is absent everywhere. */
static inline void record_case_socket(
	const struct record *record, struct record_socket *socket, uint32_t i, uint64_t bytes)
{
	*socket = (struct record_socket){
		.socket = i,
		.window_ns = 2000000000,
		.skew_ns = 20000000,
		.quantum_bytes = 64,
	};
	for (uint32_t m = 0; m < record->n_metrics; m++)
		socket->values[m] = (struct record_value){ .count = bytes * (m + 1) };
	socket->values[4] = (struct record_value){
		.quality = UNCORE_ABSENT,
		.why = strdup("this machine has no such memory"),
	};
}

/* Bytes: read on socket 0; socket 1 has twice as many; each later metric has as many more. */
static inline void record_case_sockets(
	const struct record *record, struct record_region *region, uint64_t bytes)
{
	region->n_sockets = 2;
	region->sockets = calloc(2, sizeof *region->sockets);
	assert_non_null(region->sockets);
	record_case_socket(record, &region->sockets[0], 0, bytes);
	record_case_socket(record, &region->sockets[1], 1, 2 * bytes);
}

static inline struct record_region *record_case_region(
	struct record *record, const char *name, uint64_t bytes)
{
	struct record_region *region = &record->regions[record->n_regions++];

	*region = (struct record_region){
		.n_passages = 10,
		.n_ranks = record->n_members,
		.time_ns = 15000000,
	};
	strcpy(region->name, name);
	record_case_sockets(record, region, bytes);
	return region;
}

static inline void record_case_init(struct record *ret, uint32_t n_regions)
{
	*ret = (struct record){
		.host = "n01",
		.command = "lbm",
		.version = "0.2.0",
		.platform = "icelake-sp",
		.generation = { 0x0123456789abcdef, 1 },
		.begun_ns = 1795408200123456789,
		.ended_ns = 1795408260000000001,
		.run = 1,
	};
	for (size_t i = 0; i < ARRAY_SIZE(record_case_metrics); i++)
		record_case_metric(ret, record_case_metrics[i]);
	ret->regions = calloc(n_regions + 1, sizeof *ret->regions);
	ret->members = calloc(4, sizeof *ret->members);
	assert_true(ret->regions && ret->members);
	ret->n_members = 1;
	ret->members[0] = (struct record_member){ .rank = -1, .pid = 4711, .cpus = "0-3,8" };
}

/* A team of four, of which one died. */
static inline void record_case_team(struct record *record)
{
	strcpy(record->team, "4711.0");
	strcpy(record->job, "4711");
	record->run = 2;
	record->n_expected = record->n_members = 4;
	for (int i = 0; i < 4; i++)
		record->members[i] = (struct record_member){
			.rank = i, .pid = 100 + i, .died = i == 3, .cpus = "0"
		};
}

/* So many percent of each count moved while others were open, and half of that is theirs. */
static inline void record_case_share(
	const struct record *record, struct record_region *region, unsigned percent)
{
	for (uint32_t i = 0; i < region->n_sockets; i++)
		for (uint32_t m = 0; m < record->n_metrics; m++) {
			struct record_value *value = &region->sockets[i].values[m];
			const uint64_t others = value->count / 100 * percent;

			value->has_share = true;
			value->share = value->count - others / 2;
			value->alone = value->count - others;
		}
}
