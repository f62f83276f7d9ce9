/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ITT. Tasks and events, which nest in their thread, become regions; overlapped tasks, regions and
 * frames, which have an ID, become spans. Each is named "DOMAIN/NAME", a frame "DOMAIN" alone.
 * Functions that give times of their own are not served: what memory moved then is not known.
 */
#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "client/markers/base/marker.h"
#include "client/markers/base/spans.h"
#include "client/markers/base/texts.h"
#include "client/markers/itt/protocol.h"
#include "common/macro.h"

/* --- domains, strings and events --- */

/* A program has objects of its own for what it made before this library was there, so a domain may
 * have several. Each is told once which one stands for all. */
static const struct kept *one_of(struct kept *domain)
{
	struct kept *one = __atomic_load_n(&domain->one, __ATOMIC_ACQUIRE);

	if (!one) {
		one = marker_keep(domain->text);
		__atomic_store_n(&domain->one, one, __ATOMIC_RELEASE);
	}
	return one;
}

static struct itt_string *create_string(const char *text)
{
	struct kept *kept = marker_keep(text);

	return kept ? (struct itt_string *)&kept->text : NULL;
}

/* @name may have no NUL behind @length; some programs give 0, or more than there is. */
static int create_event(const char *name, int length)
{
	char buffer[JOINED_BYTES];
	const struct kept *kept;

	snprintf(buffer, sizeof buffer, "%.*s", length > 0 ? length : JOINED_BYTES, name);
	kept = marker_keep(buffer);
	return kept ? kept->number : 0;
}

/* --- tasks and events of a thread --- */

static void begin_named(struct kept *domain, const char *name)
{
	char buffer[JOINED_BYTES];

	marker_enter_in(one_of(domain), marker_of(marker_join(domain->text, "/", name, buffer)));
}

static void begin_task(
	struct kept *domain, struct itt_id id, struct itt_id parent, const struct itt_string *name)
{
	(void)id, (void)parent;
	begin_named(domain, name ? name->text : "");
}

/* Its symbol, or where it is in its file. */
static const char *function_name(void *function, char buffer[JOINED_BYTES])
{
	Dl_info info;

	if (!dladdr(function, &info) || !info.dli_fname)
		return "(function)";
	if (info.dli_sname && info.dli_saddr == function)
		return info.dli_sname;
	snprintf(buffer, JOINED_BYTES, "%s+0x%tx", info.dli_fname,
		(char *)function - (char *)info.dli_fbase);
	return buffer;
}

static void begin_function(
	struct kept *domain, struct itt_id id, struct itt_id parent, void *function)
{
	char buffer[JOINED_BYTES];

	(void)id, (void)parent;
	begin_named(domain, function_name(function, buffer));
}

static void end_task(struct kept *domain)
{
	marker_pop_in(one_of(domain));
}

static int itt_start_event(int event)
{
	const struct kept *kept = marker_kept(event);

	if (kept)
		marker_enter_in(&kept->number, marker_of(kept->text));
	return !kept;
}

static int end_event(int event)
{
	const struct kept *kept = marker_kept(event);

	if (kept)
		marker_pop_in(&kept->number);
	return !kept;
}

/* --- by ID --- */

enum kind { TASK, REGION, FRAME };

/* Domains are further apart than kinds. */
static struct marker_key itt_key_of(enum kind kind, struct kept *domain, struct itt_id id)
{
	return (struct marker_key){ { (uintptr_t)one_of(domain) + kind, id.words[0], id.words[1],
		id.words[2] } };
}

static void begin_by_id(
	enum kind kind, struct kept *domain, struct itt_id id, const struct itt_string *name)
{
	const struct marker_key key = itt_key_of(kind, domain, id);
	char buffer[JOINED_BYTES];

	marker_key_begin(&key, marker_of(name ? marker_join(domain->text, "/", name->text, buffer)
					      : domain->text));
}

static void end_by_id(enum kind kind, struct kept *domain, struct itt_id id)
{
	const struct marker_key key = itt_key_of(kind, domain, id);

	marker_key_end(&key);
}

static void begin_overlapped(
	struct kept *domain, struct itt_id id, struct itt_id parent, const struct itt_string *name)
{
	(void)parent;
	begin_by_id(TASK, domain, id, name);
}

static void end_overlapped(struct kept *domain, struct itt_id id)
{
	end_by_id(TASK, domain, id);
}

static void begin_region(
	struct kept *domain, struct itt_id id, struct itt_id parent, const struct itt_string *name)
{
	(void)parent;
	begin_by_id(REGION, domain, id, name);
}

static void end_region(struct kept *domain, struct itt_id id)
{
	end_by_id(REGION, domain, id);
}

/* Without an ID it is the current one of its domain. */
static void begin_frame(struct kept *domain, const struct itt_id *id)
{
	begin_by_id(FRAME, domain, id ? *id : (struct itt_id){ { 0 } }, NULL);
}

static void end_frame(struct kept *domain, const struct itt_id *id)
{
	end_by_id(FRAME, domain, id ? *id : (struct itt_id){ { 0 } });
}

/* --- the list of functions --- */

static const struct {
	const char *name;
	itt_function *function;
} FUNCTIONS[] = {
	{ "__itt_domain_create", (itt_function *)marker_keep },
	{ "__itt_string_handle_create", (itt_function *)create_string },
	{ "__itt_task_begin", (itt_function *)begin_task },
	{ "__itt_task_begin_fn", (itt_function *)begin_function },
	{ "__itt_task_end", (itt_function *)end_task },
	{ "__itt_task_begin_overlapped", (itt_function *)begin_overlapped },
	{ "__itt_task_end_overlapped", (itt_function *)end_overlapped },
	{ "__itt_region_begin", (itt_function *)begin_region },
	{ "__itt_region_end", (itt_function *)end_region },
	{ "__itt_frame_begin_v3", (itt_function *)begin_frame },
	{ "__itt_frame_end_v3", (itt_function *)end_frame },
	{ "__itt_event_create", (itt_function *)create_event },
	{ "__itt_event_start", (itt_function *)itt_start_event },
	{ "__itt_event_end", (itt_function *)end_event },
};

static itt_function *function_of(const struct itt_api *api)
{
	for (size_t i = 0; i < ARRAY_SIZE(FUNCTIONS); i++)
		if (strcmp(FUNCTIONS[i].name, api->name) == 0)
			return FUNCTIONS[i].function;
	return api->absent;
}

/* Domains and strings that were made before are in the program's own lists, and can be used. */
_public_ void __itt_api_init(struct itt_global *global, int groups)
{
	const bool is_wanted = marker_is_wanted("itt");

	(void)groups;
	if (!global || memcmp(global->magic, ITT_MAGIC, sizeof global->magic) != 0 ||
		global->version_build < ITT_BUILD_LEAST)
		return;
	for (struct itt_api *api = global->apis; api->name; api++)
		*api->function = is_wanted ? function_of(api) : api->absent;
}
