/* SPDX-License-Identifier: BSD-3-Clause */
/* Which runs of a folder are open, for a process that only looks. */
#include "client/jobstore/open-runs.h"

#include <sys/file.h>

#include "common/clock.h"
#include "tests/unit/command/job-case.h"

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
	int fd;

	mkdir(scene->folder, 0700);
	fd = open(scene->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

/* Makes a run with a reading of @n_sockets sockets, in place at once. */
static void make_run(const struct scene *scene, const struct run_head *head)
{
	struct uncore_sample samples[PACKAGES_MAX] = {};
	struct run run;
	int folder = open_folder(scene);

	for (uint32_t i = 0; i < PACKAGES_MAX; i++)
		samples[i] = (struct uncore_sample){ .size = sizeof *samples, .socket = i };
	assert_int_equal(run_create(folder, FOLDER_NEW, head, &run), 0);
	assert_int_equal(run_keep_reading(&run, samples), 0);
	assert_int_equal(renameat(folder, FOLDER_NEW, folder, head->id), 0);
	run_close(&run);
	close(folder);
}

static struct run_head head_of(const char *id)
{
	struct run_head head = { .state = RUN_BEGUN, .uid = 7, .begun_ns = 1, .n_sockets = 2 };

	snprintf(head.id, sizeof head.id, "%s", id);
	return head;
}

/* --- what it tells --- */

CASE("an open run has its reading of the begin")
{
	const uint64_t before_ns = clock_now_ns();
	struct open_runs runs;
	struct scene scene;

	scene_begin(&scene, NULL);
	assert_int_equal(begin(&scene, "1"), 0);
	assert_int_equal(begin_on(&scene, "2", SECOND), 0);
	assert_int_equal(open_runs_read(scene.folder, &runs), 0);
	assert_int_equal(runs.n, 2);
	assert_false(runs.has_more);
	assert_string_equal(runs.all[0].id, "1");
	assert_int_equal(runs.all[0].uid, getuid());
	assert_in_range(runs.all[0].begun_ns, before_ns, clock_now_ns());
	assert_true(runs.all[0].begun_real_ns > 0);
	assert_int_equal(runs.all[0].packages.n, 0);
	assert_int_equal(runs.all[0].n_samples, FAKE_SOCKETS);
	for (uint32_t i = 0; i < FAKE_SOCKETS; i++)
		assert_int_equal(
			runs.all[0].samples[i].values[FAKE_READ].count, FAKE_STEP * (i + 1));
	assert_string_equal(runs.all[1].id, "2");
	assert_false(packages_have(&runs.all[1].packages, FIRST));
	open_runs_done(&runs);
	scene_end(&scene);
}

CASE("a run that has ended is not open")
{
	struct open_runs runs;
	struct scene scene;

	scene_begin(&scene, NULL);
	assert_int_equal(begin(&scene, "written"), 0);
	assert_int_equal(end(&scene, "written"), 0);
	assert_int_equal(begin_run(&scene, "again", "first"), 0);
	assert_int_equal(begin_run(&scene, "again", "second"), 0);
	assert_int_equal(begin(&scene, "waits"), 0);
	snprintf(scene.to, sizeof scene.to, "/dev/null/records");
	assert_int_not_equal(end(&scene, "waits"), 0);
	assert_int_equal(open_runs_read(scene.folder, &runs), 0);
	assert_int_equal(runs.n, 1);
	assert_string_equal(runs.all[0].id, "again");
	open_runs_done(&runs);
	snprintf(scene.to, sizeof scene.to, "%s/records", scene.directory);
	scene_end(&scene);
}

CASE("a begin without a reading has no samples")
{
	struct open_runs runs;
	struct scene scene;
	struct job_wish wish;

	scene_begin(&scene, NULL);
	wish = wish_of(&scene, "1");
	wish.socket_path = "/nonexistent/socket";
	assert_int_equal(call(&scene, job_begin, &wish), 0);
	assert_int_equal(open_runs_read(scene.folder, &runs), 0);
	assert_int_equal(runs.n, 1);
	assert_int_equal(runs.all[0].uid, getuid());
	assert_int_equal(runs.all[0].n_samples, 0);
	assert_null(runs.all[0].samples);
	open_runs_done(&runs);
	scene_end(&scene);
}

CASE("where there is no folder none is made")
{
	struct open_runs runs;
	struct scene scene;

	scene_begin(&scene, NULL);
	assert_int_equal(open_runs_read(scene.folder, &runs), -ENOENT);
	assert_int_equal(runs.n, 0);
	open_runs_done(&runs);
	assert_int_equal(access(scene.folder, F_OK), -1);
	scene_end(&scene);
}

CASE("of too many runs those that began first count")
{
	const unsigned n = OPEN_RUNS_MAX + 3;
	struct open_runs runs;
	struct scene scene;
	char id[16];

	scene_begin(&scene, NULL);
	for (unsigned i = 0; i < n; i++) {
		struct run_head head;

		snprintf(id, sizeof id, "%u", i);
		head = head_of(id);
		head.begun_ns = n - i;
		make_run(&scene, &head);
	}
	assert_int_equal(open_runs_read(scene.folder, &runs), 0);
	assert_int_equal(runs.n, OPEN_RUNS_MAX);
	assert_true(runs.has_more);
	for (unsigned i = 0; i < runs.n; i++)
		assert_int_equal(runs.all[i].begun_ns, i + 1);
	open_runs_done(&runs);
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
	path_of(&scene, "1", path);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0640);
	scene_end(&scene);
}

/* --- what it finds --- */

/* Copies "good" to @name, of which only so many bytes, with another byte at @at. */
static void spoil(const struct scene *scene, const char *name, size_t size_bytes, size_t at)
{
	char path[PATH_BYTES], bytes[8192];
	ssize_t n;
	int fd;

	path_of(scene, "good", path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	n = read(fd, bytes, sizeof bytes);
	close(fd);
	assert_true(n > 4096);
	bytes[at] ^= 0x55;
	write_file(scene, name, bytes, (size_t)n < size_bytes ? (size_t)n : size_bytes);
}

CASE("garbage is not a run")
{
	static const char noise[6000] = "uncjob1";
	struct run_head head = head_of("good");
	struct open_runs runs;
	struct scene scene;
	char path[PATH_BYTES];

	scene_begin(&scene, NULL);
	make_run(&scene, &head);
	write_file(&scene, "empty", "", 0);
	write_file(&scene, "noise", noise, sizeof noise);
	write_file(&scene, ".hidden", noise, sizeof noise);
	write_file(&scene, "no ID", noise, sizeof noise);
	spoil(&scene, "copied", SIZE_MAX, sizeof noise);
	spoil(&scene, "magic", SIZE_MAX, 0);
	spoil(&scene, "short", 100, 0);
	path_of(&scene, "pipe", path);
	assert_int_equal(mkfifo(path, 0640), 0);
	path_of(&scene, "link", path);
	assert_int_equal(symlink("good", path), 0);
	assert_int_equal(open_runs_read(scene.folder, &runs), 0);
	assert_int_equal(runs.n, 1);
	assert_string_equal(runs.all[0].id, "good");
	assert_int_equal(runs.all[0].n_samples, 2);
	open_runs_done(&runs);
	scene_end(&scene);
}

/* The first page holds, and what follows does not. */
CASE("a reading that cannot be read back is none")
{
	static const size_t lengths[] = { 4096, 4100, 4096 + sizeof(struct uncore_sample) };
	struct run_head head = head_of("good");
	struct open_runs runs;
	struct scene scene;

	scene_begin(&scene, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(lengths) + 1; i++) {
		make_run(&scene, &head);
		if (i < ARRAY_SIZE(lengths))
			spoil(&scene, "good", lengths[i], 4095);
		else
			spoil(&scene, "good", SIZE_MAX, 4096); /* the size of a sample */
		assert_int_equal(open_runs_read(scene.folder, &runs), 0);
		assert_int_equal(runs.n, 1);
		assert_int_equal(runs.all[0].n_samples, 0);
		assert_null(runs.all[0].samples);
		open_runs_done(&runs);
	}
	scene_end(&scene);
}

CASE("locks hold up nobody that looks")
{
	struct open_runs runs;
	struct scene scene;
	char path[PATH_BYTES];
	int folder, file;

	scene_begin(&scene, NULL);
	assert_int_equal(begin(&scene, "1"), 0);
	folder = open_folder(&scene);
	path_of(&scene, "1", path);
	file = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(flock(folder, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(flock(file, LOCK_EX | LOCK_NB), 0);
	assert_int_equal(open_runs_read(scene.folder, &runs), 0);
	assert_int_equal(runs.n, 1);
	assert_int_equal(runs.all[0].n_samples, FAKE_SOCKETS);
	open_runs_done(&runs);
	close(file);
	close(folder);
	scene_end(&scene);
}

/* --- while it looks --- */

/* Runs come, get their reading, end and go, until the process is killed. */
static void come_and_go(const struct scene *scene)
{
	struct run_head head = head_of("1");
	struct uncore_sample samples[2] = { { .size = sizeof *samples },
		{ .size = sizeof *samples } };
	int folder = open_folder(scene);
	struct run run;

	for (head.begun_ns = 1;; head.begun_ns++) {
		head.state = RUN_BEGINNING;
		head.n_sockets = 0;
		if (run_create(folder, FOLDER_NEW, &head, &run) < 0 ||
			renameat(folder, FOLDER_NEW, folder, "1") < 0)
			_exit(1);
		run.head.state = RUN_BEGUN;
		run.head.n_sockets = 2;
		samples[0].sweep = samples[1].sweep = head.begun_ns;
		if (run_keep_reading(&run, samples) < 0 || run_end(&run, "{}") < 0)
			_exit(1);
		run_close(&run);
		if (head.begun_ns % 2)
			unlinkat(folder, "1", 0);
	}
}

CASE("runs may come and go meanwhile")
{
	unsigned n_with = 0, n_without = 0;
	struct open_runs runs;
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
		assert_int_equal(open_runs_read(scene.folder, &runs), 0);
		assert_true(runs.n <= 1);
		if (runs.n && runs.all[0].n_samples) {
			assert_int_equal(runs.all[0].n_samples, 2);
			assert_int_equal(runs.all[0].samples[1].sweep, runs.all[0].begun_ns);
			n_with++;
		} else if (runs.n) {
			assert_int_equal(runs.all[0].uid, 7);
			n_without++;
		}
		open_runs_done(&runs);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	scene_end(&scene);
}
