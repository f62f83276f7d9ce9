/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Members of a table are stopped and killed at any moment. The table never becomes wrong for it,
 * and nobody waits. Each member is a process; readings come from a fake daemon whose counts rise
 * with each sweep.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "client/region/cell.h"
#include "client/region/member.h"
#include "client/region/step.h"
#include "client/region/stretch.h"
#include "client/region/sums.h"
#include "client/region/word.h"
#include "common/clock.h"
#include "tests/unit/region/region-case.h"

enum { REGIONS = 3, MEMBERS = 4, KILLS = 1000, STOPS = 50, RARELY = 64 };

static const uint64_t DEADLINE_NS = 60000000000U;

/* What the test's processes share beside the table. */
struct progress {
	atomic_uint_least64_t passages[MEMBERS];
};

struct scene {
	struct fake_daemon daemon;
	struct table *table;
	int fd;
	struct progress *progress;
	pid_t pids[MEMBERS];
	struct table_record seen[REGIONS]; /* by the last look */
};

static void begin(struct scene *scene)
{
	scene->progress = mmap(NULL, sizeof *scene->progress, PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(scene->progress != MAP_FAILED);
	start_with(&scene->daemon, NULL);
	scene->fd = memfd_create("team", MFD_CLOEXEC);
	assert_int_equal(ftruncate(scene->fd, (off_t)table_bytes()), 0);
	assert_int_equal(table_map(scene->fd, table_bytes(), &scene->table), 0);
	for (int i = 0; i < REGIONS; i++)
		assert_int_equal(
			table_find_or_add(scene->table, (char[]){ 'a' + (char)i, '\0' }), i);
}

static void finish(struct scene *scene)
{
	table_unmap(scene->table);
	close(scene->fd);
	munmap(scene->progress, sizeof *scene->progress);
	stop(&scene->daemon);
}

/* --- members --- */

static void enter(struct member *member, struct meter *meter, unsigned region, uint64_t now_ns)
{
	struct reading reading = { .meter = meter, .edge = region };

	cell_begin(&member->table->cells[member->slot][region], now_ns);
	if (!stretch_is_held(member->table, region))
		CHECK(stretch_enter(member, region, clock_now_ns(), &reading) == 0);
	stretch_advance_others(member, region, &reading);
	reading_done(&reading);
}

static void leave(struct member *member, struct meter *meter, unsigned region, uint64_t begun_ns)
{
	struct reading reading = { .meter = meter, .edge = region };

	cell_end(&member->table->cells[member->slot][region], begun_ns, clock_now_ns());
	stretch_check_holder(member, region);
	CHECK(stretch_leave(member, region, clock_now_ns(), &reading) == 0);
	stretch_advance_others(member, region, &reading);
	reading_done(&reading);
}

static void pass_for_ever(struct scene *scene, int number)
{
	struct member member;
	struct meter meter;
	/* Each process has its own lock on the file: it must not close the parent's descriptor. */
	CHECK(member_join(&member, scene->table, scene->fd) == 0);
	stretch_settle_former(&member);
	meter_init(&meter, scene->table);
	srand((unsigned)getpid());
	for (;;) {
		unsigned region = (unsigned)rand() % REGIONS;
		uint64_t now_ns = clock_now_ns();

		enter(&member, &meter, region, now_ns);
		if (rand() % RARELY == 0)
			usleep(100);
		leave(&member, &meter, region, now_ns);
		atomic_fetch_add(&scene->progress->passages[number], 1);
		if (rand() % RARELY == 0) {
			member_look_for_dead(&member);
			stretch_settle_dead(&member, NULL);
		}
	}
}

static void spawn(struct scene *scene, int number)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		pass_for_ever(scene, number);
	scene->pids[number] = pid;
}

static void kill_one(struct scene *scene, int number)
{
	int status;

	kill(scene->pids[number], SIGKILL);
	assert_int_equal(waitpid(scene->pids[number], &status, 0), scene->pids[number]);
	assert_true(WIFSIGNALED(status)); /* no check of its own has failed */
}

/* --- what must hold at any time --- */

static void check_rises(const struct table_record *before, const struct table_record *now)
{
	assert_true(now->n_sockets == FAKE_SOCKETS);
	assert_true(now->n_stretches >= before->n_stretches);
	assert_true(now->lost_ns >= before->lost_ns);
	for (unsigned s = 0; s < FAKE_SOCKETS; s++) {
		const struct table_socket *old = &before->sockets[s], *new = &now->sockets[s];

		assert_true(new->window_ns >= old->window_ns);
		assert_true(new->n_readings >= old->n_readings);
		assert_true(new->last.sweep >= old->last.sweep);
		assert_true(new->sums[0].count >= old->sums[0].count);
		/* Each sweep counts one step more. */
		assert_true(new->sums[0].count % FAKE_STEP == 0);
		assert_true(new->sums[0].count <= new->last.values[0].count);
	}
}

static void look(struct scene *scene)
{
	for (unsigned i = 0; i < REGIONS; i++) {
		struct table_record now;

		memset(&now, 0, sizeof now);
		if (!step_copy_record(scene->table, i, &now))
			continue;
		check_rises(&scene->seen[i], &now);
		scene->seen[i] = now;
	}
}

/* Nobody writes any more. A record has one owner: a region, or a member that may write it. */
static void check_owners(const struct scene *scene)
{
	static bool is_owned[TABLE_RECORDS];

	memset(is_owned, 0, sizeof is_owned);
	for (unsigned i = 0; i < REGIONS; i++) {
		unsigned record = word_of(scene->table, i).record;

		assert_true(record && !is_owned[record]);
		is_owned[record] = true;
	}
	for (unsigned i = 0; i < table_count_slots(scene->table); i++) {
		unsigned record = scene->table->slots[i].spare;

		if (table_phase(scene->table, i) == TABLE_DIED || !record)
			continue;
		assert_false(is_owned[record]);
		is_owned[record] = true;
	}
}

/* All have died or left. A process that comes then finds every region usable. */
static void check_usable(struct scene *scene)
{
	struct member member;
	struct meter meter;
	struct table_record before, after;

	assert_int_equal(member_join(&member, scene->table, scene->fd), 0);
	meter_init(&meter, scene->table);
	stretch_settle_former(&member);
	assert_int_equal(member_look_for_dead(&member), 0);
	stretch_settle_dead(&member, NULL);
	for (unsigned i = 0; i < REGIONS; i++) {
		assert_int_equal(word_of(scene->table, i).holder, 0);
		assert_true(step_copy_record(scene->table, i, &before));
		enter(&member, &meter, i, clock_now_ns());
		leave(&member, &meter, i, clock_now_ns());
		assert_true(step_copy_record(scene->table, i, &after));
		assert_int_equal(after.n_stretches, before.n_stretches + 1);
		assert_int_equal(after.sockets[0].sums[0].count,
			before.sockets[0].sums[0].count + FAKE_STEP);
	}
	member_leave(&member);
	check_owners(scene);
	member_done(&member);
	meter_disown(&meter);
}

/* --- cases --- */

CASE("members may be killed at any time")
{
	static struct scene scene;

	memset(&scene, 0, sizeof scene);
	begin(&scene);
	srand(1);
	for (int i = 0; i < MEMBERS; i++)
		spawn(&scene, i);
	for (int n = 0; n < KILLS; n++) {
		usleep((useconds_t)rand() % 3000);
		kill_one(&scene, n % MEMBERS);
		look(&scene);
		spawn(&scene, n % MEMBERS);
		look(&scene);
	}
	for (int i = 0; i < MEMBERS; i++)
		kill_one(&scene, i);
	check_usable(&scene);
	finish(&scene);
}

static void wait_for_passage(const struct scene *scene, int number)
{
	const uint64_t before = atomic_load(&scene->progress->passages[number]);
	const uint64_t deadline_ns = clock_deadline_ns(DEADLINE_NS);

	while (atomic_load(&scene->progress->passages[number]) < before + 3) {
		assert_true(clock_now_ns() < deadline_ns);
		usleep(100);
	}
}

CASE("a member that is stopped keeps nobody waiting")
{
	static struct scene scene;

	memset(&scene, 0, sizeof scene);
	begin(&scene);
	srand(2);
	for (int i = 0; i < MEMBERS; i++)
		spawn(&scene, i);
	for (int i = 0; i < MEMBERS; i++)
		wait_for_passage(&scene, i);
	for (int n = 0; n < STOPS; n++) {
		usleep((useconds_t)rand() % 3000);
		for (int i = 1; i < MEMBERS; i++) /* all but one */
			kill(scene.pids[(n + i) % MEMBERS], SIGSTOP);
		wait_for_passage(&scene, n % MEMBERS);
		look(&scene);
		for (int i = 1; i < MEMBERS; i++)
			kill(scene.pids[(n + i) % MEMBERS], SIGCONT);
	}
	for (int i = 0; i < MEMBERS; i++)
		kill_one(&scene, i);
	check_usable(&scene);
	finish(&scene);
}
