/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events of PAPI that are counted side by side. A set of PAPI's has events of one component only,
 * so there is a set for each component.
 */
#pragma once

enum { EVENTS_MAX = 256, EVENTS_COMPONENTS_MAX = 4 };

struct events {
	int n;
	char *const *names;         /* "pcp:::perfevent.uncored.up" */
	int places[EVENTS_MAX];     /* of each event: its place among those of its component */
	int components[EVENTS_MAX]; /* of each event: an index of the two below */
	int n_components;
	int sets[EVENTS_COMPONENTS_MAX];
	int ids[EVENTS_COMPONENTS_MAX]; /* of PAPI's components */
	long long values[EVENTS_MAX];   /* of events_read() */
};

/* Initialises PAPI, and starts to count @n events of these names. Ends the program if it cannot. */
void events_start(struct events *events, int n, char *const names[]);

/* Reads all sets. 0, or what PAPI_read() returned; that is not always an error number of PAPI's. */
int events_read(struct events *events);
