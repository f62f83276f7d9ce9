/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places that allocate: up to four frames, each as a module and an offset in it, so that a place is
 * the same in all processes, and remains known when its module was unloaded.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/module.h"

enum {
	HEAP_FRAMES = 4,
	HEAP_SITES_MAX = 4096,          /* those that come later share the first one */
	HEAP_NO_PLACE = HEAP_SITES_MAX, /* nothing of it is kept */
	HEAP_MODULES_MAX = 1024,
};

struct heap_module {
	char *path; /* owned */
	char id[MODULE_ID_MAX];
};

struct heap_frame {
	uint64_t offset;
	uint32_t module; /* from 1; 0: in none, as code that was made at run time; .offset is its
			    address */
};

struct heap_place {
	const char *kind; /* the function that was called; NULL: the first place, of all others */
	uint32_t n_frames;
	struct heap_frame frames[HEAP_FRAMES];
	const void *codes[HEAP_FRAMES]; /* where that is now; NULL: code was unloaded since */
};

extern struct heap_place heap_places[HEAP_SITES_MAX];
extern struct heap_module heap_modules[HEAP_MODULES_MAX];
extern uint32_t heap_n_places, heap_n_modules; /* under heap_lock */

/* The place of this call, whose caller goes on at @caller. HEAP_NO_PLACE: it is this project's.
 * Takes heap_lock. */
uint32_t heap_place_here(const char *kind, const void *caller);

/* Code was unloaded: other code may come to its addresses. */
void heap_places_forget_addresses(void);
