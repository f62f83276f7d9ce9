/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * papi-steps STEP...: initialises PAPI and takes the steps: pcp:::NAME adds that event to an event
 * set; "start", "read", "reset" and "stop" are PAPI's functions, and "misread" is a read of an
 * event that has no value; anything else is a command for sh. Prints what PAPI returned.
 */
#include <papi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_EVENTS = 8 };

static int set = PAPI_NULL;

static void read_all(const char *what)
{
	long long values[MOST_EVENTS];
	int rc, n = PAPI_num_events(set);

	for (int i = 0; i < MOST_EVENTS; i++)
		values[i] = -1;
	rc = PAPI_read(set, values);
	printf("%s: rc %d, values", what, rc);
	for (int i = 0; i < n; i++)
		printf(" %lld", values[i]);
	printf("\n");
}

static void take(const char *step)
{
	if (!strncmp(step, "pcp:::", 6))
		printf("PAPI_add_named_event %s: rc %d\n", step, PAPI_add_named_event(set, step));
	else if (!strcmp(step, "start"))
		printf("PAPI_start: rc %d\n", PAPI_start(set));
	else if (!strcmp(step, "read"))
		read_all("PAPI_read");
	else if (!strcmp(step, "misread"))
		read_all("PAPI_read without a value");
	else if (!strcmp(step, "reset"))
		printf("PAPI_reset: rc %d\n", PAPI_reset(set));
	else if (!strcmp(step, "stop"))
		printf("PAPI_stop: rc %d\n", PAPI_stop(set, NULL));
	else if (printf("$ %s\n", step), system(step) == -1)
		perror(step);
}

int main(int n, char **steps)
{
	const PAPI_component_info_t *component;

	setvbuf(stdout, NULL, _IONBF, 0);
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		return 1;
	printf("PAPI_library_init: well\n");
	component = PAPI_get_component_info(PAPI_get_component_index("pcp"));
	if (component && component->disabled)
		printf("Component pcp is disabled: %s\n", component->disabled_reason);
	PAPI_create_eventset(&set);
	for (int i = 1; i < n; i++)
		take(steps[i]);
	return 0;
}
