/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "client/command/job/job.h"
#include "client/command/job/record/view.h"
#include "client/command/job/waiting.h"
#include "common/clock.h"
#include "common/macro.h"

enum { IS_ANOTHER_RUN = 1 };

/* Longer than a begin of the same job may wait for uncored. */
static const uint64_t PATIENCE_NS = JOB_PATIENCE_NS + JOB_PATIENCE_NS / 2;

/* --- what the record is --- */

struct ending {
	const struct job_wish *wish;
	struct folder *folder;
	struct waiting *waiting;
	uint32_t n_ended; /* ended runs that wait, before this run ends */
	struct job_end end;
	struct job_reading reading;
	struct job_said *said;
};

static int end_run(const struct ending *ending, struct run *run)
{
	_cleanup_free_ char *text = NULL;
	_cleanup_(job_view_done) struct job_view view;
	int r;

	job_view_init(&view, run, &ending->reading, &ending->folder->counts);
	view.end = ending->end;
	if (*view.why)
		snprintf(ending->said->remark, sizeof ending->said->remark, "%.*s", RUN_WHY_MAX - 1,
			view.why);
	strcpy(run->head.to, ending->wish->to ? ending->wish->to : "");
	r = job_json(&view, &text);
	if (r == 0)
		r = folder_begin_change(ending->folder);
	if (r == 0)
		r = run_end(run, text);
	if (r < 0)
		return r;
	counts_note(&ending->folder->counts, COUNTS_CLOSE, &run->head.packages);
	ending->folder->counts.n_ended++;
	return folder_end_change(ending->folder);
}

/* Was the last run of the ID written? Then this end may repeat an end that was killed. */
static int find_written(const struct folder *folder, const char *id, struct run *ret)
{
	_cleanup_(folder_names_done) struct folder_names aside = { .n = 0 };
	int r = folder->counts.n_aside ? folder_list(folder, FOLDER_ASIDE, &aside) : 0;

	for (size_t i = 0; i < aside.n; i++)
		if (folder_is_aside(aside.all[i]->d_name, id))
			r = -ENOENT;
	return r < 0 ? r : folder_open_written(folder, id, ret);
}

static int end_without_begin(const struct ending *ending, const char *why, struct run *ret)
{
	int r = folder_begin_change(ending->folder);

	if (r == 0)
		r = job_make_ended(ending->folder, ending->wish, why, ret);
	if (r < 0)
		return r;
	snprintf(ending->said->remark, sizeof ending->said->remark, "%s", why);
	ending->folder->counts.n_runs++;
	ending->folder->counts.n_ended++;
	return folder_end_change(ending->folder);
}

/* Without a key, the run may be any run. */
static bool is_another(const struct job_wish *wish, const struct run *run)
{
	return wish->key && *run->head.key && strcmp(wish->key, run->head.key) != 0;
}

/* For an ID without a run that is open or waits. */
static int decide_without(const struct ending *ending, struct run *ret)
{
	int r = find_written(ending->folder, ending->wish->id, ret);

	if (r == 0 && !is_another(ending->wish, ret))
		return run_lock(ret);
	if (r < 0 && r != -ENOENT && r != -EBADMSG)
		return r;
	run_close(ret);
	return end_without_begin(ending,
		"There is no begin of this job on this host: it was not called, or failed, or was "
		"killed, or the host was booted since.",
		ret);
}

/* 0: the run has ended, and is locked. IS_ANOTHER_RUN: the open run is another, and stays open. */
static int decide(const struct ending *ending, struct run *ret)
{
	int r = run_open(ending->folder->fd, ending->wish->id, O_RDWR, ret);

	if (r == -EBADMSG) {
		r = end_without_begin(ending, "Another release of uncore began this job.", ret);
		/* A change that does not end makes the next lock count anew. */
		return r < 0 ? r : folder_begin_change(ending->folder);
	}
	if (r == -ENOENT)
		return decide_without(ending, ret);
	if (r == 0 && run_is_open(ret) && is_another(ending->wish, ret))
		return IS_ANOTHER_RUN;
	if (r == 0)
		r = run_lock(ret);
	if (r == 0 && run_is_open(ret))
		r = end_run(ending, ret);
	return r;
}

static int decide_in(struct ending *ending, struct run *ret)
{
	const uint64_t deadline_ns = clock_deadline_ns(PATIENCE_NS);
	int r;

	do {
		run_close(ret);
		r = folder_lock(ending->folder, deadline_ns);
		if (r < 0)
			return r;
		ending->n_ended = ending->folder->counts.n_ended;
		r = decide(ending, ret);
		folder_unlock(ending->folder);
	} while (job_may_retry(r, deadline_ns));
	return r;
}

/* --- writing it --- */

static void say_refused(const struct ending *ending, const char *to, int kept)
{
	const char *open_jobs = ending->wish->folder_path, *spool = ending->wish->spool_path;
	char where[256];

	if (kept == 0)
		snprintf(where, sizeof where, "%.200s", spool);
	else
		snprintf(where, sizeof where, "%.60s until the next boot (%.60s: %s)", open_jobs,
			spool ? spool : "no folder", strerror(-kept));
	snprintf(ending->said->error, sizeof ending->said->error,
		"The record of the job cannot be written into %.200s: %.400s. It waits in %s. Each "
		"`uncore job begin` and `uncore job end` tries again.",
		to, ending->said->file, where);
}

/* True in *@ret_is_safe: the record is in its folder, or waits on the disk. */
static int write_file(
	const struct ending *ending, const struct run *run, const char *text, bool *ret_is_safe)
{
	int r = 0, kept = 0;

	if (*run->head.to)
		r = waiting_write(ending->waiting, run, text, ending->said->file);
	if (r < 0) {
		kept = spool_put(&ending->waiting->spool, run, text);
		say_refused(ending, run->head.to, kept);
	}
	*ret_is_safe = kept == 0;
	return r;
}

static int print(const struct ending *ending, const char *text)
{
	int r;

	printf("%s\n", text);
	if (fflush(stdout) != EOF)
		return 0;
	r = errno ? -errno : -EIO;
	if (!*ending->said->error)
		snprintf(ending->said->error, sizeof ending->said->error,
			"The record of the job cannot be printed: %s. The next `uncore job end` of "
			"it tries again.",
			strerror(-r));
	return r;
}

static int note_written(const struct ending *ending, const struct run *run)
{
	int r = folder_lock(ending->folder, clock_deadline_ns(JOB_PATIENCE_NS));

	if (r == 0) {
		r = folder_note_written(ending->folder, run);
		folder_unlock(ending->folder);
	}
	return r < 0 ? job_say_folder(ending->wish, r, ending->said) : 0;
}

/* The folder of this end applies, even if another end has ended the run. */
static int send_to(const struct ending *ending, struct run *run)
{
	const char *to = ending->wish->to;

	if (!to || strcmp(run->head.to, to) == 0)
		return 0;
	strcpy(run->head.to, to);
	return run_keep_head(run);
}

/* A record that is not noted as written is written again by the next end, with the same content. */
static int write_and_note(const struct ending *ending, struct run *run)
{
	_cleanup_free_ char *text = NULL;
	bool is_safe = false;
	int r = send_to(ending, run), printed;

	if (r == 0)
		r = run_read_text(run, &text);
	if (r < 0 || !text)
		return job_say_folder(ending->wish, r, ending->said);
	r = write_file(ending, run, text, &is_safe);
	printed = print(ending, text);
	if (r == 0)
		r = printed;
	if (is_safe && printed == 0) {
		int noted = note_written(ending, run);

		return r < 0 ? r : noted;
	}
	return r;
}

static int write_aside(const struct ending *ending, const char *name)
{
	_cleanup_(run_close) struct run run = { .fd = -1 };
	int r = run_open(ending->folder->fd, name, O_RDWR, &run);

	if (r == 0)
		r = run_lock(&run);
	/* Another end has written it, or is about to, or another release made it. */
	if (r == -ENOENT || r == -EWOULDBLOCK || r == -EBADMSG)
		return 0;
	return r < 0 ? job_say_folder(ending->wish, r, ending->said) : write_and_note(ending, &run);
}

/* A record that cannot be written does not keep back the others. */
static int write_all_aside(const struct ending *ending)
{
	_cleanup_(folder_names_done) struct folder_names names;
	int r = folder_list(ending->folder, FOLDER_ASIDE, &names);

	if (r < 0)
		return job_say_folder(ending->wish, r, ending->said);
	for (size_t i = 0; i < names.n; i++) {
		const char *name = names.all[i]->d_name;
		int written =
			folder_is_aside(name, ending->wish->id) ? write_aside(ending, name) : 0;

		r = r < 0 ? r : written;
	}
	return r;
}

/* Then nothing is known of the job, and nothing can be kept for a repeated end. */
static int end_without_room(const struct ending *ending)
{
	_cleanup_free_ char *text = NULL;
	struct run run = { .fd = -1 };
	char why[RUN_WHY_MAX];
	bool is_safe;
	int r, printed;

	snprintf(why, sizeof why,
		"%.400s has no room for the job, so there is no reading of its begin.",
		ending->wish->folder_path);
	r = job_unbegun(ending->wish, why, &run.head, &text);
	if (r < 0 || !text)
		return job_say_folder(ending->wish, r, ending->said);
	r = write_file(ending, &run, text, &is_safe);
	printed = print(ending, text);
	if (r == 0 && printed == 0)
		strcpy(ending->said->error, why);
	return r < 0 ? r : printed;
}

/* --- all steps --- */

/* @decided: what decide_in() returned. */
static int write_own(const struct ending *ending, struct run *run, int decided)
{
	if (decided == -ENOSPC)
		return end_without_room(ending);
	if (decided != IS_ANOTHER_RUN)
		return write_and_note(ending, run);
	snprintf(ending->said->remark, sizeof ending->said->remark,
		"Job %s is open with another run, which stays open.", run->head.id);
	return 0;
}

static int write_all(const struct ending *ending, struct run *run, int decided)
{
	int aside = 0, own;

	if (ending->n_ended)
		waiting_try_folder(ending->waiting, ending->folder);
	waiting_try_spool(ending->waiting, ending->wish->id);
	if (decided < 0 && decided != -ENOSPC)
		return job_say_folder(ending->wish, decided, ending->said);
	if (ending->folder->counts.n_aside)
		aside = write_all_aside(ending);
	own = write_own(ending, run, decided);
	return aside < 0 ? aside : own;
}

static int decide_by_reading(struct ending *ending, struct run *ret)
{
	int r;

	job_reading_take(ending->wish->socket_path, READER_DIFFERENCE,
		ending->end.ns + JOB_PATIENCE_NS, &ending->reading);
	r = decide_in(ending, ret);
	if (r >= 0 && ending->reading.is_reached)
		job_owner_follow(ending->folder, ending->wish->socket_path, ending->said);
	job_reading_done(&ending->reading);
	return r;
}

int job_end(const struct job_wish *wish, struct job_said *ret_said)
{
	_cleanup_(waiting_done) struct waiting waiting;
	_cleanup_(folder_close) struct folder folder;
	struct ending ending = {
		.wish = wish,
		.folder = &folder,
		.waiting = &waiting,
		.end = { .real_ns = (int64_t)clock_wall_ns(),
			.ns = clock_now_ns(),
			.exit = wish->exit },
		.said = ret_said,
	};
	_cleanup_(run_close) struct run run = { .fd = -1 };
	int r = folder_open(wish->folder_path, &folder);

	*ret_said = (struct job_said){ .error = "" };
	if (r == 0)
		r = decide_by_reading(&ending, &run);
	waiting_init(&waiting, wish->spool_path);
	return write_all(&ending, &run, r);
}
