/* SPDX-License-Identifier: BSD-3-Clause */
/* What this folder needs of OMPT, the interface for tools of OpenMP 5 (chapter 4 of its
 * specification), in words of its own. */
#pragma once

#include <stdint.h>

/* The tool's own, for each task and parallel region. */
union ompt_data {
	uint64_t value;
	void *pointer;
};

typedef void ompt_function(void);

/* Finds a function of the runtime by its name; NULL: it has none. */
typedef ompt_function *ompt_lookup(const char *name);

/* What the tool tells the runtime. It works unless .initialize returns 0. */
struct ompt_tool {
	int (*initialize)(ompt_lookup *lookup, int first_device, union ompt_data *data);
	void (*finalize)(union ompt_data *data);
	union ompt_data data;
};

/* The runtime calls it first. NULL: no tool is wanted. */
struct ompt_tool *ompt_start_tool(unsigned version, const char *runtime);

/* "ompt_set_callback" */
typedef int ompt_set_callback(int which, ompt_function *callback);
enum { OMPT_PARALLEL_BEGIN = 3, OMPT_PARALLEL_END = 4 };

/* The thread that meets a parallel construct calls both. @code: where its code goes on behind the
 * call of the runtime; NULL: not known. */
#define OMPT_PARALLEL_BEGIN_PARAMETERS                                                             \
	union ompt_data *task, const void *frame, union ompt_data *parallel, unsigned n_threads,   \
		int flags, const void *code
typedef void ompt_parallel_begin(OMPT_PARALLEL_BEGIN_PARAMETERS);
typedef void ompt_parallel_end(
	union ompt_data *parallel, union ompt_data *task, int flags, const void *code);
