/* SPDX-License-Identifier: BSD-3-Clause */
#include "pmda/contexts.h"

#include <pcp/pmapi.h>
#include <pcp/pmda.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/macro.h"

static struct context *contexts; /* by pmcd's number; numbers start at 0 and are reused */
static int n_contexts;

/* --- the list --- */

static const struct context unknown = {
	.uid = UNCORE_UNKNOWN_USER,
	.gid = UNCORE_UNKNOWN_USER,
};

static bool contexts_make_room(int number)
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
	if (number < 0 || (number >= n_contexts && !contexts_make_room(number)))
		return NULL;
	return &contexts[number];
}

static void contexts_forget(struct context *context)
{
	free(context->groups);
	free(context->told);
	*context = unknown;
}

void contexts_end(int number)
{
	if (number >= 0 && number < n_contexts)
		contexts_forget(&contexts[number]);
}

void contexts_done(void)
{
	for (int i = 0; i < n_contexts; i++)
		contexts_forget(&contexts[i]);
	free(contexts);
	contexts = NULL;
	n_contexts = 0;
}

/* --- identity --- */

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
 * NULL unless the process belongs to @of_uid, because its number may have been reused. No groups
 * are known if /proc is mounted with hidepid=.
 */
static uint32_t *contexts_read_groups(int pid, uint32_t of_uid, uint32_t *ret_n)
{
	uint32_t uid = UNCORE_UNKNOWN_USER, *groups = NULL;
	_cleanup_file_ FILE *status = NULL;
	_cleanup_free_ char *line = NULL;
	char path[64];
	size_t size = 0;

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	status = fopen(path, "re");
	while (status && !groups && getline(&line, &size, status) >= 0) {
		sscanf(line, "Uid: %*u %u", &uid);
		if (uid == of_uid && !strncmp(line, "Groups:", strlen("Groups:")))
			groups = parse_groups(line + strlen("Groups:"), ret_n);
	}
	return groups;
}

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
	if (context->pid > 0 && context->uid != UNCORE_UNKNOWN_USER && !context->groups)
		context->groups =
			contexts_read_groups(context->pid, context->uid, &context->n_groups);
}

/* --- admission --- */

/* In a local context this process is the client, and uncored has let it in. */
static bool is_this_process(const struct context *context)
{
	return context->pid == (int)getpid();
}

enum admission contexts_review(struct context *context, const struct view *view)
{
	const struct uncore_user user = { context->uid, context->gid, context->n_groups,
		context->groups };

	context->admission = view_admits(view, &user);
	if (context->admission == REFUSED && is_this_process(context))
		context->admission = ADMITTED;
	if (context->admission == REFUSED)
		snprintf(context->refusal, sizeof context->refusal, "%s", uncore_error_text());
	return context->admission;
}
