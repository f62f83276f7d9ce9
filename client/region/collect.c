/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of teams whose tables uncored keeps, for any process, also for a member of the team. */
#include <errno.h>

#include "client/libuncore/internal.h"
#include "client/libuncore/team-call.h"
#include "client/region/regions.h"
#include "client/region/snapshot.h"
#include "client/report/json.h"

static_assert(TEAM_OWN == UNCORE_UNKNOWN_USER, "own");

/* The table of this process's team; NULL: this copy of the library has none. */
static const struct team_table *own_table(void)
{
	const struct regions *regions = regions_now();

	return regions && member_has_file(&regions->team.member, regions->team.kept.fd)
		       ? &regions->team.kept
		       : NULL;
}

static int look(const char *socket_path, uint32_t uid, const char *name, uint32_t number,
	struct team_table *ret)
{
	const struct team_choice choice = {
		.uid = uid,
		.name = name,
		.run = name ? number : 0,
		.number = name ? 0 : number,
	};

	return team_look(socket_path, &choice, own_table(), ret);
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
	if (r == 0)
		r = record_json(&record, ret_json);
	if (r < 0)
		return error_say(r, "No memory for the record of team %s.", kept->name);
	return (int)n_living;
}

static int record_of(const struct team_table *kept, char **ret_json)
{
	struct table *table = NULL;
	int r;

	if (kept->layout != TABLE_LAYOUT)
		return error_say(-EBADMSG,
			"Team %s belongs to another release of libuncore: use the uncore command "
			"of that release.",
			kept->name);
	r = table_map(kept->fd, kept->bytes, &table);
	if (!table)
		return r;
	r = make_json(table, kept, ret_json);
	table_unmap(table);
	return r;
}

static int look_and_record(
	const char *socket_path, uint32_t uid, const char *name, uint32_t number, char **ret_json)
{
	struct team_table kept;
	int r = look(socket_path, uid, name, number, &kept);

	if (r < 0)
		return r;
	r = record_of(&kept, ret_json);
	team_let_go(&kept);
	return r;
}

static int look_and_forget(const char *socket_path, uint32_t uid, const char *name, uint32_t run)
{
	struct team_table kept;
	int r = look(socket_path, uid, name, run, &kept);

	if (r < 0)
		return r;
	r = team_forget(socket_path, &kept);
	team_let_go(&kept);
	return r;
}

/* No thread may join the team meanwhile: closing the descriptor would release its lock. */
_public_ int uncore_team_record(
	const char *socket_path, uint32_t uid, const char *name, uint32_t number, char **ret_json)
{
	int r;

	if (!ret_json)
		return error_say(-EINVAL, "There is no place for the record of a team.");
	if (!regions_hold())
		return regions_no_memory();
	r = look_and_record(socket_path, uid, name, number, ret_json);
	regions_release();
	return r;
}

_public_ int uncore_team_forget(
	const char *socket_path, uint32_t uid, const char *name, uint32_t run)
{
	int r;

	if (!name || !run)
		return error_say(-EINVAL, "A team is forgotten by its name and its run.");
	if (!regions_hold())
		return regions_no_memory();
	r = look_and_forget(socket_path, uid, name, run);
	regions_release();
	return r;
}
