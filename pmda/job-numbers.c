/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/job-numbers.h"

#include <string.h>

/* More than there are open runs, so that there is always an entry of a run that has ended. */
enum { ENTRIES = 2 * OPEN_RUNS_MAX };

struct entry {
	uint64_t identity;
	uint64_t seen; /* the call in which the run was last seen; 0: a free entry */
	unsigned number;
};

static struct entry entries[ENTRIES];
static uint64_t n_calls;

/* FNV-1a. */
static uint64_t mix(uint64_t hash, const void *data, size_t n)
{
	const unsigned char *bytes = data;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ bytes[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static uint64_t identity_of(const struct open_run *run)
{
	uint64_t hash = mix(UINT64_C(0xcbf29ce484222325), run->id, strlen(run->id));

	hash = mix(hash, &run->begun_ns, sizeof run->begun_ns);
	return mix(hash, &run->begun_real_ns, sizeof run->begun_real_ns);
}

static struct entry *find(uint64_t identity)
{
	for (size_t i = 0; i < ENTRIES; i++)
		if (entries[i].seen && entries[i].identity == identity)
			return &entries[i];
	return NULL;
}

static bool is_taken(unsigned number)
{
	for (size_t i = 0; i < ENTRIES; i++)
		if (entries[i].seen && entries[i].number == number)
			return true;
	return false;
}

/* Replaces the entry that was last seen longest ago. */
static struct entry *add(uint64_t identity)
{
	struct entry *oldest = &entries[0];
	unsigned number = (unsigned)(identity % JOB_NUMBERS);

	while (is_taken(number))
		number = (number + 1) % JOB_NUMBERS;
	for (size_t i = 1; i < ENTRIES; i++)
		if (entries[i].seen < oldest->seen)
			oldest = &entries[i];
	*oldest = (struct entry){ .identity = identity, .number = number };
	return oldest;
}

/* Known runs come first: a new run must not replace the entry of a run that is still open. */
void job_numbers_give(const struct open_runs *runs, unsigned ret_numbers[])
{
	struct entry *entry;

	n_calls++;
	for (size_t i = 0; i < runs->n; i++) {
		entry = find(identity_of(&runs->all[i]));
		if (entry)
			entry->seen = n_calls;
	}
	for (size_t i = 0; i < runs->n; i++) {
		uint64_t identity = identity_of(&runs->all[i]);

		entry = find(identity);
		if (!entry)
			entry = add(identity);
		entry->seen = n_calls;
		ret_numbers[i] = entry->number;
	}
}
