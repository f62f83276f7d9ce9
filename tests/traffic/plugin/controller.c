/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/traffic/plugin/controller.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/traffic/plugin/memory.h"

struct socket {
	pthread_mutex_t lock;
	struct cache ll;
};

enum claim { CLAIM_STRING, CLAIM_STREAM };

static struct {
	struct options options;
	struct socket sockets[TRAFFIC_NODES];
} controller;

/* --- the last level; the caller holds the socket's lock --- */

static void ll_insert(struct cpu *cpu, uint64_t line, unsigned state)
{
	struct cache *ll = &cpu->socket->ll;
	cache_way out = cache_insert(ll, line, state);

	for (unsigned i = 0; i < CACHE_SECTORS_MAX; i++)
		if (cache_way_state(out, i) & CACHE_DIRTY)
			memory_count(TRAFFIC_WRITE, cache_way_line(ll, out, i), cpu->node);
}

static void ll_read(struct cpu *cpu, uint64_t line)
{
	memory_count(TRAFFIC_READ, line, cpu->node);
	ll_insert(cpu, line, 0);
}

/* --- lines that may be written whole --- */

/* @line is no longer among the claims. */
static void claim_end(struct cpu *cpu, struct gather_line line)
{
	enum traffic_kind kind = TRAFFIC_READ;

	if (line.number == GATHER_NONE)
		return;
	if (line.bytes == GATHER_WHOLE && line.kind == CLAIM_STRING) {
		kind = TRAFFIC_ITOM;
	} else if (line.bytes == GATHER_WHOLE) {
		cpu->owed_percent += (unsigned)controller.options.speci2m_percent;
		if (cpu->owed_percent >= 100) {
			cpu->owed_percent -= 100;
			kind = TRAFFIC_SPECITOM;
		}
	}
	memory_count(kind, line.number, cpu->node);
	cache_settle(&cpu->l1, line.number);
}

static void claim_begin(struct cpu *cpu, uint64_t line, enum claim kind)
{
	claim_end(cpu, gather_add(&cpu->claims, line, kind));
}

static void claim_drop(struct cpu *cpu, uint64_t line)
{
	struct gather_line *claim = gather_find(&cpu->claims, line);

	if (claim)
		claim_end(cpu, gather_remove(&cpu->claims, claim));
}

/* A load of what was just stored needs no memory; any other one does. */
static void claim_access(struct cpu *cpu, enum access access, uint64_t address, unsigned size)
{
	struct gather_line *claim = gather_find(&cpu->claims, address / TRAFFIC_LINE_BYTES);
	uint64_t bytes = gather_bytes(address % TRAFFIC_LINE_BYTES, size);

	if (access != ACCESS_LOAD)
		claim->bytes |= bytes;
	if (claim->bytes == GATHER_WHOLE || bytes & ~claim->bytes)
		claim_end(cpu, gather_remove(&cpu->claims, claim));
}

/* A store that misses right after the last ones that missed belongs to a stream. */
static bool is_stream(struct cpu *cpu, uint64_t line)
{
	for (unsigned i = 0; i < STREAMS; i++)
		if (cpu->streams[i] == line) {
			cpu->streams[i] = line + 1;
			return true;
		}
	cpu->streams[cpu->next_stream++ % STREAMS] = line + 1;
	return false;
}

static bool wants_claim(struct cpu *cpu, enum access access, uint64_t line)
{
	return access == ACCESS_STRING ||
	       (access == ACCESS_STORE && controller.options.speci2m_percent &&
		       is_stream(cpu, line));
}

/* --- non-temporal stores --- */

static void past_end(struct cpu *cpu, struct gather_line line)
{
	if (line.number == GATHER_NONE)
		return;
	if (line.bytes != GATHER_WHOLE)
		memory_count(TRAFFIC_READ, line.number, cpu->node);
	memory_count(TRAFFIC_WRITE, line.number, cpu->node);
}

static void past_drop(struct cpu *cpu, uint64_t line)
{
	struct gather_line *buffer = gather_find(&cpu->past, line);

	if (buffer)
		past_end(cpu, gather_remove(&cpu->past, buffer));
}

/* Intel SDM volume 1, 10.4.6.2: what a cache has of the line is evicted. */
static void evict(struct cpu *cpu, uint64_t line)
{
	unsigned state;

	claim_drop(cpu, line);
	state = cache_take(&cpu->l1, line);
	pthread_mutex_lock(&cpu->socket->lock);
	state |= cache_take(&cpu->socket->ll, line);
	pthread_mutex_unlock(&cpu->socket->lock);
	if (state & CACHE_DIRTY)
		memory_count(TRAFFIC_WRITE, line, cpu->node);
}

static void store_past(struct cpu *cpu, uint64_t address, unsigned size)
{
	uint64_t number = address / TRAFFIC_LINE_BYTES;
	struct gather_line *line = gather_find(&cpu->past, number);

	if (!line) {
		evict(cpu, number);
		past_end(cpu, gather_add(&cpu->past, number, 0));
		line = gather_find(&cpu->past, number);
	}
	line->bytes |= gather_bytes(address % TRAFFIC_LINE_BYTES, size);
	if (line->bytes == GATHER_WHOLE)
		past_end(cpu, gather_remove(&cpu->past, line));
}

void cpu_fence(struct cpu *cpu)
{
	while (cpu->past.lines[0].number != GATHER_NONE)
		past_end(cpu, gather_remove(&cpu->past, cpu->past.lines));
}

/* --- the first level --- */

static void fetch(struct cpu *cpu, enum access access, uint64_t line)
{
	if (wants_claim(cpu, access, line)) {
		claim_begin(cpu, line, access == ACCESS_STRING ? CLAIM_STRING : CLAIM_STREAM);
		cache_touch(&cpu->l1, line, CACHE_CLAIMED);
		ll_insert(cpu, line, 0);
		return;
	}
	ll_read(cpu, line);
	if (controller.options.adjacent && !cache_touch(&cpu->socket->ll, line ^ 1, 0))
		ll_read(cpu, line ^ 1);
}

static void write_back(struct cpu *cpu, cache_way out)
{
	for (unsigned i = 0; i < CACHE_SECTORS_MAX; i++) {
		uint64_t line = cache_way_line(&cpu->l1, out, i);

		if (cache_way_state(out, i) & CACHE_CLAIMED)
			claim_drop(cpu, line);
		if (cache_way_state(out, i) & CACHE_DIRTY &&
			!cache_touch(&cpu->socket->ll, line, CACHE_DIRTY))
			ll_insert(cpu, line, CACHE_DIRTY);
	}
}

static __attribute__((noinline)) void miss(struct cpu *cpu, enum access access, uint64_t line)
{
	cache_way out;

	past_drop(cpu, line);
	out = cache_insert(&cpu->l1, line, access == ACCESS_LOAD ? 0 : CACHE_DIRTY);
	pthread_mutex_lock(&cpu->socket->lock);
	if (!cache_touch(&cpu->socket->ll, line, 0))
		fetch(cpu, access, line);
	write_back(cpu, out);
	pthread_mutex_unlock(&cpu->socket->lock);
}

void cpu_access(struct cpu *cpu, enum access access, uint64_t address, unsigned size)
{
	uint64_t line = address / TRAFFIC_LINE_BYTES;
	unsigned dirty = access == ACCESS_LOAD ? 0 : CACHE_DIRTY, state;

	if (access == ACCESS_PAST) {
		store_past(cpu, address, size);
		return;
	}
	state = cache_touch(&cpu->l1, line, dirty);
	if (!state) {
		miss(cpu, access, line);
		state = cache_touch(&cpu->l1, line, dirty);
	}
	if (state & CACHE_CLAIMED)
		claim_access(cpu, access, address, size);
}

/* --- making it --- */

int controller_init(const struct options *options)
{
	controller.options = *options;
	for (unsigned i = 0; i < options->n_sockets; i++) {
		int r = cache_init(&controller.sockets[i].ll, &options->ll);

		if (r < 0)
			return r;
		pthread_mutex_init(&controller.sockets[i].lock, NULL);
	}
	return 0;
}

struct cpu *cpu_new(void)
{
	struct cpu *cpu = calloc(1, sizeof *cpu);

	if (!cpu || cache_init(&cpu->l1, &controller.options.l1) < 0) {
		free(cpu);
		return NULL;
	}
	gather_init(&cpu->past);
	gather_init(&cpu->claims);
	memset(cpu->streams, 0xff, sizeof cpu->streams);
	cpu_place(cpu, 0);
	return cpu;
}

void cpu_place(struct cpu *cpu, unsigned socket)
{
	cpu->socket = &controller.sockets[socket];
	cpu->node = socket;
}
