/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/launcher/hostlist.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/number.h"

enum { NUMBER_MOST = 999999999 };

void hostlist_done(struct hostlist *list)
{
	for (size_t i = 0; i < list->n_names; i++)
		free(list->names[i]);
	free(list->names);
	*list = (struct hostlist){};
}

static int hostlist_add(struct hostlist *list, const char *name)
{
	if (list->n_names >= HOSTLIST_MOST)
		return -E2BIG;
	if (!*name)
		return -EINVAL;
	if (array_room(&list->names, list->n_names, sizeof *list->names) < 0)
		return -ENOMEM;
	list->names[list->n_names] = strdup(name);
	if (!list->names[list->n_names])
		return -ENOMEM;
	list->n_names++;
	return 0;
}

/* --- one name with its brackets --- */

/* @name: the text expanded so far. @rest: the text that follows, up to a comma outside brackets. */
static int hostlist_expand(struct hostlist *list, const char *name, const char *rest);

static int expand_range(
	struct hostlist *list, const char *name, const char *range, const char *behind)
{
	uint64_t first, last;
	const char *end = number_parse_range(range, NUMBER_MOST, &first, &last);
	int n_digits = (int)strspn(range, "0123456789");

	if (!end || (*end != ',' && *end != ']'))
		return -EINVAL;
	for (uint64_t i = first; i <= last; i++) {
		char longer[HOSTLIST_NAME_MAX];
		int r = snprintf(longer, sizeof longer, "%s%0*" PRIu64, name, n_digits, i);

		r = r < (int)sizeof longer ? hostlist_expand(list, longer, behind) : -EINVAL;
		if (r < 0)
			return r;
	}
	return 0;
}

static int expand_bracket(struct hostlist *list, const char *name, const char *bracket)
{
	const char *close = strchr(bracket, ']');
	int r = 0;

	if (!close)
		return -EINVAL;
	for (const char *range = bracket; r == 0 && range < close;) {
		r = expand_range(list, name, range, close + 1);
		range += strcspn(range, ",]") + 1;
		if (r == 0 && range > close)
			return 0;
	}
	return r < 0 ? r : -EINVAL;
}

static int hostlist_expand(struct hostlist *list, const char *name, const char *rest)
{
	size_t n = strcspn(rest, "[],");
	char longer[HOSTLIST_NAME_MAX];
	int length = snprintf(longer, sizeof longer, "%s%.*s", name, (int)n, rest);

	if (length >= (int)sizeof longer || rest[n] == ']')
		return -EINVAL;
	return rest[n] == '[' ? expand_bracket(list, longer, rest + n + 1)
			      : hostlist_add(list, longer);
}

/* --- the list --- */

/* Skips to the comma that ends the name, or to the end. */
static const char *skip_name(const char *text)
{
	bool inside = false;

	for (; *text && (inside || *text != ','); text++)
		inside = *text == '[' || (inside && *text != ']');
	return text;
}

static bool is_graphic(const char *text)
{
	for (; *text; text++)
		if (!isgraph((unsigned char)*text))
			return false;
	return true;
}

int hostlist_parse(const char *text, struct hostlist *ret)
{
	struct hostlist list = { .n_names = 0 };
	int r = is_graphic(text) ? 0 : -EINVAL;

	while (r == 0) {
		r = hostlist_expand(&list, "", text);
		text = skip_name(text);
		if (!*text++)
			break;
	}
	if (r < 0) {
		hostlist_done(&list);
		return r;
	}
	*ret = list;
	return 0;
}

const char *hostlist_wanted(int error)
{
	static_assert(HOSTLIST_MOST == 65536, "as below");
	if (error == -ENOMEM)
		return "no more hosts than there is memory for";
	return error == -E2BIG ? "at most 65,536 hosts" : "a list like n[01-03,7],login1";
}

bool hostlist_is_same(const char *name, const char *other)
{
	size_t n = strcspn(name, "."), n_other = strcspn(other, ".");

	if (name[n] && other[n_other])
		return strcmp(name, other) == 0;
	return n == n_other && strncmp(name, other, n) == 0;
}
