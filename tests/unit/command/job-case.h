/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by the tests of jobs: folders of their own, a daemon whose counts are known, and begins
 * and ends in processes of their own, whose output is kept.
 */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/command/job/job.h"
#include "client/command/job/record/view.h"
#include "common/macro.h"
#include "tests/harness/fake-daemon.h"
#include "tests/harness/test.h"
#include "tests/harness/traced.h"

enum { RECORDS_MAX = 16, PATH_BYTES = 256, FIRST = 0, SECOND = 2 }; /* packages of the fake */

struct scene {
	struct fake_daemon daemon;
	char directory[32];
	char folder[64]; /* of open jobs */
	char to[64];     /* of records */
	char spool[64];  /* of records that wait */
	char output[64]; /* stdout of all ends */
	unsigned stop;   /* at which the next process is killed: see traced_kill_at(); 0: none */
	bool was_killed;
};

static inline void scene_begin(struct scene *scene, const struct fake_options *options)
{
	/* in memory, because each end waits until its record is on the disk */
	*scene = (struct scene){ .directory = "/dev/shm/uncore-jobs-XXXXXX" };
	assert_non_null(mkdtemp(scene->directory));
	snprintf(scene->folder, sizeof scene->folder, "%s/open", scene->directory);
	snprintf(scene->to, sizeof scene->to, "%s/records", scene->directory);
	snprintf(scene->spool, sizeof scene->spool, "%s/spool", scene->directory);
	snprintf(scene->output, sizeof scene->output, "%s/output", scene->directory);
	fake_daemon_start(&scene->daemon, options, 1);
}

static inline void empty(const char *path)
{
	DIR *directory = opendir(path);
	const struct dirent *entry;

	while (directory && (entry = readdir(directory)))
		unlinkat(dirfd(directory), entry->d_name, 0);
	if (directory)
		closedir(directory);
}

static inline void scene_end(struct scene *scene)
{
	fake_daemon_stop(&scene->daemon);
	fake_daemon_done(&scene->daemon);
	empty(scene->folder);
	empty(scene->to);
	empty(scene->spool);
	rmdir(scene->folder);
	rmdir(scene->to);
	rmdir(scene->spool);
	unlink(scene->output);
	assert_int_equal(rmdir(scene->directory), 0);
}

static inline struct job_wish wish_of(const struct scene *scene, const char *id)
{
	return (struct job_wish){
		.folder_path = scene->folder,
		.spool_path = scene->spool,
		.socket_path = scene->daemon.path,
		.id = id,
		.uid = getuid(),
		.to = scene->to,
	};
}

/* --- processes --- */

/* Calls @verb in a process of its own; returns 0 or a positive errno, or -1: it was killed. */
static inline int call(struct scene *scene, int (*verb)(const struct job_wish *, struct job_said *),
	const struct job_wish *wish)
{
	const unsigned stop = scene->stop;
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		struct job_said said;

		if (!freopen(scene->output, "a", stdout))
			_exit(255);
		if (stop)
			traced_begin();
		status = -verb(wish, &said);
		if (status && !*said.error)
			_exit(254);
		_exit(status);
	}
	scene->stop = 0;
	status = traced_kill_at(pid, stop);
	scene->was_killed = status < 0;
	return status;
}

static inline int begin_run(struct scene *scene, const char *id, const char *key)
{
	struct job_wish wish = wish_of(scene, id);

	wish.key = key;
	return call(scene, job_begin, &wish);
}

static inline int begin(struct scene *scene, const char *id)
{
	return begin_run(scene, id, NULL);
}

static inline int begin_on(struct scene *scene, const char *id, uint32_t package)
{
	struct job_wish wish = wish_of(scene, id);

	wish.packages = (struct packages){ .n = 1, .ids = { package } };
	return call(scene, job_begin, &wish);
}

static inline int end(struct scene *scene, const char *id)
{
	struct job_wish wish = wish_of(scene, id);

	return call(scene, job_end, &wish);
}

/* Is there a run of this ID whose state is open? */
static inline bool is_open(const struct scene *scene, const char *id)
{
	int folder = open(scene->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct folder_runs runs = { .n = 0 };
	bool open = folder >= 0 && folder_read(folder, RUN_IS_OPEN, id, &runs) == 0 && runs.n;

	folder_runs_done(&runs);
	close_fd(&folder);
	return open;
}

/* The runs of the folder, for folder_runs_done(). */
static inline void runs_of(const struct scene *scene, struct folder_runs *ret)
{
	int folder = folder_open(scene->folder);

	assert_true(folder >= 0);
	assert_int_equal(folder_lock(folder, UINT64_MAX), 0);
	assert_int_equal(
		folder_read(folder, RUN_IS_OPEN | RUN_IS_ENDED | RUN_IS_WRITTEN, NULL, ret), 0);
	close(folder);
}

/* The path of the file of the open job @id. */
static inline void path_of_open(const struct scene *scene, const char *id, char ret[PATH_BYTES])
{
	struct folder_runs runs;
	const struct run *run;

	runs_of(scene, &runs);
	run = folder_last(&runs, id, RUN_IS_OPEN);
	assert_non_null(run);
	snprintf(ret, PATH_BYTES, "%s/%.112s", scene->folder, run->base);
	folder_runs_done(&runs);
}

/* --- records --- */

struct records {
	size_t n;
	struct json_object *all[RECORDS_MAX];
};

static inline const char *text(struct json_object *record, const char *key)
{
	struct json_object *member = NULL;

	assert_true(json_object_object_get_ex(record, key, &member));
	return json_object_get_string(member);
}

static inline struct json_object *region_of(struct json_object *record)
{
	struct json_object *regions = json_object_object_get(record, "regions");

	assert_int_equal(json_object_array_length(regions), 1);
	return json_object_array_get_idx(regions, 0);
}

/* The socket of this number in an array; NULL: there is none. */
static inline struct json_object *find_socket(struct json_object *sockets, int64_t number)
{
	for (size_t i = 0; i < json_object_array_length(sockets); i++) {
		struct json_object *socket = json_object_array_get_idx(sockets, i);

		if (json_object_get_int64(json_object_object_get(socket, "socket")) == number)
			return socket;
	}
	return NULL;
}

/* One that the job could use; NULL: there is none. */
static inline struct json_object *used_socket(struct json_object *record, size_t i)
{
	return find_socket(json_object_object_get(region_of(record), "sockets"), (int64_t)i);
}

/* Has it figures? Else it says why not. */
static inline bool is_complete(struct json_object *record)
{
	const bool has_failed = json_object_object_get(record, "failure");

	assert_true(has_failed == !used_socket(record, 0));
	return !has_failed;
}

/* Member @key of socket @i, used or not. */
static inline struct json_object *of_socket(struct json_object *record, size_t i, const char *key)
{
	struct json_object *socket = used_socket(record, i), *member = NULL;

	if (!socket)
		socket = find_socket(json_object_object_get(record, "outside"), (int64_t)i);
	assert_true(json_object_object_get_ex(socket, key, &member));
	return member;
}

static inline int64_t number_of_socket(struct json_object *record, size_t i, const char *key)
{
	return json_object_get_int64(of_socket(record, i, key));
}

static inline void records_done(struct records *records)
{
	for (size_t i = 0; i < records->n; i++)
		json_object_put(records->all[i]);
	records->n = 0;
}

/* The link to the latest record is not another record. */
static inline int is_json(const struct dirent *entry)
{
	const char *ending = strrchr(entry->d_name, '.');

	return ending && strcmp(ending, ".json") == 0;
}

/* Those of the files of @id. Each is whole, and has its mode. */
static inline void records_of(const struct scene *scene, const char *id, struct records *ret)
{
	struct dirent **entries;
	int n = scandir(scene->to, &entries, is_json, alphasort);
	char path[PATH_BYTES];

	ret->n = 0;
	for (int i = 0; i < n; i++) {
		const char *name = entries[i]->d_name;

		if (strncmp(name, id, strlen(id)) == 0 && name[strlen(id)] == '@') {
			struct stat status;

			snprintf(path, sizeof path, "%s/%.120s", scene->to, name);
			assert_int_equal(stat(path, &status), 0);
			assert_int_equal(status.st_mode & 07777, 0440);
			assert_true(ret->n < RECORDS_MAX);
			ret->all[ret->n] = json_object_from_file(path);
			assert_non_null(ret->all[ret->n]);
			assert_string_equal(text(ret->all[ret->n], "job"), id);
			ret->n++;
		}
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
}

/* The one record of @id, for json_object_put(). */
static inline struct json_object *record_of(const struct scene *scene, const char *id)
{
	struct records records;

	records_of(scene, id, &records);
	assert_int_equal(records.n, 1);
	return records.all[0];
}

/* Ends @id; returns its record. */
static inline struct json_object *end_of(struct scene *scene, const char *id)
{
	assert_int_equal(end(scene, id), 0);
	return record_of(scene, id);
}

/* The record that users find by the name of @id, for json_object_put(). */
static inline struct json_object *named_record(const struct scene *scene, const char *id)
{
	char path[PATH_BYTES], host[LAUNCH_HOST_MAX];
	struct json_object *record;

	job_host(host);
	snprintf(path, sizeof path, "%s/%s@%.100s", scene->to, id, host);
	record = json_object_from_file(path);
	assert_non_null(record);
	return record;
}
