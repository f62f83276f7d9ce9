/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/top/others.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/command/frame/usage.h"
#include "client/command/frame/user.h"
#include "client/jobstore/folder.h"
#include "client/libuncore/uncore.h"
#include "common/clock.h"
#include "common/macro.h"
#include "common/text.h"

enum { JOBS_MAX = 8 };

static const uint64_t PAUSE_NS = 5000000000;

static void others_add(struct screen_others *seen, const char *format, const char *text)
{
	if (*seen->line)
		text_append(seen->line, sizeof seen->line, "   ");
	text_append(seen->line, sizeof seen->line, format, text);
}

static void look_at_node(struct screen_others *seen, const char *socket_path)
{
	_cleanup_(json_document_done) struct json_document document = { .text = NULL };
	const struct json_value *info, *policy, *warnings;
	char *text = NULL;

	if (uncore_info(socket_path, &text) < 0)
		return;
	info = json_document_take(&document, text);
	policy = json_member(info, "policy");
	warnings = json_list(info, "warnings");
	if (json_has(policy, "owner"))
		others_add(seen, "owner: %s", user_name((uint32_t)json_number(policy, "owner")));
	JSON_EACH (warnings, warning)
		if (!*seen->warning)
			text_append(seen->warning, sizeof seen->warning, "%s",
				json_scalar(warning, ""));
}

static void look_at_jobs(struct screen_others *seen)
{
	_cleanup_(folder_runs_done) struct folder_runs runs;
	char text[JOBS_MAX * (JOB_ID_BYTES + 40)] = "";

	if (folder_read_open(FOLDER_PATH, SIZE_MAX, &runs) < 0)
		return;
	for (size_t i = 0; i < runs.n && i < JOBS_MAX; i++)
		text_append(text, sizeof text, "%s%s (%s)", i ? ", " : "", runs.all[i].head.id,
			user_name(runs.all[i].head.uid));
	if (runs.n > JOBS_MAX)
		text_append(text, sizeof text, ", %zu more", runs.n - JOBS_MAX);
	if (runs.n)
		others_add(seen, runs.n > 1 ? "jobs: %s" : "job: %s", text);
}

static void take_users(struct others *others, const struct json_value *report)
{
	const size_t n = json_length(json_list(report, "users"));
	_cleanup_free_ struct usage *all = calloc(n + 1, sizeof *all);
	struct screen_others *seen = &others->seen;

	/* Two reports make a rate. */
	if (!all || !others->clients.json.values)
		return;
	usage_of(others->clients.json.values, report, all);
	for (size_t i = 0; i < n && i < SCREEN_USERS_MAX; i++) {
		struct screen_user *user = &seen->users[seen->n_users++];

		usage_user(all[i].user, user->name, sizeof user->name);
		user->n_clients = json_number(all[i].user, "clients");
		user->sweeps_per_s = all[i].sweeps_per_s;
		user->cpu_percent = all[i].cpu_percent;
	}
}

/* Only root is told. */
static void look_at_users(struct others *others, const char *socket_path)
{
	struct json_document now;
	char *text = NULL;

	if (uncore_clients(socket_path, &text) < 0)
		return;
	take_users(others, json_document_take(&now, text));
	json_document_done(&others->clients);
	others->clients = now;
}

void others_look(struct others *others, const char *socket_path, uint32_t n_clients)
{
	char text[32];

	if (clock_now_ns() < others->next_ns)
		return;
	others->next_ns = clock_deadline_ns(PAUSE_NS);
	others->seen = (struct screen_others){ .n_users = 0 };
	look_at_node(&others->seen, socket_path);
	look_at_jobs(&others->seen);
	look_at_users(others, socket_path);
	if (others->seen.n_users)
		return;
	snprintf(text, sizeof text, "%" PRIu32, n_clients);
	others_add(&others->seen, n_clients == 1 ? "%s client" : "%s clients", text);
}

void others_done(struct others *others)
{
	json_document_done(&others->clients);
}
