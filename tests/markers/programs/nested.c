/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks of two families and the library's own regions, one in the other, by a program that knows
 * what it moved. The other family is a module of its own: -DMODULE.
 */
#ifdef MODULE
#include "client/markers/base/marker.h"

#define EXPORT __attribute__((visibility("default")))
EXPORT void other_push(const char *name);
EXPORT void other_pop(void);

void other_push(const char *name)
{
	marker_begin(name);
}

void other_pop(void)
{
	marker_pop();
}
#else
#include <likwid-marker.h>

#include "client/libuncore/uncore.h"
#include "mover.h"

void other_push(const char *name);
void other_pop(void);

int main(void)
{
	for (int i = 0; i < 3; i++) {
		LIKWID_MARKER_START("outer");
		mover_move(1, 0, 0);
		other_push("middle");
		mover_move(10, 0, 0);
		uncore_region_begin("own");
		mover_move(100, 0, 0);
		LIKWID_MARKER_START("inner");
		mover_move(1000, 0, 0);
		LIKWID_MARKER_STOP("inner");
		uncore_region_end("own");
		other_pop();
		LIKWID_MARKER_STOP("outer");
		other_push("alone");
		mover_move(10000, 0, 0);
		other_pop();
	}
	return 0;
}
#endif
