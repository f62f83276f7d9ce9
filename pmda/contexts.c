/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/contexts.h"

#include <pcp/pmapi.h>
#include <pcp/pmda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t REFUSAL_NS = 1000000000;

static struct context *contexts; /* by pmcd's number, which counts from 0 and comes again */
static int n_contexts;

/* --- their list --- */

static const struct context unknown = {
	.uid = UNCORE_UNKNOWN_USER,
	.gid = UNCORE_UNKNOWN_USER,
};

static bool make_room(int number)
{
	struct context *more = realloc(contexts, ((size_t)number + 1) * sizeof *more);

	if (!more)
		return false;
	contexts = more;
	while (n_contexts <= number)
		contexts[n_contexts++] = unknown;
	return true;
}

struct context *contexts_find(int number)
{
	if (number < 0 || (number >= n_contexts && !make_room(number)))
		return NULL;
	return &contexts[number];
}

void contexts_end(int number)
{
	if (number < 0 || number >= n_contexts)
		return;
	free(contexts[number].told);
	contexts[number] = unknown;
}

void contexts_done(void)
{
	for (int i = 0; i < n_contexts; i++)
		free(contexts[i].told);
	free(contexts);
	contexts = NULL;
	n_contexts = 0;
}

/* --- who they are --- */

void contexts_learn(int number, int attribute, const char *value)
{
	struct context *context = contexts_find(number);

	if (!context || !value)
		return;
	if (attribute == PMDA_ATTR_USERID)
		context->uid = (uint32_t)strtoul(value, NULL, 10);
	else if (attribute == PMDA_ATTR_GROUPID)
		context->gid = (uint32_t)strtoul(value, NULL, 10);
	else if (attribute == PMDA_ATTR_PROCESSID)
		context->pid = atoi(value);
	context->asked = 0;
}

/* "Groups:\t4 24 27 " */
static uint32_t *parse_groups(const char *text, uint32_t *ret_n)
{
	uint32_t *groups = calloc(strlen(text) / 2 + 1, sizeof *groups);
	char *end;

	for (*ret_n = 0; groups; text = end) {
		unsigned long group = strtoul(text, &end, 10);

		if (end == text)
			break;
		groups[(*ret_n)++] = (uint32_t)group;
	}
	return groups;
}

/*
 * Its supplementary groups, as long as its process is still one of this user: a number of a process
 * comes again. NULL: none are known, be it for hidepid= of /proc.
 */
static uint32_t *read_groups(const struct context *context, uint32_t *ret_n)
{
	char path[64], *line = NULL;
	uint32_t *groups = NULL, uid = UNCORE_UNKNOWN_USER;
	size_t size = 0;
	FILE *status;

	*ret_n = 0;
	snprintf(path, sizeof path, "/proc/%d/status", context->pid);
	status = context->pid > 0 ? fopen(path, "re") : NULL;
	if (!status)
		return NULL;
	while (!groups && getline(&line, &size, status) >= 0) {
		sscanf(line, "Uid: %*u %u", &uid);
		if (uid == context->uid && !strncmp(line, "Groups:", strlen("Groups:")))
			groups = parse_groups(line + strlen("Groups:"), ret_n);
	}
	free(line);
	fclose(status);
	return groups;
}

/* --- what they may be told --- */

static enum admission ask(struct context *context, struct view *view)
{
	struct uncore_user user = { .uid = context->uid, .gid = context->gid };
	uint32_t *groups = read_groups(context, &user.n_groups);
	enum admission admission;

	user.groups = groups;
	admission = view_admits(view, &user);
	free(groups);
	snprintf(context->refusal, sizeof context->refusal, "%s",
		admission == REFUSED ? uncore_error_text() : "");
	return admission;
}

static bool stands(const struct context *context, const struct view *view)
{
	if (context->asked != view->n_connections)
		return false;
	return context->admission != REFUSED || view->now_ns - context->asked_ns < REFUSAL_NS;
}

enum admission contexts_review(struct context *context, struct view *view)
{
	if (!view->is_current || stands(context, view))
		return context->admission;
	if (view->admits_all)
		context->admission = ADMITTED;
	else
		context->admission = ask(context, view);
	context->asked = context->admission == UNDECIDED ? 0 : view->n_connections;
	context->asked_ns = view->now_ns;
	return context->admission;
}
