/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/report/kept.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/markers/lines.h"
#include "client/libuncore/uncore.h"
#include "client/records/parse.h"
#include "common/array.h"
#include "common/macro.h"

enum { TEAMS_MOST = 1024 }; /* more than uncored keeps of any user */

/* A table that nobody has joined yet belongs to a job that is about to begin. */
static bool kept_is_wanted(const struct kept_choice *choice, const struct record *record)
{
	return record->n_members && (!choice->name || strcmp(record->team, choice->name) == 0);
}

static int kept_add(struct kept_list *list, struct record *record, unsigned n_living)
{
	if (array_room(&list->teams, list->n, sizeof *list->teams) < 0)
		return -ENOMEM;
	list->teams[list->n++] = (struct kept){ .record = *record, .n_living = n_living };
	*record = (struct record){ .host = "" };
	return 0;
}

static int note_unreadable(struct kept_list *list, const char *why)
{
	list->n_unreadable++;
	snprintf(list->why_unreadable, sizeof list->why_unreadable, "%s", why);
	return 1;
}

/* The table may contain anything: any process of the user can write into it. */
static int kept_take(
	const struct kept_choice *choice, char *json, unsigned n_living, struct kept_list *list)
{
	_cleanup_(record_done) struct record record = { .host = "" };
	char why[JSON_READER_WHY_MAX], sentence[sizeof list->why_unreadable];
	int r = record_parse(json, &record, why);

	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		snprintf(sentence, sizeof sentence, "A table that uncored keeps %s.", why);
		return note_unreadable(list, sentence);
	}
	lines_find(&record);
	r = kept_is_wanted(choice, &record) ? kept_add(list, &record, n_living) : 0;
	return r < 0 ? r : 1;
}

/* Gets team number @number. 1: it exists; 0: there is none. */
static int kept_get_team(const struct kept_choice *choice, uint32_t number, struct kept_list *list)
{
	_cleanup_free_ char *json = NULL;
	int r = uncore_team_record(NULL, choice->uid, NULL, number, &json);

	if (r == -ENODATA)
		return 0;
	if (r == -EALREADY) /* it was reported already */
		return 1;
	if (r == -EBADMSG)
		return note_unreadable(list, uncore_error_text());
	return r < 0 ? r : kept_take(choice, json, (unsigned)r, list);
}

int kept_get(const struct kept_choice *choice, struct kept_list *ret)
{
	int r = 1;

	*ret = (struct kept_list){ .n = 0 };
	for (uint32_t i = 0; i < TEAMS_MOST && r == 1; i++)
		r = kept_get_team(choice, i, ret);
	return r < 0 ? r : 0;
}

void kept_done(struct kept_list *list)
{
	while (list->n)
		record_done(&list->teams[--list->n].record);
	free(list->teams);
	list->teams = NULL;
}

int kept_forget(const struct kept_choice *choice, const struct kept_list *list)
{
	for (uint32_t i = 0; i < list->n; i++) {
		const struct kept *kept = &list->teams[i];
		int r = kept->n_living ? 0
				       : uncore_team_forget(NULL, choice->uid, kept->record.team,
						 kept->record.run);

		if (r < 0 && r != -ENODATA)
			return r;
	}
	return 0;
}
