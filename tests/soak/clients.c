/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/soak/clients.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "tests/harness/test.h"

enum { READS = 50, SOCKETS_MAX = 2, COMPLAINT_MAX = 512 };

/* The last samples of one process, over all its connections. */
struct memory {
	uint64_t generation[2];
	struct uncore_sample last[SOCKETS_MAX];
};

static struct shared {
	struct clients_tally tally;
	int n_complaints;
	char complaint[COMPLAINT_MAX];
} * shared;

const char *clients_complaint(void)
{
	return shared->complaint;
}

static void add(uint64_t *counter)
{
	__atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
}

static void complain(const char *what, uint64_t before, uint64_t after)
{
	add(&shared->tally.wrong);
	if (__atomic_add_fetch(&shared->n_complaints, 1, __ATOMIC_SEQ_CST) == 1)
		snprintf(shared->complaint, COMPLAINT_MAX, "%s (%" PRIu64 ", then %" PRIu64 "): %s",
			what, before, after, uncore_error_text());
}

/* Counts a failure under its possible cause. */
static void note_failure(int r)
{
	switch (r) {
	case -EACCES:
	case -EDQUOT:
		add(&shared->tally.refused);
		break;
	case -ENOTCONN:
	case -ECONNRESET:
	case -ECONNREFUSED:
	case -EAGAIN: /* killed while it wrote */
		add(&shared->tally.gone);
		break;
	case -ETIMEDOUT:
		add(&shared->tally.late);
		break;
	default:
		complain("an error that should not be", 0, (uint64_t)-r);
	}
}

static void check_sample(struct memory *memory, const struct uncore_sample *sample)
{
	struct uncore_sample *last = &memory->last[sample->socket];

	if (!memory->generation[0])
		memcpy(memory->generation, sample->generation, sizeof memory->generation);
	if (memcmp(memory->generation, sample->generation, sizeof memory->generation) != 0)
		complain("another generation", memory->generation[0], sample->generation[0]);
	if (sample->sweep < last->sweep)
		complain("an older sweep", last->sweep, sample->sweep);
	for (uint32_t i = 0; i < sample->n_values; i++)
		if (!(sample->values[i].quality & UNCORE_ABSENT) &&
			sample->values[i].count < last->values[i].count)
			complain("a value went back", last->values[i].count,
				sample->values[i].count);
	*last = *sample;
}

static int read_once(struct memory *memory, struct uncore *uncore)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	uint32_t socket = (uint32_t)random() % standin_sockets();
	int r = uncore_read(uncore, socket, random() % 4 ? UNCORE_FRESH : UNCORE_CACHED, &sample);

	if (r == 0)
		check_sample(memory, &sample);
	return r;
}

static void read_for_a_while(struct memory *memory, const char *socket_path)
{
	struct uncore *uncore = NULL;
	int r = uncore_open(socket_path, &uncore);

	for (unsigned i = 0; r == 0 && i < READS; i++) {
		touch_pages(16);
		r = read_once(memory, uncore);
		if (r == 0)
			add(&shared->tally.reads);
		usleep((useconds_t)random() % 4000);
	}
	if (r < 0)
		note_failure(r);
	else
		add(&shared->tally.connections);
	uncore_close(uncore);
}

static void count_a_region(void)
{
	int r = uncore_region_begin("soak");

	touch_pages(64);
	usleep((useconds_t)random() % 20000);
	if (uncore_region_end("soak") == 0 && r == 0)
		add(&shared->tally.regions);
}

/* The life of a client; some clients die without closing anything. */
static int live(void *argument)
{
	const struct clients *clients = argument;
	struct memory memory = {};

	srandom((unsigned)getpid());
	setenv("UNCORE_SOCKET", clients->daemon->socket_path, 1);
	setenv("UNCORE_REPORT", "/dev/null", 1);
	for (;;) {
		read_for_a_while(&memory, clients->daemon->socket_path);
		count_a_region();
		if (random() % 8 == 0 && fork() == 0)
			_exit(read_once(&memory, NULL) == 0);
	}
}

void clients_init(struct clients *clients, const struct daemon_process *daemon)
{
	shared = mmap(
		NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	*clients = (struct clients){ .daemon = daemon, .tally = &shared->tally };
}

void clients_start(struct clients *clients)
{
	for (unsigned i = 0; i < N_CLIENTS; i++)
		clients->pids[i] = start_as(i % 2 ? NOBODY : SOMEBODY, live, clients);
}

void clients_stop(struct clients *clients)
{
	for (unsigned i = 0; i < N_CLIENTS; i++) {
		kill(clients->pids[i], SIGKILL);
		wait_for(clients->pids[i], 10);
	}
}
