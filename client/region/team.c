/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/team.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "client/launcher/launch.h"
#include "client/libuncore/internal.h"
#include "client/region/interval.h"
#include "client/region/own-table.h"
#include "client/region/pace.h"
#include "common/clock.h"
#include "common/number.h"
#include "common/same-file.h"

/* States in header.ending. ENDING is in the lowest byte. Other values count as OPEN. */
enum { OPEN = 0, ENDING = 1, ENDED = 2 };
enum { RUNS_TRIED = 100 };
enum { OVERHEAD = 200 }; /* of readings, in ten-thousandths of the wall time */

/* Ending a team takes microseconds. If a process is stopped meanwhile, others wait this long for
 * it. */
static const uint64_t ENDING_MOST_NS = 500000000;

/* Bounds the attempts, in case another program keeps overwriting the table. */
static const uint64_t ENDING_TRIED_NS = 5000000000;

/* --- the ending --- */

static uint32_t ending_now(const struct table *table)
{
	return __atomic_load_n(&table->header.ending, __ATOMIC_SEQ_CST);
}

/* Waits while another process checks whether it is the last one. Returns the word after that. */
static uint32_t await_ending(struct table *table)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	const uint64_t deadline_ns = clock_deadline_ns(ENDING_MOST_NS);
	uint32_t now;

	while (now = ending_now(table), (now & 0xff) == ENDING && clock_now_ns() < deadline_ns)
		nanosleep(&pause, NULL);
	if ((now & 0xff) == ENDING)
		REPLACE(table->header.ending, now, OPEN);
	return ending_now(table);
}

static bool is_member_left(const struct team *team)
{
	return member_look_for_dead(&team->member);
}

/* A leaving process keeps its slot locked until it knows whether it ends the team. */
static bool is_place_held(const struct team *team)
{
	return member_is_any_there(team->kept.fd);
}

/* 1: no member is there, and the run is over; 0: a member is there; -EAGAIN: another process
 * checks, too. */
static int end_unless(struct team *team, uint32_t from, bool (*is_any_there)(const struct team *))
{
	uint32_t *ending = &team->table->header.ending;
	/* The time makes this attempt unique, also among those of this process. */
	uint32_t ours = ENDING | (uint32_t)clock_now_ns() << 8;

	if (!REPLACE(*ending, from, ours))
		return -EAGAIN;
	if (is_any_there(team)) {
		REPLACE(*ending, ours, OPEN);
		return 0;
	}
	return REPLACE(*ending, ours, ENDED) ? 1 : -EAGAIN;
}

/* Ends the run if no member is left. True: this member was the last one. */
static bool team_end_run(struct team *team)
{
	const uint64_t deadline_ns = clock_deadline_ns(ENDING_TRIED_NS);
	int r = is_member_left(team) ? 0 : -EAGAIN;

	while (r == -EAGAIN && clock_now_ns() < deadline_ns) {
		const uint32_t now = await_ending(team->table);

		r = now == ENDED ? 0 : end_unless(team, now, is_member_left);
	}
	if (r == 1)
		STORE(team->table->header.ended_ns, clock_wall_ns());
	return r == 1;
}

/* --- joining --- */

/* UNCORE_OVERHEAD, a percentage, in ten-thousandths. */
static uint32_t wished_overhead(void)
{
	const char *text = secure_getenv("UNCORE_OVERHEAD");
	double percent;

	if (!text || !number_parse_decimal(text, 100, &percent) || percent > 100)
		return OVERHEAD;
	return (uint32_t)ceil(percent * 100);
}

/* The first member decides. */
static void agree_on_wish(struct table_header *header)
{
	const uint32_t ours = PACE_WISHED | wished_overhead();
	uint32_t first = 0;

	if (!REPLACE(header->overhead, first, ours) && first != ours)
		STORE(header->other_overhead, ours);
}

/* Members that join at the same time all write the same, except the command and the time. */
static void team_describe(struct team *team, const char *name, uint64_t begun_ns)
{
	struct table_header *header = &team->table->header;
	char job[LAUNCH_JOB_MAX], host[LAUNCH_HOST_MAX], label[LAUNCH_LABEL_MAX];
	uint64_t none = 0;

	agree_on_wish(header);
	if (!REPLACE(header->begun_ns, none, begun_ns))
		return;
	launch_host(host);
	launch_job(job);
	launch_label(label);
	TABLE_WRITE_TEXT(header->name, name);
	TABLE_WRITE_TEXT(header->host, host);
	TABLE_WRITE_TEXT(header->job, job);
	TABLE_WRITE_TEXT(header->label, label);
	TABLE_WRITE_TEXT(header->command, program_invocation_short_name);
	STORE(header->run, team->kept.run);
	if (strcmp(name, team->step) == 0) /* a process alone was not announced by a launcher */
		STORE(header->n_expected, job_step_local_size());
}

/* Ends the run if all members were killed. Marks them as dead, so that a member that is alive but
 * has closed its descriptor sees that it is not a member any more. */
static void end_if_deserted(struct team *team)
{
	const uint32_t now = ending_now(team->table);

	if (now != ENDED && __atomic_load_n(&team->table->header.n_joined, __ATOMIC_SEQ_CST) &&
		!is_place_held(team) && end_unless(team, now, is_place_held) == 1)
		member_count_living(team->table, team->kept.fd);
}

/* 1: joined; 0: this run of the team is over. */
static int team_enter(struct team *team)
{
	int r;

	if (!team->maker)
		end_if_deserted(team);
	if (ending_now(team->table) == ENDED)
		return 0;
	r = member_join(&team->member, team->table, team->kept.fd, TABLE_JOINED);
	if (r < 0)
		return r;
	team->member.is_own = team->maker;
	team->member.file = team->file;
	if (await_ending(team->table) != ENDED)
		return 1;
	member_leave(&team->member);
	member_let_go(&team->member);
	interval_done(&team->member);
	return 0;
}

void team_let_go(struct team_table *kept)
{
	if (!member_is_this_process(kept->fd))
		team_table_done(kept);
}

static void drop_table(struct team *team)
{
	table_unmap(team->table);
	team->table = NULL;
	team_let_go(&team->kept);
}

static int join_run(struct team *team, const struct team_wish *wish)
{
	int r = team_join(NULL, wish, &team->kept);

	if (r < 0)
		return r;
	r = table_map(team->kept.fd, team->kept.bytes, &team->table);
	if (r == 0)
		r = team_enter(team);
	if (r <= 0)
		drop_table(team);
	return r;
}

static int team_join_by_name(struct team *team, const char *name)
{
	struct team_wish wish = { .name = name, .layout = TABLE_LAYOUT, .bytes = table_bytes() };
	int r = 0;

	for (int i = 0; i < RUNS_TRIED && r == 0; i++) {
		r = join_run(team, &wish);
		wish.after_run = team->kept.run;
	}
	return r ? r : error_say(-EAGAIN, "Each run of this team had ended before it was joined.");
}

/* If there is no file, children make tables of their own. */
static int be_alone(struct team *team)
{
	team->maker = getpid();
	team->kept = (struct team_table){ .bytes = table_bytes() };
	team->kept.fd = own_table_new(&team->table, &team->file);
	if (!team->table)
		return error_say(-ENOMEM, "No memory for the regions of this process.");
	return team_enter(team) < 0 ? -ENOMEM : 0;
}

/* 1: this child has joined the parent's table; 0: its run is over, or the program closed it. */
static int inherit(struct team *team, struct team *parents)
{
	int r;

	if (!member_has_file(&parents->member, parents->kept.fd)) {
		table_unmap(parents->table);
		return 0;
	}
	team->table = parents->table;
	team->kept = parents->kept;
	team->maker = parents->maker;
	team->file = parents->file;
	r = team_enter(team);
	if (r <= 0)
		drop_table(team);
	return r;
}

/* A process that is alone despite a job step began at @came_ns, not when it gave up: its team may
 * have ended by then. */
static int begin_alone(struct team *team, struct team *parents, uint64_t came_ns)
{
	int r;

	if (*team->step)
		snprintf(team->why_alone, sizeof team->why_alone, "%s", uncore_error_text());
	if (parents && inherit(team, parents) > 0)
		return 0;
	r = be_alone(team);
	if (r < 0)
		return r;
	team_describe(team, "", came_ns);
	return 0;
}

int team_begin(struct team *ret, struct team *parents)
{
	const uint64_t came_ns = clock_wall_ns();

	*ret = (struct team){ .kept.fd = -1 };
	if (parents && !parents->maker) {
		team_disown(parents);
		parents = NULL;
	}
	job_step_name(ret->step);
	if (!*ret->step || team_join_by_name(ret, ret->step) < 0)
		return begin_alone(ret, parents, came_ns);
	if (parents)
		team_disown(parents);
	team_describe(ret, ret->step, clock_wall_ns());
	return 0;
}

/* --- leaving --- */

/* Asks which other teams there were, while the lock shows that this one is alive. */
static void learn_of_others(struct team *team)
{
	const struct team_choice choice = {
		.uid = TEAM_OWN, .name = team->kept.name, .run = team->kept.run
	};
	struct team_table kept;

	if (team->maker || team_look(NULL, &choice, &team->kept, &kept) < 0)
		return;
	if (kept.fd == team->kept.fd)
		team->kept = kept;
	else
		team_let_go(&kept);
}

bool team_end(struct team *team)
{
	bool is_last;

	member_leave(&team->member);
	is_last = team_end_run(team);
	if (is_last)
		learn_of_others(team);
	else
		member_let_go(&team->member);
	return is_last;
}

void team_release_table(const struct team *team)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	const size_t from = (sizeof team->table->header + page_bytes - 1) / page_bytes * page_bytes;

	if (team->kept.fd < 0)
		return;
	__atomic_store_n(&team->table->header.is_reported, 1, __ATOMIC_RELEASE);
	/* Threads may go on to write to a file, for which the disk could then have no room. */
	if (!team->file)
		madvise((char *)team->table + from, table_bytes() - from, MADV_REMOVE);
	else if (same_file_is_at(team->file, team->member.device, team->member.inode))
		unlink(team->file);
}

void team_disown(struct team *parents)
{
	table_unmap(parents->table);
	/* The program may have closed the descriptor: its number may be another file's now. */
	if (member_has_file(&parents->member, parents->kept.fd))
		team_let_go(&parents->kept);
}
