/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * paced SEED PASSAGES CPU REGION:PAGES[,REGION:PAGES]..: a rank that goes through regions at random
 * and waits for nobody. Inside of each it touches so many new pages every half millisecond, for 2
 * to 5 ms; between them it does nothing for up to 1 ms. Prints how many pages it touched in each.
 *
 * With ONE+OTHER as REGION a second thread, which touches nothing, is in OTHER while this one is in
 * ONE.
 */
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/harness/program-region.h"
#include "tests/harness/program.h"

enum { REGIONS_MOST = 8, PAGES_MOST = 4096, STEP_US = 500, PAUSE_US = 1000 };

struct paced {
	char name[64];
	char *other;    /* or NULL */
	size_t pages;   /* each ms */
	size_t touched; /* in all */
};

static struct paced regions[REGIONS_MOST];
static unsigned n_regions;
static size_t page_bytes;
static volatile char *memory;
static pthread_barrier_t together; /* of this thread and the second one */
static const char *second_is_in;   /* NULL: it shall end */

static void parse(char *text)
{
	for (char *word = strtok(text, ","); word; word = strtok(NULL, ",")) {
		char *colon = strchr(word, ':');

		if (!colon || n_regions == REGIONS_MOST)
			errx(2, "'%s' is not REGION:PAGES, or there are too many.", word);
		*colon = '\0';
		snprintf(regions[n_regions].name, sizeof regions->name, "%s", word);
		regions[n_regions].other = strchr(regions[n_regions].name, '+');
		if (regions[n_regions].other)
			*regions[n_regions].other++ = '\0';
		regions[n_regions++].pages = program_number(colon + 1, PAGES_MOST);
	}
	if (!n_regions)
		errx(2, "There is no region.");
}

static void touch(size_t pages)
{
	for (size_t i = 0; i < pages; i++)
		memory[i * page_bytes] = 1;
	if (madvise((void *)memory, pages * page_bytes, MADV_DONTNEED) < 0)
		err(1, "madvise");
}

/* Waits, and touches what is due for that time. Returns how much that is. */
static size_t step(const struct paced *region)
{
	const uint64_t begun_ns = clock_now_ns();
	size_t pages;

	usleep(STEP_US);
	pages = region->pages * (clock_now_ns() - begun_ns) / 1000000;
	pages = pages < PAGES_MOST ? pages : PAGES_MOST;
	touch(pages);
	return pages;
}

static void begin(const struct paced *region)
{
	if (region->other) {
		second_is_in = region->other;
		pthread_barrier_wait(&together);
	}
	program_begin(region->name);
}

static void end(const struct paced *region)
{
	if (region->other)
		pthread_barrier_wait(&together);
	program_end(region->name);
}

static void pass(struct paced *region)
{
	const unsigned steps = 4 + (unsigned)rand() % 7;

	begin(region);
	for (unsigned i = 0; i < steps; i++)
		region->touched += step(region);
	end(region);
}

static void *be_second(void *unused)
{
	(void)unused;
	while (pthread_barrier_wait(&together), second_is_in) {
		program_begin(second_is_in);
		pthread_barrier_wait(&together);
		program_end(second_is_in);
	}
	return NULL;
}

static void pass_all(uint64_t passages)
{
	pthread_t second;

	if (pthread_barrier_init(&together, NULL, 2) != 0 ||
		pthread_create(&second, NULL, be_second, NULL) != 0)
		errx(1, "Cannot start a thread.");
	for (uint64_t i = 0; i < passages; i++) {
		pass(&regions[(unsigned)rand() % n_regions]);
		usleep((useconds_t)rand() % PAUSE_US);
	}
	second_is_in = NULL;
	pthread_barrier_wait(&together);
	pthread_join(second, NULL);
}

int main(int argc, char *argv[])
{
	if (argc != 5)
		errx(2, "Usage: paced SEED PASSAGES CPU REGION:PAGES[,REGION:PAGES]..");
	srand((unsigned)program_number(argv[1], UINT32_MAX));
	program_run_on((int)program_number(argv[3], CPU_SETSIZE - 1));
	parse(argv[4]);
	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	memory = mmap(NULL, PAGES_MOST * page_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED ||
		madvise((void *)memory, PAGES_MOST * page_bytes, MADV_NOHUGEPAGE) < 0)
		err(1, "Cannot map memory");
	pass_all(program_number(argv[2], UINT32_MAX));
	for (unsigned i = 0; i < n_regions; i++)
		printf("%s %zu\n", regions[i].name, regions[i].touched);
	return 0;
}
