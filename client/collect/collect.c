/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records of teams whose tables uncored keeps, and readings for them, for any process, also for a
 * member of the team.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/collect/snapshot.h"
#include "client/libuncore/internal.h"
#include "client/libuncore/team-call.h"
#include "client/region/activity.h"
#include "client/region/interval.h"
#include "client/region/own-table.h"
#include "client/region/pace.h"
#include "client/region/regions.h"
#include "client/report/json.h"
#include "common/clock.h"

static_assert(TEAM_OWN == UNCORE_UNKNOWN_USER, "own");

/* The table of this process's team; NULL: this copy of the library has none. */
static const struct team_table *own_table(void)
{
	const struct regions *regions = regions_now();

	return regions && member_has_file(&regions->team.member, regions->team.kept.fd)
		       ? &regions->team.kept
		       : NULL;
}

/* What is wished of a team. */
struct wish {
	const char *socket_path;
	uint32_t uid;
	const char *name; /* NULL: number @number of all */
	uint32_t number;  /* with a name: the run */
	char **ret_json;
	uint64_t gap_ns, *left_ns;
};

/* No thread may join the team meanwhile: closing the descriptor would release its lock. */
static int with_team(
	const struct wish *wish, int (*act)(const struct wish *wish, const struct team_table *kept))
{
	const struct team_choice choice = {
		.uid = wish->uid,
		.name = wish->name,
		.run = wish->name ? wish->number : 0,
		.number = wish->name ? 0 : wish->number,
	};
	struct team_table kept;
	int r;

	if (!regions_hold())
		return regions_no_memory();
	r = team_look(wish->socket_path, &choice, own_table(), &kept);
	if (r >= 0) {
		r = act(wish, &kept);
		team_let_go(&kept);
	}
	regions_release();
	return r;
}

/* Dead members must be marked before the record is made. */
static int make_json(struct table *table, const struct team_table *kept, char **ret_json)
{
	_cleanup_(record_done) struct record record = { .host = "" };
	unsigned n_living;
	int r;

	if (__atomic_load_n(&table->header.is_reported, __ATOMIC_ACQUIRE))
		return error_say(-EALREADY, "Run %u of team %s has reported itself already.",
			kept->run, kept->name);
	n_living = member_count_living(table, kept->fd);
	r = snapshot(table, &record);
	if (n_living && table->header.boot_ns)
		record_warn(&record,
			n_living == 1 ? "%u process still runs: these are its figures so far."
				      : "%u processes still run: these are their figures so far.",
			n_living);
	snapshot_warn_of_others(kept, &record);
	if (r == 0)
		r = record_json(&record, ret_json);
	if (r < 0)
		return error_say(r, "No memory for the record of team %s.", kept->name);
	return (int)n_living;
}

static int collect_map_kept(const struct team_table *kept, struct table **ret)
{
	if (kept->layout != TABLE_LAYOUT)
		return error_say(-EBADMSG,
			"Team %s belongs to another release of libuncore: use the uncore command "
			"of that release.",
			kept->name);
	return table_map(kept->fd, kept->bytes, ret);
}

static int collect_forget(const struct wish *wish, const struct team_table *kept)
{
	return team_forget(wish->socket_path, kept);
}

/* --- observing --- */

/* How long ago the last reading was. 0: there is nothing to read. To look at the regions of a table
 * that was reported would give it memory again. */
static uint64_t unread_ns(const struct table *table, uint64_t now_ns)
{
	const uint64_t last_ns = LOAD(table->header.last_reading_ns);

	if (__atomic_load_n(&table->header.is_reported, __ATOMIC_ACQUIRE) ||
		!activity_is_unread(table))
		return 0;
	return now_ns > last_ns ? now_ns - last_ns : 0;
}

/* @lived_ns: a member lived then. @last: what uncored read, or NULL. */
static void note_end(struct table_header *header, uint64_t read_ns, uint64_t lived_ns,
	const struct team_reading *last)
{
	const uint64_t seen_ns = last ? last->noticed_ns : read_ns;

	if (last && last->alive_ns > lived_ns)
		lived_ns = last->alive_ns;
	STORE(header->buried_after_ns, seen_ns > lived_ns ? seen_ns - lived_ns : 0);
	STORE(header->noticed_ns, last ? seen_ns : 0);
	STORE(header->buried_ns, read_ns);
}

/* Makes a reading of what uncored read. -EBADMSG: it is of another machine than the table. */
static int collect_take_last(
	const struct table *table, const struct team_reading *last, struct readout *readout)
{
	const uint32_t n_metrics = LOAD(table->header.n_metrics);

	if (last->n_sockets != LOAD(table->header.n_sockets))
		return -EBADMSG;
	readout->samples = calloc(last->n_sockets, sizeof *readout->samples);
	if (!readout->samples)
		return -ENOMEM;
	readout->n_sockets = last->n_sockets;
	for (uint32_t i = 0; i < last->n_sockets; i++) {
		struct uncore_sample *sample = &readout->samples[i];
		const bool is_wanted = table_sockets(table) >> i & 1;

		*sample = (struct uncore_sample){ .size = sizeof *sample, .socket = i };
		memcpy(sample->generation, last->generation, sizeof sample->generation);
		memcpy(&sample->sweep, &last->sweeps[i], sizeof last->sweeps[i]);
		sample->sweep = is_wanted ? sample->sweep : 0;
		sample->n_values = is_wanted ? n_metrics : 0;
	}
	return 0;
}

/* Adds a reading, which ends what the dead held. */
static int add_reading(
	struct member *observer, struct meter *meter, const struct team_reading *last)
{
	_cleanup_(readout_done) struct readout readout = { .n_sockets = 0 };
	struct table_header *header = &observer->table->header;
	const uint64_t began_ns = clock_now_ns();
	const uint64_t lived_ns = LOAD(header->last_look_ns),
		       read_ns = LOAD(header->last_reading_ns);
	const bool is_open = activity_is_unread(observer->table);
	int r = last ? collect_take_last(observer->table, last, &readout)
		     : meter_read(meter, &readout);
	unsigned n_living;

	if (r < 0)
		return r;
	n_living = member_look_for_dead(observer);
	state_recount_all(observer->table);
	if (!n_living && is_open)
		note_end(header, last ? last->sweeps[0].end_ns : clock_now_ns(),
			lived_ns > read_ns ? lived_ns : read_ns, last);
	interval_add(observer, &readout);
	pace_add_cost(observer->table, clock_now_ns() - began_ns);
	return 1;
}

/* @last: what uncored read, or NULL to take a reading. */
static int observe_table(
	struct table *table, int fd, const char *socket_path, const struct team_reading *last)
{
	struct member observer;
	struct meter meter;
	int r = member_join(&observer, table, fd, TABLE_OBSERVES);

	if (r < 0)
		return r;
	meter_init(&meter, table);
	meter.reader.socket_path = socket_path;
	meter.is_observers = true;
	r = last ? 0 : meter_connect(&meter);
	if (r == 0)
		r = add_reading(&observer, &meter, last);
	reader_close(&meter.reader);
	member_leave(&observer);
	member_let_go(&observer);
	interval_done(&observer);
	return r;
}

static int observe_if_due(const struct wish *wish, const struct team_table *kept)
{
	struct table *table = NULL;
	int r = collect_map_kept(kept, &table);
	uint64_t passed_ns;

	if (!table)
		return r;
	passed_ns = unread_ns(table, clock_now_ns());
	if (passed_ns && passed_ns < wish->gap_ns)
		*wish->left_ns = wish->gap_ns - passed_ns;
	else if (passed_ns)
		r = observe_table(table, kept->fd, wish->socket_path, NULL);
	table_unmap(table);
	return r;
}

_public_ int uncore_team_observe(
	const char *socket_path, const char *name, uint64_t gap_ns, uint64_t *ret_left_ns)
{
	uint64_t left_ns = gap_ns;
	const struct wish wish = {
		.socket_path = socket_path,
		.uid = TEAM_OWN,
		.name = name,
		.gap_ns = gap_ns,
		.left_ns = &left_ns,
	};
	int r;

	if (!name)
		return error_say(-EINVAL, "A team is observed by its name.");
	r = with_team(&wish, observe_if_due);
	r = r == -ENODATA ? 0 : r;
	if (r >= 0 && ret_left_ns)
		*ret_left_ns = left_ns;
	return r;
}

/* --- collecting --- */

/* If all processes were killed, adds what uncored read when it noticed. Without that, what moved
 * since their last reading is missing, and the record says so. One from before that reading is not
 * of the end: a process had filled the table before it held its lock. */
static void add_last(const struct wish *wish, const struct team_table *kept, struct table *table)
{
	struct team_reading last;

	if (unread_ns(table, clock_now_ns()) && !member_count_living(table, kept->fd) &&
		team_last_reading(wish->socket_path, kept, &last) == 0 &&
		last.noticed_ns > LOAD(table->header.last_reading_ns))
		observe_table(table, kept->fd, wish->socket_path, &last);
}

static int record_of(const struct wish *wish, const struct team_table *kept)
{
	struct table *table = NULL;
	int r = collect_map_kept(kept, &table);

	if (!table)
		return r;
	add_last(wish, kept, table);
	r = make_json(table, kept, wish->ret_json);
	table_unmap(table);
	return r;
}

_public_ int uncore_team_record(
	const char *socket_path, uint32_t uid, const char *name, uint32_t number, char **ret_json)
{
	const struct wish wish = { socket_path, uid, name, number, .ret_json = ret_json };

	if (!ret_json)
		return error_say(-EINVAL, "There is no place for the record of a team.");
	return with_team(&wish, record_of);
}

_public_ int uncore_table_record(const char *path, char **ret_json)
{
	struct team_table kept = { .fd = -1 };
	struct table *table;
	struct stat status;
	int r;

	if (!path || !ret_json)
		return error_say(-EINVAL, "A table has a path, and its record a place.");
	r = own_table_read(path, &table, &kept.fd);
	if (r < 0)
		return r;
	r = make_json(table, &kept, ret_json);
	if (r >= 0 && fstat(kept.fd, &status) == 0 && !status.st_nlink) {
		free(take_ptr(*ret_json));
		r = error_say(-EALREADY, "Its processes have just reported.");
	}
	table_unmap(table);
	team_let_go(&kept);
	return r;
}

_public_ int uncore_team_forget(
	const char *socket_path, uint32_t uid, const char *name, uint32_t run)
{
	const struct wish wish = { socket_path, uid, name, run };

	if (!name || !run)
		return error_say(-EINVAL, "A team is forgotten by its name and its run.");
	return with_team(&wish, collect_forget);
}
