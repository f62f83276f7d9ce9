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
#include "client/region/stretch.h"
#include "client/region/word.h"
#include "client/report/record.h"
#include "common/clock.h"
#include "tests/unit/region/region-case.h"

enum { PASSAGES = 20000, PASSAGES_OF_WORDS = 5, SECONDS_MOST = 60 };

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
	assert_int_equal(member_join(&scene->member, scene->table, MEMBER_ALONE), 0);
	meter_init(&scene->meter, scene->table);
}

static void finish(struct scene *scene)
{
	member_done(&scene->member);
	meter_disown(&scene->meter);
	table_unmap(scene->table);
	stop(&scene->daemon);
}

static int enter(struct scene *scene)
{
	struct reading reading = { .meter = &scene->meter };
	int r;

	cell_begin(&scene->table->cells[scene->member.slot][0], 1);
	r = stretch_enter(&scene->member, 0, clock_now_ns(), &reading);
	reading_done(&reading);
	return r;
}

static int leave(struct scene *scene)
{
	struct reading reading = { .meter = &scene->meter };
	int r;

	cell_end(&scene->table->cells[scene->member.slot][0], 1, 1);
	r = stretch_leave(&scene->member, 0, clock_now_ns(), &reading);
	reading_done(&reading);
	return r;
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
	OVERWRITE(table->slots[0].spare, n >> 8 & 1 ? n : 1);
	OVERWRITE(table->records[1].n_sockets, n >> 8 & 1 ? n : 1);
	OVERWRITE(table->header.n_slots, n);
	OVERWRITE(table->header.n_records, n >> 16);
	OVERWRITE(table->header.n_metrics, n);
}

CASE("numbers of a table are overwritten while a member uses them")
{
	pass_beside(overwrite_numbers, PASSAGES);
}

static void overwrite_word(struct table *table, uint32_t n)
{
	OVERWRITE(table->regions[0].word, (uint64_t)n << 32 | 1 << 16 | (n >> 8 & 1 ? 2 : 0));
}

CASE("each passage ends while the word of its region is overwritten")
{
	pass_beside(overwrite_word, PASSAGES_OF_WORDS);
}

/* --- no room --- */

/* Many processes were killed while they changed a region: no record is left. */
CASE("a region closes without figures if the table has no room")
{
	static struct scene scene;

	begin(&scene, NULL);
	assert_int_equal(enter(&scene), 0);
	scene.table->header.n_records = TABLE_RECORDS;
	assert_int_equal(leave(&scene), -ENOSPC);
	assert_non_null(strstr(uncore_error_text(), "no room"));
	assert_int_equal(word_of(scene.table, 0).holder, 0);
	finish(&scene);
}

/* The program closed its descriptor, and another process has the slot and its spare record. */
CASE("a member whose slot another has writes no record")
{
	static struct scene scene;
	uint64_t word;

	begin(&scene, NULL);
	assert_int_equal(enter(&scene), 0);
	word = word_of(scene.table, 0).raw;
	scene.table->slots[scene.member.slot].state += 1 << 8;
	assert_int_equal(leave(&scene), -EBADF);
	assert_non_null(strstr(uncore_error_text(), "closed a descriptor"));
	assert_int_equal(word_of(scene.table, 0).raw, word);
	finish(&scene);
}

/* A stretch that goes on over readings is in several windows, and there may be no other stretch. */
CASE("more stretches in windows than there were leave none that was read one by one")
{
	static struct scene scene;
	struct record record = { .host = "" };

	begin(&scene, NULL);
	assert_int_equal(enter(&scene), 0);
	assert_int_equal(leave(&scene), 0);
	scene.table->records[word_of(scene.table, 0).record].window_stretches = 3;
	assert_int_equal(snapshot(scene.table, &record), 0);
	assert_int_equal(record.regions[0].n_stretches, 1);
	assert_int_equal(record.regions[0].n_measured, 0);
	record_done(&record);
	finish(&scene);
}

CASE("a title is kept once, and left out if it is not plain text")
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
