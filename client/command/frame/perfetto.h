/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a trace as https://ui.perfetto.dev reads it: Google's protobuf messages Trace,
 * TracePacket, TrackDescriptor and TrackEvent (protos/perfetto/trace/ of
 * github.com/google/perfetto). Each function appends one packet. Times are in ns of CLOCK_BOOTTIME,
 * which is what a trace without a clock of its own has. A track has a number of the caller's, not
 * 0.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

enum { PERFETTO_NAME_MAX = 400 }; /* bytes of a name; the rest of a longer one is left out */

/* A track inside track @parent; 0: of none. */
void perfetto_track(FILE *out, uint64_t track, uint64_t parent, const char *name);

/* The same, of numbers in @unit. */
void perfetto_counter_track(
	FILE *out, uint64_t track, uint64_t parent, const char *name, const char *unit);

/* The counter has this value from @time_ns on. */
void perfetto_count(FILE *out, uint64_t time_ns, uint64_t track, double value);

/* Many slices share a name: perfetto_start() once, perfetto_name() once for each @number from 1. */
void perfetto_start(FILE *out);
void perfetto_name(FILE *out, uint64_t number, const char *name);
void perfetto_begin_named(FILE *out, uint64_t time_ns, uint64_t track, uint64_t number);

/* A slice begins, and the innermost one ends. */
void perfetto_begin(FILE *out, uint64_t time_ns, uint64_t track, const char *name);
void perfetto_end(FILE *out, uint64_t time_ns, uint64_t track);
