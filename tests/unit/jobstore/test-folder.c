/* SPDX-License-Identifier: BSD-3-Clause */
/* Which runs of a folder are open, for a process that only looks. */
#include "client/jobstore/folder.h"

#include <sys/file.h>

#include "common/clock.h"
#include "tests/unit/command/job-case.h"

enum { MOST = 256 };

static void path_of(const struct scene *scene, const char *name, char ret[PATH_BYTES])
{
	snprintf(ret, PATH_BYTES, "%s/%.120s", scene->folder, name);
}

static void write_file(const struct scene *scene, const char *name, const void *data, size_t n)
{
	char path[PATH_BYTES];
	int fd;

	path_of(scene, name, path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, n), n);
	close(fd);
}

static int open_folder(const struct scene *scene)
{
	int fd = folder_open(scene->folder);

	assert_true(fd >= 0);
	return fd;
}

/* A run with a reading of two sockets. */
static struct run run_of(const char *id)
{
	struct run run = { .fd = -1,
		.head = { .state = RUN_BEGUN,
			.uid = 7,
			.begun_ns = 1,
			.begun_real_ns = 1,
			.n_sockets = 2 } };

	snprintf(run.head.id, sizeof run.head.id, "%s", id);
	run.samples = calloc(2, sizeof *run.samples);
	assert_non_null(run.samples);
	for (uint32_t i = 0; i < 2; i++)
		run.samples[i] = (struct uncore_sample){ .size = sizeof *run.samples, .socket = i };
	run_set_base(&run);
	return run;
}

static void make_run(const struct scene *scene, struct run run)
{
	int folder = open_folder(scene);

	assert_int_equal(run_write(folder, &run, RUN_IS_OPEN), 0);
	run_done(&run);
	close(folder);
}

/* --- what it tells --- */

CASE("an open run has its reading of the begin")
{
	const uint64_t before_ns = clock_now_ns();
	struct folder_runs runs;
	struct scene scene;

	scene_begin(&scene, NULL);
	assert_int_equal(begin(&scene, "1"), 0);
	assert_int_equal(begin_on(&scene, "2", SECOND), 0);
	assert_int_equal(folder_read_open(scene.folder, MOST, &runs), 0);
	assert_int_equal(runs.n, 2);
	assert_string_equal(runs.all[0].head.id, "1");
	assert_int_equal(runs.all[0].head.uid, getuid());
	assert_in_range(runs.all[0].head.begun_ns, before_ns, clock_now_ns());
	assert_true(runs.all[0].head.begun_real_ns > 0);
	assert_int_equal(runs.all[0].head.packages.n, 0);
	assert_non_null(runs.all[0].samples);
	assert_int_equal(runs.all[0].head.n_sockets, FAKE_SOCKETS);
	for (uint32_t i = 0; i < FAKE_SOCKETS; i++)
		assert_int_equal(
			runs.all[0].samples[i].values[FAKE_READ].count, FAKE_STEP * (i + 1));
	assert_string_equal(runs.all[1].head.id, "2");
	assert_false(packages_have(&runs.all[1].head.packages, FIRST));
	folder_runs_done(&runs);
	scene_end(&scene);
}

CASE("a run that has ended is not open")
{
	struct folder_runs runs;
	struct scene scene;

	scene_begin(&scene, NULL);
	assert_int_equal(begin(&scene, "written"), 0);
	assert_int_equal(end(&scene, "written"), 0);
	assert_int_equal(begin_run(&scene, "again", "first"), 0);
	assert_int_equal(begin_run(&scene, "again", "second"), 0);
	assert_int_equal(begin(&scene, "waits"), 0);
	snprintf(scene.to, sizeof scene.to, "/dev/null/records");
	assert_int_not_equal(end(&scene, "waits"), 0);
	assert_int_equal(folder_read_open(scene.folder, MOST, &runs), 0);
	assert_int_equal(runs.n, 1);
	assert_string_equal(runs.all[0].head.id, "again");
	folder_runs_done(&runs);
	snprintf(scene.to, sizeof scene.to, "%s/records", scene.directory);
	scene_end(&scene);
}

CASE("a begin without a reading has no samples")
{
	struct folder_runs runs;
	struct scene scene;
	struct job_wish wish;

	scene_begin(&scene, NULL);
	wish = wish_of(&scene, "1");
	wish.socket_path = "/nonexistent/socket";
	assert_int_equal(call(&scene, job_begin, &wish), 0);
	assert_int_equal(folder_read_open(scene.folder, MOST, &runs), 0);
	assert_int_equal(runs.n, 1);
	assert_int_equal(runs.all[0].head.uid, getuid());
	assert_null(runs.all[0].samples);
	folder_runs_done(&runs);
	scene_end(&scene);
}

CASE("where there is no folder none is made")
{
	struct folder_runs runs;
	struct scene scene;

	scene_begin(&scene, NULL);
	assert_int_equal(folder_read_open(scene.folder, MOST, &runs), -ENOENT);
	assert_int_equal(runs.n, 0);
	folder_runs_done(&runs);
	assert_int_equal(access(scene.folder, F_OK), -1);
	scene_end(&scene);
}

CASE("of too many runs those that began first count")
{
	const unsigned n = MOST + 3;
	struct folder_runs runs;
	struct scene scene;
	char id[16];

	scene_begin(&scene, NULL);
	for (unsigned i = 0; i < n; i++) {
		struct run run;

		snprintf(id, sizeof id, "%u", i);
		run = run_of(id);
		run.head.begun_real_ns = n - i;
		run_set_base(&run);
		make_run(&scene, run);
	}
	assert_int_equal(folder_read_open(scene.folder, MOST, &runs), -E2BIG);
	assert_int_equal(runs.n, MOST);
	for (unsigned i = 0; i < runs.n; i++)
		assert_int_equal(runs.all[i].head.begun_real_ns, i + 1);
	folder_runs_done(&runs);
	scene_end(&scene);
}

/* A batch system may have any. */
CASE("a run has its mode whatever the umask")
{
	const mode_t umask_before = umask(077);
	struct scene scene;
	struct stat status;
	char path[PATH_BYTES];

	scene_begin(&scene, NULL);
	assert_int_equal(begin(&scene, "1"), 0);
	umask(umask_before);
	path_of_open(&scene, "1", path);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0640);
	scene_end(&scene);
}

/* --- what it finds --- */

static const char GOOD[] = "good@1.1";

/* Copies GOOD to @name, of which only so many bytes, with another byte at @at. */
static void spoil(const struct scene *scene, const char *name, size_t size_bytes, size_t at)
{
	char path[PATH_BYTES], bytes[8192];
	ssize_t n;
	int fd;

	path_of(scene, GOOD, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	n = read(fd, bytes, sizeof bytes);
	close(fd);
	assert_true((size_t)n > sizeof(struct run_head));
	bytes[at] ^= 0x55;
	write_file(scene, name, bytes, (size_t)n < size_bytes ? (size_t)n : size_bytes);
}

CASE("garbage is not a run")
{
	static const char noise[6000] = "uncjob3";
	struct folder_runs runs;
	struct scene scene;
	char path[PATH_BYTES];

	scene_begin(&scene, NULL);
	make_run(&scene, run_of("good"));
	write_file(&scene, "empty@1.1", "", 0);
	write_file(&scene, "noise@1.1", noise, sizeof noise);
	write_file(&scene, ".hidden@1.1", noise, sizeof noise);
	write_file(&scene, "no ID@1.1", noise, sizeof noise);
	spoil(&scene, "copied@1.1", SIZE_MAX, 8191);
	spoil(&scene, "magic@1.1", SIZE_MAX, 0);
	spoil(&scene, "short@1.1", 100, 0);
	path_of(&scene, "pipe@1.1", path);
	assert_int_equal(mkfifo(path, 0640), 0);
	path_of(&scene, "link@1.1", path);
	assert_int_equal(symlink(GOOD, path), 0);
	assert_int_equal(folder_read_open(scene.folder, MOST, &runs), 0);
	assert_int_equal(runs.n, 1);
	assert_string_equal(runs.all[0].head.id, "good");
	assert_non_null(runs.all[0].samples);
	folder_runs_done(&runs);
	scene_end(&scene);
}

/* The head holds, and what follows does not. */
CASE("a reading that cannot be read back is not a reading")
{
	enum { HEAD = sizeof(struct run_head) };
	static const size_t lengths[] = { HEAD, HEAD + 4, HEAD + sizeof(struct uncore_sample) };
	struct folder_runs runs;
	struct scene scene;

	scene_begin(&scene, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(lengths) + 1; i++) {
		make_run(&scene, run_of("good"));
		if (i < ARRAY_SIZE(lengths))
			spoil(&scene, GOOD, lengths[i], 8191);
		else
			spoil(&scene, GOOD, SIZE_MAX, HEAD); /* the size of a sample */
		assert_int_equal(folder_read_open(scene.folder, MOST, &runs), 0);
		assert_int_equal(runs.n, 1);
		assert_null(runs.all[0].samples);
		folder_runs_done(&runs);
	}
	scene_end(&scene);
}

CASE("locks hold up nobody that looks")
{
	struct folder_runs runs;
	struct scene scene;
	char path[PATH_BYTES];
	int folder, file;

	scene_begin(&scene, NULL);
	assert_int_equal(begin(&scene, "1"), 0);
	folder = open_folder(&scene);
	path_of_open(&scene, "1", path);
	file = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(folder, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(flock(file, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(folder_read_open(scene.folder, MOST, &runs), 0);
	assert_int_equal(runs.n, 1);
	assert_non_null(runs.all[0].samples);
	assert_int_equal(runs.all[0].head.n_sockets, FAKE_SOCKETS);
	folder_runs_done(&runs);
	close(file);
	close(folder);
	scene_end(&scene);
}

/* --- while it looks --- */

/* Runs come, get their reading, end and go, until the process is killed. */
static void come_and_go(const struct scene *scene)
{
	int folder = open_folder(scene);
	char text[] = "{}", written[RUN_NAME_MAX];

	for (uint64_t sweep = 1;; sweep++) {
		struct run run = run_of("1");
		struct uncore_sample *samples = run.samples;
		int r;

		run.head.begun_ns = sweep;
		run.head.state = RUN_BEGINNING;
		run.samples = NULL;
		run_set_base(&run);
		r = run_write(folder, &run, RUN_IS_OPEN);
		run.head.state = RUN_BEGUN;
		run.head.n_sockets = 2;
		run.samples = samples;
		samples[0].sweep = samples[1].sweep = sweep;
		r = r < 0 ? r : run_write(folder, &run, RUN_IS_OPEN);
		run.head.state = RUN_ENDED;
		run.head.ended_ns = sweep + 1;
		run.text = text;
		r = r < 0 ? r : run_write(folder, &run, RUN_IS_ENDED);
		r = r < 0 ? r : folder_note_written(folder, &run);
		/* Or the folder grows for as long as this goes on. */
		run_name(&run, RUN_IS_WRITTEN, written);
		unlinkat(folder, written, 0);
		run.text = NULL;
		run_done(&run);
		if (r < 0)
			_exit(1);
	}
}

CASE("runs may come and go meanwhile")
{
	unsigned n_with = 0, n_without = 0;
	struct folder_runs runs;
	struct scene scene;
	pid_t pid;

	scene_begin(&scene, NULL);
	close(open_folder(&scene));
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		come_and_go(&scene);
	while (n_with < 20 || n_without < 20) {
		assert_int_equal(waitpid(pid, NULL, WNOHANG), 0);
		assert_int_equal(folder_read_open(scene.folder, MOST, &runs), 0);
		assert_true(runs.n <= 1);
		if (runs.n && runs.all[0].head.state == RUN_BEGUN) {
			assert_non_null(runs.all[0].samples);
			assert_int_equal(runs.all[0].samples[1].sweep, runs.all[0].head.begun_ns);
			n_with++;
		} else if (runs.n) {
			assert_int_equal(runs.all[0].head.uid, 7);
			n_without++;
		}
		folder_runs_done(&runs);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	scene_end(&scene);
}
