/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins and ends of jobs: their names, their records, and how many others they met. */
#include <sys/file.h>

#include "client/jobstore/folder.h"
#include "client/report/record-time.h"
#include "common/clock.h"
#include "tests/unit/command/job-case.h"

/* --- names --- */

CASE("an ID is a file name")
{
	static const char *const good[] = { "1", "123_45", "123.batch", "4711+1", "a-b", "_",
		"0123456789012345678901234567890123456789012345678901234567890123" };
	static const char *const bad[] = { "", ".", "..", ".1", "a/b", "/", "a\nb", "1@2", "1 2",
		"\xc3\xa4", "1[2]",
		"01234567890123456789012345678901234567890123456789012345678901234" };
	char *long_one = calloc(1, 10241);

	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_true(job_id_is_valid(good[i]));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(job_id_is_valid(bad[i]));
	memset(long_one, '1', 10240);
	assert_false(job_id_is_valid(long_one));
	free(long_one);
}

CASE("CPUs say which packages a job can use")
{
	struct packages packages = { .n = 7 };

	assert_int_equal(packages_parse("", &packages), -EINVAL);
	assert_int_equal(packages_parse("0-", &packages), -EINVAL);
	assert_int_equal(packages_parse("0,", &packages), -EINVAL);
	assert_int_equal(packages_parse("3-1", &packages), -EINVAL);
	assert_int_equal(packages_parse("none", &packages), -EINVAL);
	assert_int_equal(packages.n, 7);
	assert_int_equal(packages_parse("0", &packages), 0);
	assert_int_equal(packages.n, 1);
	assert_false(packages_have(&packages, packages.ids[0] + 1));
	assert_int_equal(packages_parse("0,65000-65535", &packages), 0);
	assert_int_equal(packages.n, 0);
	assert_true(packages_have(&packages, 12345));
}

/* --- records --- */

CASE("a record is the difference of two readings")
{
	struct scene scene;
	struct json_object *record, *metrics, *value;

	scene_begin(&scene, NULL);
	assert_int_equal(begin_run(&scene, "12", "s9N"), 0);
	record = end_of(&scene, "12");
	assert_true(is_complete(record));
	assert_string_equal(text(record, "step"), "s9N");
	assert_string_equal(text(record, "platform"), "icelake-sp");
	assert_string_equal(text(record, "schema"), "1");
	for (size_t i = 0; i < FAKE_SOCKETS; i++) {
		metrics = of_socket(record, i, "metrics");
		json_object_object_get_ex(metrics, "dram.write", &value);
		json_object_object_get_ex(value, "bytes", &value);
		/* all sockets are swept once by each reading */
		assert_int_equal(json_object_get_int64(value), 2 * FAKE_STEP * (int)(i + 1));
		json_object_object_get_ex(metrics, "itom", &value);
		assert_non_null(text(value, "absent"));
		assert_int_equal(number_of_socket(record, i, "package"), 2 * (int)i);
		assert_int_equal(number_of_socket(record, i, "others"), 0);
		assert_non_null(used_socket(record, i));
	}
	json_object_put(record);
	scene_end(&scene);
}

CASE("an end without a begin leaves an incomplete record")
{
	struct scene scene;
	struct json_object *record;

	scene_begin(&scene, NULL);
	record = end_of(&scene, "1");
	assert_false(is_complete(record));
	assert_null(text(record, "begun"));
	assert_null(text(record, "uid"));
	assert_non_null(text(record, "ended"));
	assert_non_null(strstr(text(record, "failure"), "no begin"));
	json_object_put(record);
	scene_end(&scene);
}

CASE("a repeated end gives the same record")
{
	struct scene scene;
	struct json_object *first, *second;

	scene_begin(&scene, NULL);
	assert_int_equal(begin(&scene, "counts"), 0);
	first = end_of(&scene, "counts");
	second = end_of(&scene, "counts");
	assert_true(json_object_equal(first, second));
	json_object_put(first);
	json_object_put(second);
	scene_end(&scene);
}

/* uncored is away, or does not answer, at the begin or at the end. */
CASE("without a reading the record says why")
{
	struct scene scene;
	struct json_object *record;
	struct job_wish wish;

	for (int at_end = 0; at_end <= 1; at_end++) {
		scene_begin(&scene, NULL);
		wish = wish_of(&scene, "1");
		if (!at_end)
			wish.socket_path = "/nonexistent/socket";
		assert_int_equal(call(&scene, job_begin, &wish), 0);
		wish.socket_path = at_end ? "/nonexistent/socket" : scene.daemon.path;
		assert_int_equal(call(&scene, job_end, &wish), 0);
		record = record_of(&scene, "1");
		assert_false(is_complete(record));
		assert_non_null(text(record, "begun"));
		assert_non_null(strstr(text(record, "failure"), "/nonexistent/socket"));
		json_object_put(record);
		scene_end(&scene);
	}
}

CASE("readings of two generations make no record")
{
	struct scene scene;
	struct json_object *record;

	scene_begin(&scene, NULL);
	assert_int_equal(begin(&scene, "1"), 0);
	fake_daemon_stop(&scene.daemon);
	fake_daemon_restart(&scene.daemon, 2);
	record = end_of(&scene, "1");
	assert_false(is_complete(record));
	assert_non_null(strstr(text(record, "failure"), "count anew"));
	json_object_put(record);
	scene_end(&scene);
}

CASE("a restart that lost nothing leaves the record its figures")
{
	struct scene scene;
	struct json_object *record;

	scene_begin(&scene, NULL);
	assert_int_equal(begin(&scene, "1"), 0);
	fake_daemon_stop(&scene.daemon);
	fake_daemon_restart(&scene.daemon, 1);
	scene.daemon.page->daemon.started_ns += 1;
	record = end_of(&scene, "1");
	assert_true(is_complete(record));
	json_object_put(record);
	scene_end(&scene);
}

/* The reading of a begin may be older than the job, that of an end may not. */
CASE("a site may hold readings back")
{
	struct fake_options options = { .min_interval_ns = UINT64_C(60000000000) };
	struct scene scene;
	struct json_object *record;

	scene_begin(&scene, &options);
	assert_int_equal(begin(&scene, "before"), 0);
	atomic_store(&scene.daemon.deaf, true);
	assert_int_equal(begin(&scene, "held"), 0);
	record = end_of(&scene, "before");
	assert_false(is_complete(record));
	assert_non_null(strstr(text(record, "failure"), "min_interval_ms"));
	json_object_put(record);
	atomic_store(&scene.daemon.deaf, false);
	fake_daemon_stop(&scene.daemon);
	fake_daemon_restart(&scene.daemon, 1);
	record = end_of(&scene, "held");
	assert_true(is_complete(record));
	assert_true(number_of_socket(record, 0, "early_ns") > 0);
	assert_true(
		number_of_socket(record, 0, "window_ns") > number_of_socket(record, 0, "early_ns"));
	json_object_put(record);
	scene_end(&scene);
}

/* --- the same ID --- */

CASE("the same key keeps the first begin")
{
	struct scene scene;
	struct json_object *record, *value;

	scene_begin(&scene, NULL);
	assert_int_equal(begin_run(&scene, "1", "a"), 0);
	assert_int_equal(begin_run(&scene, "1", "a"), 0);
	record = end_of(&scene, "1");
	json_object_object_get_ex(of_socket(record, 0, "metrics"), "dram.read", &value);
	assert_string_equal(text(value, "bytes"), "1000");
	json_object_put(record);
	scene_end(&scene);
}

static void begin_again(const char *first, const char *second)
{
	struct scene scene;
	struct records records;
	unsigned n_complete = 0;

	scene_begin(&scene, NULL);
	assert_int_equal(begin_run(&scene, "1", first), 0);
	assert_int_equal(begin_run(&scene, "1", second), 0);
	assert_int_equal(begin_run(&scene, "1", "the third"), 0);
	assert_int_equal(end(&scene, "1"), 0);
	records_of(&scene, "1", &records);
	assert_int_equal(records.n, 3);
	for (size_t i = 0; i < records.n; i++) {
		n_complete += is_complete(records.all[i]);
		if (is_complete(records.all[i]))
			assert_string_equal(text(records.all[i], "step"), "the third");
		else
			assert_non_null(strstr(text(records.all[i], "failure"), "begun again"));
	}
	assert_int_equal(n_complete, 1);
	records_done(&records);
	scene_end(&scene);
}

CASE("another key, or none, ends the run before as incomplete")
{
	begin_again("a", "b");
	begin_again(NULL, NULL);
	begin_again("a", NULL);
	begin_again(NULL, "a");
}

/* Runs of one ID whose begins have the same time have a file each. */
CASE("files of one name are of one run")
{
	struct scene scene;
	struct json_object *record;
	struct records records;
	char path[PATH_BYTES], stamp[RECORD_TIME_MAX];
	FILE *file;

	scene_begin(&scene, NULL);
	assert_int_equal(begin(&scene, "1"), 0);
	record = end_of(&scene, "1");
	record_time_in_name(
		json_object_get_int64(json_object_object_get(record, "begun_ns")), stamp);
	json_object_put(record);
	/* as if another run had been there */
	snprintf(path, sizeof path, "%s/1@%s.json", scene.to, stamp);
	assert_int_equal(unlink(path), 0);
	file = fopen(path, "we");
	fputs("{\"job\":\"1\"}\n", file);
	fchmod(fileno(file), 0440);
	fclose(file);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(end(&scene, "1"), 0);
		records_of(&scene, "1", &records);
		assert_int_equal(records.n, 2);
		records_done(&records);
	}
	scene_end(&scene);
}

static void check_named(const struct scene *scene, bool complete, const char *key)
{
	struct json_object *record = named_record(scene, "1");
	const char *run = text(record, "step");

	assert_int_equal(is_complete(record), complete);
	assert_true(key ? run && strcmp(run, key) == 0 : !run);
	json_object_put(record);
}

static void end_run(struct scene *scene, const char *key, bool complete)
{
	struct job_wish wish = wish_of(scene, "1");

	if (!complete)
		wish.socket_path = "/nonexistent/socket";
	wish.key = key;
	assert_int_equal(call(scene, job_begin, &wish), 0);
	assert_int_equal(call(scene, job_end, &wish), 0);
}

CASE("the name of a job's record never goes from figures to a record without")
{
	struct scene scene;
	struct records records;

	scene_begin(&scene, NULL);
	assert_int_equal(end(&scene, "1"), 0); /* there is no begin */
	check_named(&scene, false, NULL);
	end_run(&scene, "a", false);
	check_named(&scene, false, "a");
	end_run(&scene, "b", true);
	check_named(&scene, true, "b");
	end_run(&scene, "c", false);
	check_named(&scene, true, "b");
	end_run(&scene, "d", true);
	check_named(&scene, true, "d");
	empty(scene.folder);
	assert_int_equal(end(&scene, "1"), 0);
	check_named(&scene, true, "d");
	records_of(&scene, "1", &records);
	assert_int_equal(records.n, 6);
	records_done(&records);
	scene_end(&scene);
}

/* --- other jobs --- */

CASE("jobs that meet are counted")
{
	struct scene scene;
	struct json_object *record;

	scene_begin(&scene, NULL);
	assert_int_equal(begin(&scene, "first"), 0);
	assert_int_equal(begin(&scene, "second"), 0);
	record = end_of(&scene, "first");
	assert_int_equal(number_of_socket(record, 0, "others"), 1);
	json_object_put(record);
	assert_int_equal(begin(&scene, "third"), 0);
	json_object_put(end_of(&scene, "third"));
	record = end_of(&scene, "second"); /* it met the first and the third */
	assert_int_equal(number_of_socket(record, 1, "others"), 2);
	json_object_put(record);
	assert_int_equal(begin(&scene, "fourth"), 0);
	record = end_of(&scene, "fourth");
	assert_int_equal(number_of_socket(record, 1, "others"), 0);
	json_object_put(record);
	scene_end(&scene);
}

CASE("jobs meet on the sockets that both can use")
{
	struct scene scene;
	struct json_object *record;

	scene_begin(&scene, NULL);
	assert_int_equal(begin_on(&scene, "left", FIRST), 0);
	assert_int_equal(begin_on(&scene, "right", SECOND), 0);
	record = end_of(&scene, "left");
	assert_int_equal(number_of_socket(record, 0, "others"), 0);
	assert_int_equal(number_of_socket(record, 1, "others"), 1);
	assert_non_null(used_socket(record, 0));
	assert_null(used_socket(record, 1));
	json_object_put(record);
	assert_int_equal(begin(&scene, "all"), 0);
	record = end_of(&scene, "right");
	assert_int_equal(number_of_socket(record, 0, "others"), 2);
	assert_int_equal(number_of_socket(record, 1, "others"), 1);
	json_object_put(record);
	record = end_of(&scene, "all");
	assert_int_equal(number_of_socket(record, 0, "others"), 0);
	assert_int_equal(number_of_socket(record, 1, "others"), 1);
	json_object_put(record);
	scene_end(&scene);
}

/* What is not known is not 0. */
CASE("of more others than are kept it is not known how many there were")
{
	struct run *all = calloc(FOLDER_WRITTEN_MAX + 2, sizeof *all);
	struct folder_runs runs = { .n = FOLDER_WRITTEN_MAX + 2, .all = all };

	assert_non_null(all);
	for (size_t i = 0; i < runs.n; i++) {
		all[i] = (struct run){ .kind = i < 2 ? RUN_IS_OPEN : RUN_IS_WRITTEN };
		all[i].head.begun_ns = i ? 100 + i : 50;
		all[i].head.ended_ns = i < 2 ? 0 : 200 + i;
		snprintf(all[i].base, sizeof all[i].base, "%zu", i);
	}
	assert_int_equal(folder_others(&runs, &all[0], FIRST), -ENODATA);
	all[1].head.begun_ns = 202; /* the end of the first that is kept: all later ones are */
	assert_int_equal(folder_others(&runs, &all[1], FIRST), FOLDER_WRITTEN_MAX);
	runs.n--;
	assert_int_equal(folder_others(&runs, &all[0], FIRST), FOLDER_WRITTEN_MAX);
	free(all);
}

/* --- the folder --- */

CASE("1024 jobs are open at most")
{
	struct scene scene;
	struct job_wish wish;
	char id[16];

	scene_begin(&scene, NULL);
	wish = wish_of(&scene, id);
	for (int i = 0; i < FOLDER_RUNS_MAX; i++) {
		snprintf(id, sizeof id, "%d", i);
		wish.socket_path = i ? "/nonexistent/socket" : scene.daemon.path;
		assert_int_equal(call(&scene, job_begin, &wish), 0);
	}
	assert_int_equal(begin(&scene, "more"), EDQUOT);
	assert_int_equal(begin_run(&scene, "0", NULL), EDQUOT);
	assert_true(is_open(&scene, "0"));
	json_object_put(end_of(&scene, "0"));
	assert_int_equal(begin(&scene, "more"), 0);
	scene_end(&scene);
}

CASE("few runs that were written are kept")
{
	struct scene scene;
	struct dirent **entries;
	char id[16];
	int n;

	scene_begin(&scene, NULL);
	for (int i = 0; i < 2 * FOLDER_WRITTEN_LAST; i++) {
		snprintf(id, sizeof id, "%d", i);
		assert_int_equal(begin(&scene, id), 0);
		assert_int_equal(end(&scene, id), 0);
	}
	n = scandir(scene.folder, &entries, NULL, NULL);
	assert_int_equal(n, FOLDER_WRITTEN_LAST + 3); /* ".", "..", the last one */
	for (int i = 0; i < n; i++)
		free(entries[i]);
	free(entries);
	scene_end(&scene);
}

/* The place of an earlier run of an ID is given away before that of the last one. */
CASE("the last run of an ID is kept as long as any other")
{
	struct scene scene;
	struct json_object *record;
	char id[16];

	scene_begin(&scene, NULL);
	end_run(&scene, "a", true);
	for (int i = 0; i < FOLDER_WRITTEN_LAST; i++) {
		if (i == FOLDER_WRITTEN_LAST / 2)
			end_run(&scene, "b", true);
		snprintf(id, sizeof id, "other%d", i);
		assert_int_equal(begin(&scene, id), 0);
		assert_int_equal(end(&scene, id), 0);
	}
	empty(scene.to);
	record = end_of(&scene, "1");
	assert_true(is_complete(record));
	assert_string_equal(text(record, "step"), "b");
	json_object_put(record);
	scene_end(&scene);
}

/* A process that hangs makes others fail with a sentence, after a time. */
CASE("nobody waits for long for a process that hangs")
{
	struct scene scene;
	int folder, file;
	char path[PATH_BYTES];

	scene_begin(&scene, NULL);
	assert_int_equal(begin(&scene, "1"), 0);
	folder = open(scene.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(flock(folder, LOCK_EX), 0);
	assert_int_equal(begin(&scene, "2"), ETIMEDOUT);
	assert_int_equal(end(&scene, "1"), ETIMEDOUT);
	close(folder);
	path_of_open(&scene, "1", path);
	file = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(file, LOCK_EX), 0);
	assert_int_equal(begin(&scene, "1"), EWOULDBLOCK);
	assert_int_equal(end(&scene, "1"), EWOULDBLOCK);
	assert_int_equal(begin(&scene, "2"), 0);
	close(file);
	json_object_put(end_of(&scene, "1"));
	scene_end(&scene);
}

CASE("a run of another release is not guessed")
{
	struct scene scene;
	struct json_object *record;
	char path[PATH_BYTES];
	int fd;

	scene_begin(&scene, NULL);
	assert_int_equal(begin(&scene, "1"), 0);
	path_of_open(&scene, "1", path);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(pwrite(fd, "uncjob9", 7, 0), 7);
	close(fd);
	assert_int_equal(begin(&scene, "2"), 0);
	record = end_of(&scene, "1");
	assert_false(is_complete(record));
	assert_non_null(strstr(text(record, "failure"), "Another release"));
	json_object_put(record);
	record = end_of(&scene, "2");
	assert_int_equal(number_of_socket(record, 0, "others"), 1);
	json_object_put(record);
	scene_end(&scene);
}
