/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/traffic/plugin/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/macro.h"

/* A user's addresses have 47 bits: a table of tables of pages, of which a program uses few. */
enum { PAGE_BITS = 12, TABLE_BITS = 18, TABLES = 1 << (47 - PAGE_BITS - TABLE_BITS) };

static struct {
	struct traffic_counters *counters;
	bool is_system;
	unsigned n_channels, n_nodes;
	uint64_t begins[TRAFFIC_NODES]; /* of nodes, in the addresses that QEMU tells */
	uint8_t *tables[TABLES];        /* of each page the node + 1; 0: nobody touched it */
} memory;

struct traffic_counters *memory_counters(void)
{
	return memory.counters;
}

bool memory_is_simulated(void)
{
	return __atomic_load_n(&memory.counters->running, __ATOMIC_RELAXED);
}

/* --- nodes --- */

static void place_nodes(const struct options *options)
{
	uint64_t begin = 0;

	memory.n_nodes = options->n_nodes ? (unsigned)options->n_nodes : 1;
	for (unsigned i = 0; i < memory.n_nodes; i++) {
		memory.begins[i] = options->joined ? begin : 2 * begin;
		begin += options->node_bytes[i];
	}
}

static unsigned node_of_address(uint64_t address)
{
	unsigned node = memory.n_nodes - 1;

	while (address < memory.begins[node])
		node--;
	return node;
}

/* NULL: there is no memory for the table. */
static uint8_t *table_of_page(uint64_t page)
{
	uint8_t **at = &memory.tables[page >> TABLE_BITS & (TABLES - 1)], *none = NULL;
	uint8_t *table = __atomic_load_n(at, __ATOMIC_ACQUIRE);

	if (table)
		return table;
	table = calloc(1, 1 << TABLE_BITS);
	if (table && !__atomic_compare_exchange_n(
			     at, &none, table, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		free(table);
		table = none; /* another thread was faster */
	}
	return table;
}

static unsigned node_of_page(uint64_t page, unsigned near_node)
{
	uint8_t *table = table_of_page(page), node = 0;

	if (!table || __atomic_compare_exchange_n(&table[page & ((1 << TABLE_BITS) - 1)], &node,
			      (uint8_t)(near_node + 1), false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return near_node;
	return node - 1;
}

void memory_forget(uint64_t address, uint64_t size)
{
	uint64_t page = address >> PAGE_BITS;
	uint64_t end = (address + size + (1 << PAGE_BITS) - 1) >> PAGE_BITS;

	if (end < page || end > (uint64_t)TABLES << TABLE_BITS)
		return;
	while (page < end) {
		uint64_t in_table = page & ((1 << TABLE_BITS) - 1);
		uint64_t n = (1 << TABLE_BITS) - in_table;
		uint8_t *table =
			__atomic_load_n(&memory.tables[page >> TABLE_BITS], __ATOMIC_ACQUIRE);

		n = n < end - page ? n : end - page;
		if (table)
			memset(table + in_table, 0, n);
		page += n;
	}
}

void memory_count(enum traffic_kind kind, uint64_t line, unsigned near_node)
{
	uint64_t address = line * TRAFFIC_LINE_BYTES;
	unsigned node = memory.is_system ? node_of_address(address)
					 : node_of_page(address >> PAGE_BITS, near_node);
	/* Any rule that spreads a stream evenly does; higher bits keep strides from one channel. */
	uint64_t channel = (line ^ line >> 7 ^ line >> 13) % memory.n_channels;

	__atomic_fetch_add(&memory.counters->lines[node][kind][channel], 1, __ATOMIC_RELAXED);
}

/* --- the counters --- */

static int complain(const char *path, const char *why, int error)
{
	fprintf(stderr, "memory-controller: the counts cannot be shown in %s: %s: %s.\n", path, why,
		strerror(error));
	return -error;
}

/* Readers may have the file already, and the program before left its counts: they go on. */
static int map_counters(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	void *map;

	if (fd < 0)
		return complain(path, "it cannot be opened", errno);
	if (size < (off_t)sizeof *memory.counters && ftruncate(fd, sizeof *memory.counters) < 0) {
		int error = errno;

		close(fd);
		return complain(path, "it cannot be made long enough", error);
	}
	map = mmap(NULL, sizeof *memory.counters, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return complain(path, "it cannot be mapped", errno);
	memory.counters = map;
	return 0;
}

int memory_open(const struct options *options, bool is_system)
{
	int r = map_counters(options->counters);

	if (r < 0)
		return r;
	if (memory.counters->magic != TRAFFIC_MAGIC) {
		memset(memory.counters, 0, sizeof *memory.counters);
		memory.counters->magic = TRAFFIC_MAGIC;
	}
	memory.counters->wanted = memory.counters->running = !options->wait;
	memory.is_system = is_system;
	memory.n_channels = (unsigned)options->n_channels;
	place_nodes(options);
	return 0;
}
