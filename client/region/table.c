/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/table.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "client/libuncore/internal.h"
#include "common/cpus.h"
#include "common/text.h"

enum { PAGE_BYTES_MOST = 1 << 16 }; /* the largest page size of any architecture */

#define WHOLE_PAGES(n_bytes) (((n_bytes) + PAGE_BYTES_MOST - 1) / PAGE_BYTES_MOST * PAGE_BYTES_MOST)

uint64_t table_bytes(void)
{
	return WHOLE_PAGES(sizeof(struct table));
}

/* Members that begin at the same time all write the same values. */
static void table_begin(struct table *table)
{
	struct table_header *header = &table->header;

	if (__atomic_load_n(&header->magic, __ATOMIC_ACQUIRE) == TABLE_MAGIC)
		return;
	STORE(header->layout, TABLE_LAYOUT);
	__atomic_store_n(&header->magic, TABLE_MAGIC, __ATOMIC_RELEASE);
}

static struct table *table_map_memory(int fd, int flags)
{
	struct table *table = mmap(NULL, table_bytes(), PROT_READ | PROT_WRITE, flags, fd, 0);

	return table == MAP_FAILED ? NULL : table;
}

struct table *table_new(void)
{
	struct table *table = table_map_memory(-1, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE);

	if (table)
		table_begin(table);
	return table;
}

int table_map(int fd, uint64_t size_bytes, struct table **ret)
{
	struct table *table;

	if (size_bytes < table_bytes())
		return error_say(-EBADMSG, "uncored's table for this team is too small.");
	table = table_map_memory(fd, MAP_SHARED);
	if (!table)
		return error_say(-errno, "Cannot map the table of this team: %m.");
	table_begin(table);
	if (LOAD(table->header.layout) != TABLE_LAYOUT) {
		table_unmap(table);
		return error_say(-EBADMSG,
			"The table of this team is not one of this release of libuncore.");
	}
	*ret = table;
	return 0;
}

void table_unmap(struct table *table)
{
	if (table)
		munmap(table, table_bytes());
}

/* --- texts --- */

void table_copy(void *to, const void *from, size_t size_bytes)
{
	const uint64_t *source = from;
	uint64_t *target = to;

	for (size_t i = 0; i < size_bytes / sizeof *source; i++)
		STORE(target[i], LOAD(source[i]));
}

void table_write_text(char *field, const char *text, size_t field_bytes)
{
	uint64_t words[TABLE_TITLE_BYTES / sizeof(uint64_t)] = {};

	assert(field_bytes <= sizeof words);
	strncpy((char *)words, text, field_bytes - 1);
	table_copy(field, words, field_bytes);
}

void table_read_text(char *ret_text, const char *field, size_t field_bytes)
{
	uint64_t words[TABLE_TITLE_BYTES / sizeof(uint64_t)];
	char *text = (char *)words;

	assert(field_bytes <= sizeof words);
	table_copy(words, field, field_bytes);
	text[field_bytes - 1] = '\0';
	strcpy(ret_text, text_is_plain(text) ? text : "");
}

static bool has_text(const char *field, const char *text, size_t field_bytes)
{
	char found[TABLE_TITLE_BYTES];

	table_read_text(found, field, field_bytes);
	return strcmp(found, text) == 0;
}

void table_keep_why(struct table *table, unsigned metric, const char *why)
{
	char *field = table->header.whys[metric];

	/* Called at each reading, so it checks only the first 8 bytes. */
	if (!__atomic_load_n((const uint64_t *)field, __ATOMIC_RELAXED))
		table_write_text(field, why, UNCORE_TEXT_MAX);
}

void table_keep_failure(struct table *table, const char *sentence)
{
	struct table_header *header = &table->header;
	uint32_t idle = 0;

	if (!REPLACE(header->failing, idle, 1))
		return;
	TABLE_WRITE_TEXT(header->failure, sentence);
	__atomic_store_n(&header->failing, 0, __ATOMIC_RELEASE);
}

/* --- the sockets where this process runs --- */

enum { SOCKETS_MOST = 32 };

/* A program may bind its threads later, one by one; the binding by its launcher is known at load
 * time. */
static cpu_set_t loaded_on;
static bool is_known;

__attribute__((constructor)) static void note_affinity(void)
{
	is_known = sched_getaffinity(0, sizeof loaded_on, &loaded_on) == 0;
}

static uint32_t sockets_of_package(const struct uncore *handle, int package)
{
	struct uncore_socket socket = UNCORE_SOCKET_INIT;
	uint32_t mask = 0;

	for (uint32_t i = 0; i < SOCKETS_MOST && uncore_describe_socket(handle, i, &socket) == 0;
		i++)
		if ((int)socket.package == package)
			mask |= UINT32_C(1) << i;
	return mask;
}

static uint32_t own_sockets(const struct uncore *handle)
{
	const char *wish = secure_getenv("UNCORE_SOCKETS");
	uint32_t mask = 0;

	if (!wish || strcmp(wish, "own") != 0 || !is_known)
		return UINT32_MAX;
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &loaded_on))
			mask |= sockets_of_package(handle, cpus_package(cpu));
	return mask ? mask : UINT32_MAX;
}

/* --- the machine --- */

static void table_write_packages(
	struct table_header *header, const struct uncore *handle, uint32_t n_sockets)
{
	struct uncore_socket socket = UNCORE_SOCKET_INIT;
	uint32_t n = 0;

	while (n < n_sockets && n < PAGE_SOCKETS_MAX &&
		uncore_describe_socket(handle, n, &socket) == 0)
		STORE(header->packages[n++], socket.package);
	STORE(header->n_packages, n);
}

/* Members that begin at the same time all write the same values. */
static void table_write_machine(struct table_header *header, const struct uncore *handle,
	const struct uncore_machine *machine)
{
	struct uncore_daemon daemon = UNCORE_DAEMON_INIT;

	STORE(header->n_sockets, machine->n_sockets);
	STORE(header->n_metrics, machine->n_metrics);
	table_copy(header->generation, machine->generation, sizeof header->generation);
	TABLE_WRITE_TEXT(header->platform, machine->platform);
	for (uint32_t i = 0; i < machine->n_metrics; i++) {
		TABLE_WRITE_TEXT(header->names[i], uncore_metric_name(handle, i));
		TABLE_WRITE_TEXT(header->units[i], uncore_metric_unit(handle, i));
	}
	table_write_packages(header, handle, machine->n_sockets);
	if (uncore_describe_daemon(handle, &daemon) == 0) {
		STORE(header->quantum, daemon.quantum);
		STORE(header->site_gap_ns, daemon.min_interval_ns);
	}
	__atomic_store_n(&header->is_described, 1, __ATOMIC_RELEASE);
}

static bool machine_agrees(const struct table_header *header, const struct uncore *handle,
	const struct uncore_machine *machine)
{
	if (LOAD(header->n_sockets) != machine->n_sockets ||
		LOAD(header->n_metrics) != machine->n_metrics)
		return false;
	for (uint32_t i = 0; i < machine->n_metrics; i++)
		if (!has_text(header->names[i], uncore_metric_name(handle, i), UNCORE_NAME_MAX) ||
			!has_text(header->units[i], uncore_metric_unit(handle, i), UNCORE_NAME_MAX))
			return false;
	return true;
}

int table_describe(struct table *table, const struct uncore *handle, bool is_member)
{
	struct uncore_machine machine = UNCORE_MACHINE_INIT;
	int r = uncore_describe(handle, &machine);

	if (r < 0)
		return r;
	if (!__atomic_load_n(&table->header.is_described, __ATOMIC_ACQUIRE))
		table_write_machine(&table->header, handle, &machine);
	if (is_member)
		__atomic_fetch_or(&table->header.sockets, own_sockets(handle), __ATOMIC_RELAXED);
	if (!machine_agrees(&table->header, handle, &machine))
		return error_say(-ESTALE,
			"uncored serves other metrics now than when the first region began.");
	return 0;
}

/* --- regions --- */

/* Members that add a text at the same time all write the same; if one of them is killed, the others
 * complete it. @key: of the place; 0: it is free. False: another text is there. */
static bool table_claim(
	uint64_t *key, uint64_t hash, const char *text, char *field, size_t field_bytes)
{
	uint64_t found = __atomic_load_n(key, __ATOMIC_ACQUIRE);

	if (!found)
		REPLACE(*key, found, hash);
	if (found && found != hash)
		return false;
	if (!has_text(field, text, field_bytes))
		table_write_text(field, text, field_bytes);
	return true;
}

/* Two of 1000 texts have the same hash once in 10^13 tables. */
static uint64_t table_hash_of(const char *text)
{
	uint64_t hash = wire_hash(text, strlen(text));

	return hash ? hash : 1;
}

static bool claim_region(struct table_region *region, uint64_t hash, const char *name)
{
	return table_claim(&region->hash, hash, name, region->name, sizeof region->name);
}

unsigned table_find_or_add(struct table *table, const char *name)
{
	const uint64_t hash = table_hash_of(name);

	for (unsigned i = 0; i < TABLE_OTHERS; i++)
		if (claim_region(&table->regions[i], hash, name))
			return i;
	for (unsigned i = 0; i < TABLE_OTHERS_LISTED; i++)
		if (table_claim(&table->others[i].hash, hash, name, table->others[i].name,
			    sizeof table->others[i].name))
			break;
	claim_region(&table->regions[TABLE_OTHERS], 1, "(other names)");
	return TABLE_OTHERS;
}

int table_find_or_add_unit(struct table *table, unsigned region, const char *unit)
{
	struct table_region *of = &table->regions[region];

	for (int i = 0; i < TABLE_UNITS; i++)
		if (table_claim(&of->unit_hashes[i], table_hash_of(unit), unit, of->units[i],
			    sizeof of->units[i]))
			return i;
	return -ENOSPC;
}

void table_keep_title(struct table *table, unsigned region, const char *title)
{
	uint64_t *known = &table->regions[region].has_title;

	if (__atomic_load_n(known, __ATOMIC_ACQUIRE))
		return;
	TABLE_WRITE_TEXT(table->titles[region], title);
	__atomic_store_n(known, 1, __ATOMIC_RELEASE);
}

/* A title that nobody has written is not read, because that would allocate its memory. */
void table_read_title(const struct table *table, unsigned region, char ret[TABLE_TITLE_BYTES])
{
	*ret = '\0';
	if (__atomic_load_n(&table->regions[region].has_title, __ATOMIC_ACQUIRE))
		table_read_text(ret, table->titles[region], TABLE_TITLE_BYTES);
}

/* A thread of the member is inside, as far as is known. */
static bool table_is_inside(const struct table *table, unsigned slot, unsigned region)
{
	return table_phase(table, slot) == TABLE_JOINED && table_has_cell(table, slot, region) &&
	       __atomic_load_n(&table->cells[slot][region].inside, __ATOMIC_SEQ_CST);
}

/* The search begins at the next slot: where many are inside, it ends soon, and not all look at the
 * same ones. */
bool table_is_only(const struct table *table, unsigned slot, unsigned region)
{
	const unsigned n_slots = table_count_slots(table);

	for (unsigned i = 1; i < n_slots; i++)
		if (table_is_inside(table, (slot + i) % n_slots, region))
			return false;
	return true;
}

/* Begins where the last count ended: regions only become more. */
unsigned table_count_regions(const struct table *table)
{
	uint32_t *known = (uint32_t *)&table->header.n_regions;
	const unsigned before = LOAD(*known);
	unsigned n = before <= TABLE_REGIONS_MAX ? before : 0;

	while (n < TABLE_REGIONS_MAX && __atomic_load_n(&table->regions[n].hash, __ATOMIC_ACQUIRE))
		n++;
	if (n != before)
		STORE(*known, n);
	return n;
}
