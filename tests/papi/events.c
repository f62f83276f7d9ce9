/* SPDX-License-Identifier: BSD-3-Clause */
#include "events.h"

#include <err.h>

#include <papi.h>

static void check(int status, const char *call, const char *name)
{
	if (status != PAPI_OK)
		errx(1, "%s of %s: %s (%d)", call, name, PAPI_strerror(status), status);
}

/* The index of the set that has this component's events; makes the set if there is none. */
static int set_of(struct events *events, const char *name)
{
	int code, id, i;

	check(PAPI_event_name_to_code(name, &code), "PAPI_event_name_to_code", name);
	id = PAPI_get_event_component(code);
	for (i = 0; i < events->n_components; i++)
		if (events->ids[i] == id)
			return i;
	if (i == EVENTS_COMPONENTS_MAX)
		errx(1, "There are events of more than %d components.", EVENTS_COMPONENTS_MAX);
	events->ids[i] = id;
	events->sets[i] = PAPI_NULL;
	check(PAPI_create_eventset(&events->sets[i]), "PAPI_create_eventset", name);
	events->n_components++;
	return i;
}

static void add(struct events *events, int i)
{
	const char *name = events->names[i];
	int component = set_of(events, name);
	int n = PAPI_num_events(events->sets[component]);

	check(PAPI_add_named_event(events->sets[component], name), "PAPI_add_named_event", name);
	events->components[i] = component;
	events->places[i] = n < 0 ? 0 : n; /* an empty set has a negative number */
}

void events_start(struct events *events, int n, char *const names[])
{
	int version = PAPI_library_init(PAPI_VER_CURRENT);

	if (version != PAPI_VER_CURRENT)
		errx(1, "PAPI_library_init returned %d.", version);
	if (n < 1 || n > EVENTS_MAX)
		errx(2, "There are %d events, and there may be 1 to %d.", n, EVENTS_MAX);
	*events = (struct events){ .n = n, .names = names };
	for (int i = 0; i < n; i++)
		add(events, i);
	for (int i = 0; i < events->n_components; i++)
		check(PAPI_start(events->sets[i]), "PAPI_start", names[0]);
}

int events_read(struct events *events)
{
	long long values[EVENTS_COMPONENTS_MAX][EVENTS_MAX];

	for (int i = 0; i < events->n_components; i++) {
		int status = PAPI_read(events->sets[i], values[i]);
		if (status != PAPI_OK)
			return status;
	}
	for (int i = 0; i < events->n; i++)
		events->values[i] = values[events->components[i]][events->places[i]];
	return 0;
}
