/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Begins and ends of jobs are killed before and after their system calls. The next end finds one
 * record of each run, never two and never none, and no job is told of fewer others than it met.
 * With UNCORE_TEST_SEEDS=8 a run takes all stops (tests/harness/stops.h).
 */
#include "tests/harness/stops.h"
#include "tests/unit/command/job-case.h"

enum { STRIDE = 8, STOPS_LEAST = 50, PROCESSES = 6, JOBS_EACH = 15 };

/* --- what holds between the kills --- */

/* How many others the open job @id has met so far on the first package. */
static int64_t others_of(const struct scene *scene, const char *id)
{
	struct folder_runs runs;
	int64_t others;

	runs_of(scene, &runs);
	assert_non_null(folder_last(&runs, id, RUN_IS_OPEN));
	others = folder_others(&runs, folder_last(&runs, id, RUN_IS_OPEN), FIRST);
	folder_runs_done(&runs);
	return others;
}

/* Nothing is left of a job that has ended, which would make every later one a shared one. */
static void check_alone(const struct scene *scene)
{
	struct folder_runs runs;

	runs_of(scene, &runs);
	assert_int_equal(runs.n_open, 1);
	assert_int_equal(runs.n_ended, 0);
	folder_runs_done(&runs);
}

/* A reading may fail where the machine is too busy. */
static void check_complete(struct json_object *record)
{
	if (!is_complete(record))
		print_error("# the record is incomplete: %s\n", text(record, "failure"));
	assert_true(is_complete(record));
}

static void check_within(int64_t others, int64_t least, int64_t most)
{
	assert_true(others >= least);
	assert_true(others <= most);
}

/* Calls @kill at the @nth stop, beside a job that is open all the time, in an empty folder: what is
 * kept there are system calls of the next end. */
static bool kill_beside(
	struct scene *scene, bool (*kill)(struct scene *scene, const char *id), unsigned nth)
{
	bool was_killed;
	char id[16];

	snprintf(id, sizeof id, "killed%u", nth);
	assert_int_equal(begin(scene, "beside"), 0);
	scene->stop = nth;
	was_killed = kill(scene, id);
	check_alone(scene);
	empty(scene->folder);
	empty(scene->to);
	return was_killed;
}

static void at_stops(bool (*kill)(struct scene *scene, const char *id))
{
	struct scene scene;

	scene_begin(&scene, NULL);
	for (unsigned i = 0; i < stops_passes(STRIDE); i++) {
		unsigned nth = stops_first(STRIDE, i);

		while (kill_beside(&scene, kill, nth))
			nth += STRIDE;
		assert_true(nth > STOPS_LEAST);
	}
	scene_end(&scene);
}

/* --- a begin --- */

static bool kill_begin(struct scene *scene, const char *id)
{
	const int64_t others = others_of(scene, "beside");
	struct json_object *record;
	bool was_killed, met;

	begin(scene, id);
	was_killed = scene->was_killed;
	met = is_open(scene, id);
	check_within(others_of(scene, "beside"), others + met, others + 1);
	assert_int_equal(begin(scene, "behind"), 0);
	check_within(others_of(scene, "behind"), 1 + met, 2);
	record = end_of(scene, id);
	assert_true(was_killed || is_complete(record));
	assert_true(met == (text(record, "begun") != NULL));
	json_object_put(record);
	assert_int_equal(end(scene, "behind"), 0);
	return was_killed;
}

CASE("a begin may be killed at its system calls")
{
	at_stops(kill_begin);
}

/* --- an end --- */

/* How many different records of @id were printed. */
static unsigned count_printed(const struct scene *scene, const char *id)
{
	_cleanup_file_ FILE *file = fopen(scene->output, "re");
	char line[8192], first[8192] = "", names[64];
	unsigned n = 0;

	assert_non_null(file);
	snprintf(names, sizeof names, "\"job\":\"%s\",", id);
	while (fgets(line, sizeof line, file)) {
		if (!strstr(line, names) || strcmp(line, first) == 0)
			continue;
		strcpy(first, line);
		n++;
	}
	return n;
}

static bool kill_end(struct scene *scene, const char *id)
{
	const unsigned stop = scene->stop;
	struct json_object *record;
	bool was_killed, met;

	scene->stop = 0;
	assert_int_equal(begin(scene, id), 0);
	scene->stop = stop;
	end(scene, id);
	was_killed = scene->was_killed;
	met = is_open(scene, id);
	assert_int_equal(begin(scene, "behind"), 0);
	check_within(others_of(scene, "behind"), 1 + met, 2);
	assert_int_equal(end(scene, "behind"), 0);
	record = end_of(scene, id);
	check_complete(record);
	assert_int_equal(number_of_socket(record, 0, "others"), 1 + met);
	json_object_put(record);
	record = named_record(scene, id);
	check_complete(record);
	json_object_put(record);
	assert_int_equal(count_printed(scene, id), 1);
	return was_killed;
}

CASE("an end may be killed at its system calls")
{
	at_stops(kill_end);
}

/* --- an end whose folder takes no record --- */

static void check_none_waits(const struct scene *scene)
{
	int spool = folder_look(scene->spool);
	struct folder_runs runs;

	assert_true(spool >= 0);
	assert_int_equal(folder_read(spool, RUN_IS_ENDED, NULL, &runs), 0);
	assert_int_equal(runs.n, 0);
	folder_runs_done(&runs);
	close(spool);
}

static bool kill_refused_end(struct scene *scene, const char *id)
{
	const unsigned stop = scene->stop;
	struct json_object *record;
	bool was_killed, has_ended;
	int fd;

	scene->stop = 0;
	assert_int_equal(begin(scene, id), 0);
	rmdir(scene->to);
	fd = open(scene->to, O_WRONLY | O_CREAT | O_CLOEXEC, 0600); /* a file in its place */
	assert_true(fd >= 0);
	close(fd);
	scene->stop = stop;
	assert_int_not_equal(end(scene, id), 0);
	was_killed = scene->was_killed;
	has_ended = !is_open(scene, id);
	assert_int_equal(unlink(scene->to), 0);
	assert_int_equal(begin(scene, "behind"), 0);
	if (has_ended)
		json_object_put(record_of(scene, id));
	record = end_of(scene, id);
	check_complete(record);
	json_object_put(record);
	assert_int_equal(count_printed(scene, id), 1);
	assert_int_equal(end(scene, "behind"), 0);
	check_none_waits(scene);
	return was_killed;
}

CASE("... also if its folder takes no record: the next begin writes it")
{
	at_stops(kill_refused_end);
}

/* --- a second begin --- */

static unsigned count_of_run(const struct records *records, const char *key)
{
	unsigned n = 0;

	for (size_t i = 0; i < records->n; i++) {
		const char *run = text(records->all[i], "step");

		n += run && strcmp(run, key) == 0;
	}
	return n;
}

static bool kill_second_begin(struct scene *scene, const char *id)
{
	const unsigned stop = scene->stop;
	struct records records;
	int64_t others;
	bool was_killed;

	scene->stop = 0;
	assert_int_equal(begin_run(scene, id, "first"), 0);
	others = others_of(scene, "beside");
	scene->stop = stop;
	begin_run(scene, id, "second");
	was_killed = scene->was_killed;
	check_within(others_of(scene, "beside"), others + !was_killed, others + 1);
	assert_int_equal(end(scene, id), 0);
	records_of(scene, id, &records);
	assert_int_equal(count_of_run(&records, "first"), 1);
	assert_true(records.n <= 2);
	assert_true(count_of_run(&records, "second") <= 1);
	if (!was_killed)
		assert_int_equal(count_of_run(&records, "second"), 1);
	records_done(&records);
	return was_killed;
}

CASE("a begin that ends the run before may be killed at its system calls")
{
	at_stops(kill_second_begin);
}

/* --- many at once --- */

static void begin_and_end_many(struct scene *scene, int process)
{
	char id[32];

	for (int i = 0; i < JOBS_EACH; i++) {
		struct job_said said;
		struct job_wish wish = wish_of(scene, id);

		snprintf(id, sizeof id, "%d.%d", process, i);
		if (job_begin(&wish, &said) < 0 || job_end(&wish, &said) < 0) {
			fprintf(stderr, "%s\n", said.error);
			_exit(1);
		}
	}
	_exit(0);
}

CASE("many processes begin and end jobs at once")
{
	struct scene scene;
	char id[32];
	pid_t pids[PROCESSES];

	scene_begin(&scene, NULL);
	for (int i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0 && freopen(scene.output, "a", stdout))
			begin_and_end_many(&scene, i);
	}
	for (int i = 0; i < PROCESSES; i++)
		assert_int_equal(traced_kill_at(pids[i], 0), 0);
	for (int i = 0; i < PROCESSES; i++)
		for (int k = 0; k < JOBS_EACH; k++) {
			struct json_object *record;

			snprintf(id, sizeof id, "%d.%d", i, k);
			record = record_of(&scene, id);
			check_complete(record);
			assert_true(number_of_socket(record, 0, "others") >= 0);
			json_object_put(record);
		}
	assert_int_equal(begin(&scene, "alone"), 0);
	assert_int_equal(others_of(&scene, "alone"), 0);
	check_alone(&scene);
	scene_end(&scene);
}
