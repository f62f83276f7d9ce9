/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/uncore/kept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/record/parse.h"
#include "client/uncore.h"
#include "common/macro.h"

enum { TEAMS_MOST = 1024 }; /* more than uncored keeps of any user */

static int parse(const char *json, struct kept *kept)
{
	char why[MEMBER_WHY_MAX];

	return record_parse(json, &kept->record, why);
}

static int add(struct kept_list *list, const char *json, unsigned n_living)
{
	struct kept *larger = realloc(list->teams, (list->n + 1) * sizeof *larger);
	struct kept *kept;
	int r;

	if (!larger)
		return -ENOMEM;
	list->teams = larger;
	kept = &larger[list->n];
	*kept = (struct kept){ .n_living = n_living };
	r = parse(json, kept);
	list->n += r == 0;
	return r;
}

/* The @number-th of the teams. 1: there is one; 0: there is none. */
static int get(const struct kept_choice *choice, uint32_t number, struct kept_list *list)
{
	_cleanup_free_ char *json = NULL;
	int r = uncore_team_record(NULL, choice->uid, NULL, number, &json);

	if (r == -ENODATA)
		return 0;
	if (r == -EALREADY)
		return 1;
	if (r >= 0)
		r = add(list, json, (unsigned)r);
	if (r < 0)
		return r;
	if (choice->name && strcmp(list->teams[list->n - 1].record.team, choice->name) != 0)
		record_done(&list->teams[--list->n].record);
	return 1;
}

int kept_get(const struct kept_choice *choice, struct kept_list *ret)
{
	int r = 1;

	*ret = (struct kept_list){ .n = 0 };
	for (uint32_t i = 0; i < TEAMS_MOST && r == 1; i++)
		r = get(choice, i, ret);
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
