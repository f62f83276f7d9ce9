/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which arrays there were in regions: what processes wrote that had libuncore-heap.so. It is known
 * where they were allocated and how large they were, and not what moved from and to them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "client/records/json.h"

/* Arrays of one place in a region, of all processes. */
struct array {
	const char *region;     /* "": static ones, which are there in all */
	const char *kind, *key; /* "malloc", and the frames in lines; or "static", and the name */
	const char *module;     /* of static ones; NULL */
	double bytes, n;        /* at most; those of several processes are added */
};

struct arrays {
	size_t n, n_files;
	struct array *all; /* owned; borrow from the files */
	struct arrays_file {
		struct json_document document;
		char **keys; /* owned, each; of the sites */
		size_t n_keys;
	} * files;            /* owned */
	double unnamed_bytes; /* of modules that were stripped */
	uint64_t n_lost;      /* blocks that processes could not keep */
	uint64_t least_bytes; /* smaller blocks are not there; the largest of these bounds */
};

/* Is this file, or this text, such a document? */
bool arrays_is_file(const char *path);
bool arrays_is_text(const char *text);

/* Adds a document. Takes over @text. 0, -EBADMSG, -ENOMEM. */
int arrays_add(struct arrays *arrays, char *text);

/* Adds up those of one region and place, and sorts: by region, the most bytes first. */
void arrays_join(struct arrays *arrays);
void arrays_done(struct arrays *arrays);

/* The arrays of a region. Returns their number. */
size_t arrays_of(const struct arrays *arrays, const char *region, const struct array **ret);

struct join;
struct report_options;

/* Writes them as @options has it, and @notes. @join: the records beside, or NULL. 0, -ENOMEM. */
int arrays_show(const struct report_options *options, const struct arrays *arrays,
	const struct join *join, const char *notes);
