/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * NVTX, version 3. Ranges that are pushed and popped become regions, and ranges that start and end
 * become spans, because they may end in another thread; marks have no length. A range of a domain
 * is the region "DOMAIN/RANGE".
 */
#include "client/markers/base/marker.h"
#include "client/markers/base/spans.h"
#include "client/markers/base/texts.h"
#include "client/markers/nvtx/protocol.h"
#include "common/macro.h"

/* --- texts --- */

static const char *text_of(const struct nvtx_event *event, char buffer[JOINED_BYTES])
{
	switch (event->text_type) {
	case TEXT_NARROW:
		return event->text.narrow;
	case TEXT_WIDE:
		return wide_narrow(event->text.wide, buffer);
	default:
		return NULL;
	}
}

/* "DOMAIN/RANGE"; @domain is NULL for ranges without one. */
static const char *nvtx_join(const struct kept *domain, const char *text, char buffer[JOINED_BYTES])
{
	return marker_join(domain ? domain->text : NULL, "/", text, buffer);
}

static const struct marker *marker_in(const struct kept *domain, const struct nvtx_event *event)
{
	char own[JOINED_BYTES], buffer[JOINED_BYTES];

	if (!event || event->size_bytes < sizeof *event)
		return marker_of(nvtx_join(domain, NULL, buffer));
	if (event->text_type == TEXT_REGISTERED && event->text.registered)
		return event->text.registered;
	return marker_of(nvtx_join(domain, text_of(event, own), buffer));
}

static const struct marker *marker_wide(const wchar_t *text)
{
	char buffer[JOINED_BYTES];

	return marker_of(wide_narrow(text, buffer));
}

static struct kept *keep_wide(const wchar_t *text)
{
	char buffer[JOINED_BYTES];

	return marker_keep(wide_narrow(text, buffer));
}

/* A string belongs to its domain, so it is joined with it once. */
static const struct marker *register_string(const struct kept *domain, const char *text)
{
	char buffer[JOINED_BYTES];

	return marker_of(nvtx_join(domain, text, buffer));
}

static const struct marker *register_wide(const struct kept *domain, const wchar_t *text)
{
	char buffer[JOINED_BYTES];

	return register_string(domain, wide_narrow(text, buffer));
}

/* --- pushed and popped: each domain of a thread has a stack of its own --- */

static int push_in(const struct kept *domain, const struct nvtx_event *event)
{
	marker_enter_in(domain, marker_in(domain, event));
	return NVTX_NO_DEPTH;
}

static int push_event(const struct nvtx_event *event)
{
	return push_in(NULL, event);
}

static int nvtx_push(const char *text)
{
	marker_begin(text);
	return NVTX_NO_DEPTH;
}

static int push_wide(const wchar_t *text)
{
	marker_enter(marker_wide(text));
	return NVTX_NO_DEPTH;
}

static int pop_in(const struct kept *domain)
{
	marker_pop_in(domain);
	return NVTX_NO_DEPTH;
}

static int pop(void)
{
	return pop_in(NULL);
}

/* --- started and ended: a span is the number of its range --- */

static uint64_t start_in(const struct kept *domain, const struct nvtx_event *event)
{
	return marker_span_begin(marker_in(domain, event));
}

static uint64_t nvtx_start_event(const struct nvtx_event *event)
{
	return start_in(NULL, event);
}

static uint64_t nvtx_start(const char *text)
{
	return marker_span_begin(marker_of(text));
}

static uint64_t start_wide(const wchar_t *text)
{
	return marker_span_begin(marker_wide(text));
}

static void end_in(const struct kept *domain, uint64_t span)
{
	(void)domain;
	marker_span_end(span);
}

/* --- the tables --- */

static const struct {
	enum nvtx_module module;
	unsigned number;
	nvtx_function *function;
} CALLBACKS[] = {
	{ MODULE_CORE, CORE_START_EX, (nvtx_function *)nvtx_start_event },
	{ MODULE_CORE, CORE_START_A, (nvtx_function *)nvtx_start },
	{ MODULE_CORE, CORE_START_W, (nvtx_function *)start_wide },
	{ MODULE_CORE, CORE_END, (nvtx_function *)marker_span_end },
	{ MODULE_CORE, CORE_PUSH_EX, (nvtx_function *)push_event },
	{ MODULE_CORE, CORE_PUSH_A, (nvtx_function *)nvtx_push },
	{ MODULE_CORE, CORE_PUSH_W, (nvtx_function *)push_wide },
	{ MODULE_CORE, CORE_POP, (nvtx_function *)pop },
	{ MODULE_CORE2, CORE2_START_EX, (nvtx_function *)start_in },
	{ MODULE_CORE2, CORE2_END, (nvtx_function *)end_in },
	{ MODULE_CORE2, CORE2_PUSH_EX, (nvtx_function *)push_in },
	{ MODULE_CORE2, CORE2_POP, (nvtx_function *)pop_in },
	{ MODULE_CORE2, CORE2_REGISTER_A, (nvtx_function *)register_string },
	{ MODULE_CORE2, CORE2_REGISTER_W, (nvtx_function *)register_wide },
	{ MODULE_CORE2, CORE2_CREATE_A, (nvtx_function *)marker_keep },
	{ MODULE_CORE2, CORE2_CREATE_W, (nvtx_function *)keep_wide },
};

static void nvtx_fill(const struct nvtx_callbacks *callbacks, size_t i)
{
	nvtx_function ***slots;
	unsigned n;

	if (callbacks->get_slots(CALLBACKS[i].module, &slots, &n) && CALLBACKS[i].number < n)
		*slots[CALLBACKS[i].number] = CALLBACKS[i].function;
}

_public_ int InitializeInjectionNvtx2(nvtx_get_table *get_table)
{
	const struct nvtx_callbacks *callbacks = get_table(TABLE_CALLBACKS);

	if (!marker_is_wanted("nvtx") || !callbacks || callbacks->size < sizeof *callbacks)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(CALLBACKS); i++)
		nvtx_fill(callbacks, i);
	return 1;
}
