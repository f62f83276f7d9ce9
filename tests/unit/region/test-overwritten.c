/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Another program of the user writes to a table all the time. Figures are wrong then, but each call
 * of a member ends, and none touches memory that is not the table's.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/collect/snapshot.h"
#include "client/region/cell.h"
#include "client/region/interval.h"
#include "client/region/meter.h"
#include "client/report/record.h"
#include "common/clock.h"
#include "tests/unit/region/region-case.h"

enum { PASSAGES = 5000, SECONDS_MOST = 60 };

struct scene {
	struct fake_daemon daemon;
	struct table *table;
	struct member member;
	struct meter meter;
};

static void begin(struct scene *scene, const struct fake_options *options)
{
	int fd = memfd_create("team", MFD_CLOEXEC);

	memset(scene, 0, sizeof *scene);
	start_with(&scene->daemon, options);
	assert_int_equal(ftruncate(fd, (off_t)table_bytes()), 0);
	assert_int_equal(table_map(fd, table_bytes(), &scene->table), 0);
	close(fd);
	assert_int_equal(table_find_or_add(scene->table, "solve"), 0);
	assert_int_equal(member_join(&scene->member, scene->table, MEMBER_ALONE, TABLE_JOINED), 0);
	meter_init(&scene->meter, scene->table);
}

static void finish(struct scene *scene)
{
	interval_done(&scene->member);
	meter_disown(&scene->meter);
	table_unmap(scene->table);
	stop(&scene->daemon);
}

static void read_now(struct scene *scene)
{
	struct readout readout = { .n_sockets = 0 };

	if (meter_read(&scene->meter, &readout) ==
		0) /* the machine in the table may be another now */
		interval_add(&scene->member, &readout);
	readout_done(&readout);
}

static void enter(struct scene *scene)
{
	read_now(scene);
	cell_begin(&scene->table->cells[scene->member.slot][0], clock_now_ns(), clock_now_ns());
}

static void leave(struct scene *scene)
{
	read_now(scene);
	cell_end(&scene->table->cells[scene->member.slot][0], 1, clock_now_ns(), clock_now_ns());
}

static void look(const struct scene *scene)
{
	struct record record = { .host = "" };

	CHECK(snapshot(scene->table, &record) == 0);
	record_done(&record);
}

/* --- another program --- */

static pid_t start_overwriting(struct scene *scene, void (*overwrite)(struct table *, uint32_t))
{
	pid_t pid = fork();

	for (uint32_t n = 1; pid == 0; n = n * 1664525 + 1013904223)
		overwrite(scene->table, n);
	assert_true(pid > 0);
	return pid;
}

/* The member must go on beside it: an alarm ends what never ends. */
static void pass_beside(void (*overwrite)(struct table *, uint32_t), int n_passages)
{
	static struct scene scene;
	pid_t pid, other;
	int status;

	begin(&scene, NULL);
	other = start_overwriting(&scene, overwrite);
	pid = fork();
	if (pid == 0) {
		alarm(SECONDS_MOST);
		signal(SIGSEGV, SIG_DFL); /* cmocka would go on with the other cases here */
		meter_init(&scene.meter, scene.table);
		for (int i = 0; i < n_passages; i++) {
			enter(&scene);
			leave(&scene);
			if (i % 100 == 0)
				look(&scene);
		}
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	kill(other, SIGKILL);
	assert_int_equal(waitpid(other, NULL, 0), other);
	assert_int_equal(status, 0);
	finish(&scene);
}

#define OVERWRITE(field, number) __atomic_store_n(&(field), number, __ATOMIC_RELAXED)

static void overwrite_numbers(struct table *table, uint32_t n)
{
	OVERWRITE(table->header.n_slots, n);
	OVERWRITE(table->header.n_metrics, n);
	OVERWRITE(table->header.n_posts, (uint64_t)n << 8);
	OVERWRITE(table->header.n_taken, (uint64_t)n << 9);
	OVERWRITE(table->header.added, n);
	OVERWRITE(table->header.planned, n + (n >> 8 & 1));
	OVERWRITE(table->header.adder, n >> 8 & 1 ? n : 0);
}

CASE("numbers of a table are overwritten while a member uses them")
{
	pass_beside(overwrite_numbers, PASSAGES);
}

static void overwrite_interval(struct table *table, uint32_t n)
{
	struct table_interval *interval = &table->intervals[n >> 8 & 1];

	OVERWRITE(interval->n_parts, n);
	OVERWRITE(interval->n_sockets, n);
	OVERWRITE(interval->to.n_sockets, n);
	OVERWRITE(interval->total_ns, n);
	OVERWRITE(interval->parts[n >> 9 & 1].place, (uint16_t)n);
	OVERWRITE(interval->parts[n >> 9 & 1].own_ns, n);
	OVERWRITE(table->sums[0].number[n >> 8 & 1], n);
	OVERWRITE(table->sums[0].n_sockets[n >> 8 & 1], n);
}

CASE("an interval and sums are overwritten while a member adds them")
{
	pass_beside(overwrite_interval, PASSAGES);
}

static void overwrite_cell(struct table *table, uint32_t n)
{
	OVERWRITE(table->cells[0][0].lock, n);
	OVERWRITE(table->cells[0][0].inside, n);
	OVERWRITE(table->cells[0][0].opened_ns, n);
	OVERWRITE(table->seen[0][0].n_left, n);
	OVERWRITE(table->slots[0].used[n >> 8 & 15], n);
	OVERWRITE(table->regions[0].row, n);
}

CASE("cells are overwritten while a member counts in them")
{
	pass_beside(overwrite_cell, PASSAGES);
}

CASE("a title is kept, and what is not text is none")
{
	struct table *table = table_new();
	char title[TABLE_TITLE_BYTES];

	assert_non_null(table);
	table_keep_title(table, 3, "kept");
	table_keep_title(table, 3, "later");
	table_read_title(table, 3, title);
	assert_string_equal(title, "kept");
	table_read_title(table, 4, title);
	assert_string_equal(title, "");
	memset(table->titles[3], 0xff, TABLE_TITLE_BYTES);
	table_read_title(table, 3, title);
	assert_string_equal(title, "");
	table_unmap(table);
}
