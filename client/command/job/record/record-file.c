/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/record/record-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "client/command/job/record/view.h"
#include "client/records/json.h"
#include "client/records/read.h"
#include "common/macro.h"
#include "common/text.h"

enum { NAME_BYTES = JOB_ID_BYTES + RECORD_TIME_MAX + LAUNCH_HOST_MAX, TWINS_MOST = 100 };

struct record_file {
	const char *to;
	const struct run *run;
	const char *text;
	uint32_t owner; /* of new files there */
	char *said;
};

/* --- its contents --- */

static int record_file_write_line(int fd, const char *text)
{
	struct iovec parts[] = { { (void *)text, strlen(text) }, { (void *)"\n", 1 } };
	ssize_t n = writev(fd, parts, ARRAY_SIZE(parts));

	if (n < 0)
		return -errno;
	return (size_t)n == strlen(text) + 1 ? 0 : -ENOSPC;
}

/* --- who may read it --- */

/* Uses an access control list: as its owner, the user could change the file, and a group would
 * let its other members read it. */
static void let_user_read(int fd, const struct record_file *file)
{
	const uint32_t known = file->run->head.uid;
	const uint32_t uid = known == UNCORE_UNKNOWN_USER ? file->owner : known;
	const char *blank;
	int r = record_folder_allow(fd, 0400, uid, R_OK);

	if (geteuid() == 0 && file->owner != 0)
		text_append(file->said, RUN_WHY_MAX,
			"Records in %.255s belong to user %u and not to root, as that file system "
			"has it (root_squash): --trust %u makes reports trust them.",
			file->to, file->owner, file->owner);
	if (r == 0 || uid == file->owner)
		return;
	blank = *file->said ? " " : "";
	if (r == -EOPNOTSUPP)
		text_append(file->said, RUN_WHY_MAX,
			"%sThe file system of %.255s has no access control lists, so user %u "
			"cannot read the record: mount it with them (option acl), choose another "
			"--to, or have root read records for users.",
			blank, file->to, uid);
	else
		text_append(file->said, RUN_WHY_MAX,
			"%sUser %u cannot read the record in %.255s, since its access control list "
			"cannot be set: %s.",
			blank, uid, file->to, strerror(-r));
}

/* The file is new, so nobody else can have it open for writing. */
static int record_file_write_draft(int folder_fd, const char *name, struct record_file *file)
{
	_cleanup_close_ int fd = -1;
	struct stat status;
	int r;

	if (unlinkat(folder_fd, name, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = openat(folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0400);
	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	file->owner = status.st_uid;
	r = record_file_write_line(fd, file->text);
	if (r < 0)
		return r;
	let_user_read(fd, file);
	return fsync(fd) < 0 ? -errno : 0;
}

/* --- its name --- */

static bool differ(const struct json_value *a, const struct json_value *b, const char *key)
{
	return strcmp(json_text(a, key, ""), json_text(b, key, "")) != 0;
}

static bool is_of_another_run(const char *held, const char *text)
{
	_cleanup_(json_document_done) struct json_document held_json, json;
	const struct json_value *theirs = json_document_take(&held_json, strdup(held));
	const struct json_value *ours = json_document_take(&json, strdup(text));

	return json_has(theirs, "job") &&
	       (differ(theirs, ours, "job") || differ(theirs, ours, "host") ||
		       differ(theirs, ours, "monotonic_ns"));
}

/* The text of a file, for free(3); "" if it is not a regular file. NULL: errno says why. */
static char *read_held(int folder_fd, const char *name, int flags, struct stat *ret_status)
{
	_cleanup_close_ int fd = openat(folder_fd, name, flags | O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char *text;

	*ret_status = (struct stat){ .st_size = 0 };
	if (fd < 0 || fstat(fd, ret_status) < 0)
		return NULL;
	text = calloc(RECORD_JOB_MOST_BYTES + 1, 1);
	if (text && S_ISREG(ret_status->st_mode) && read(fd, text, RECORD_JOB_MOST_BYTES) < 0) {
		free(text);
		return NULL;
	}
	return text;
}

static bool is_strangers(const struct stat *status, const struct record_file *file)
{
	return status->st_uid != 0 && status->st_uid != file->owner;
}

enum holder { OUR_RECORD, ANOTHER_RUN, SPOILT };

/* What already has the name? */
static enum holder record_file_look(int folder_fd, const char *name, const struct record_file *file)
{
	const size_t n = strlen(file->text);
	struct stat status;
	_cleanup_free_ char *held = read_held(folder_fd, name, O_NOFOLLOW, &status);

	if (!held)
		return errno == ELOOP ? SPOILT : ANOTHER_RUN;
	if ((size_t)status.st_size == n + 1 && strncmp(held, file->text, n) == 0)
		return is_strangers(&status, file) ? SPOILT : OUR_RECORD;
	return is_of_another_run(held, file->text) ? ANOTHER_RUN : SPOILT;
}

/* Links the file @aside to a name that no other run has: @ret_name. */
static int name_it(
	int folder_fd, const char *aside, const struct record_file *file, char ret_name[NAME_BYTES])
{
	char begun[RECORD_TIME_MAX], *name = ret_name, number[16] = "";

	record_time_in_name(file->run->head.begun_real_ns, begun);
	for (int i = 2; i < TWINS_MOST; i++) {
		enum holder holder;

		snprintf(name, NAME_BYTES, "%s@%s%s.json", file->run->head.id, begun, number);
		if (linkat(folder_fd, aside, folder_fd, name, 0) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
		holder = record_file_look(folder_fd, name, file);
		if (holder == OUR_RECORD)
			return 0;
		if (holder == SPOILT && renameat(folder_fd, aside, folder_fd, name) == 0)
			return 0;
		snprintf(number, sizeof number, ".%d", i);
	}
	return -EEXIST;
}

/* Each socket has it, and no text of a record: its quotes would be escaped. */
static bool has_figures(const char *text)
{
	return strstr(text, "\"window_ns\":") != NULL;
}

/* Does @link lead to a record with figures, or to one that cannot be read? */
static bool leads_to_figures(int folder_fd, const char *link, const struct record_file *file)
{
	struct stat status;
	_cleanup_free_ char *held = read_held(folder_fd, link, 0, &status);

	if (!held)
		return errno != ENOENT;
	return !is_strangers(&status, file) && has_figures(held);
}

/* Users know the job's ID and where it ran, but not when it began. */
static int point_at(int folder_fd, const char *aside, const char *link, const char *name)
{
	if (symlinkat(name, folder_fd, aside) < 0 ||
		renameat(folder_fd, aside, folder_fd, link) < 0)
		return -errno;
	return 0;
}

static int write_in(int folder_fd, struct record_file *file)
{
	char aside[NAME_BYTES], host[LAUNCH_HOST_MAX], name[NAME_BYTES];
	int r;

	job_host(host); /* several hosts may share the folder */
	snprintf(aside, sizeof aside, ".%s@%.100s", file->run->head.id, host);
	r = record_file_write_draft(folder_fd, aside, file);
	if (r == 0)
		r = name_it(folder_fd, aside, file, name);
	unlinkat(folder_fd, aside, 0);
	if (r < 0 || (!has_figures(file->text) && leads_to_figures(folder_fd, aside + 1, file)))
		return r;
	return point_at(folder_fd, aside, aside + 1, name);
}

int record_file_write(
	const char *to, const struct run *run, const char *text, char ret_said[RUN_WHY_MAX])
{
	struct record_file file = { .to = to, .run = run, .text = text, .said = ret_said };
	_cleanup_close_ int folder_fd = -1;
	int r = record_folder_open(to, run, &folder_fd, ret_said);

	if (r < 0)
		return r;
	r = write_in(folder_fd, &file);
	if (r == 0 && fsync(folder_fd) < 0)
		r = -errno;
	if (r < 0)
		snprintf(ret_said, RUN_WHY_MAX, "%s", strerror(-r));
	return r;
}
