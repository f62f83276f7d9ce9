/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The NUMA nodes of a machine, as the kernel shows them below a root: how much memory each one has,
 * of which kind, and what caches it.
 */
#pragma once

#include "common/node.h"

enum node_kind { NODE_UNKNOWN, NODE_DRAM, NODE_HBM, NODE_PMM, NODE_CXL, NODE_GPU, NODE_KINDS };

enum {
	NODE_COLUMNS = 4, /* the first figures, which all nodes have */
	NODE_FIGURES_MAX = 32,
	NODE_NAME_MAX = 64
};

/* "capacity_bytes", "hugetlb_2048kB_free_pages", "memory_side_cache_1_line_bytes" */
struct node_figure {
	char name[NODE_NAME_MAX];
	uint64_t value; /* NODE_NOT_KNOWN: the kernel does not say */
};

struct node {
	unsigned number;
	bool has_cpus, has_cache;
	enum node_kind kind;
	const char *known_by; /* a clause: what says so */
	unsigned n_figures;
	struct node_figure figures[NODE_FIGURES_MAX];
};

/* Which tiers uncored counts here; all false: it is not known. */
struct nodes_counted {
	bool dram, hbm, pmm;
};

struct nodes {
	unsigned n;
	struct node *all; /* owned */
	struct nodes_counted counted;
};

/* @root "": the running machine. 0, -ENOMEM; -ENOENT: the kernel shows no NUMA node. */
int nodes_read(const char *root, struct nodes *ret);
void nodes_done(struct nodes *nodes);

/* --- kinds.c --- */

/* "dram" */
const char *node_kind_name(enum node_kind kind);

/* Finds .kind and .known_by of all nodes. */
void nodes_judge(const char *root, struct nodes_counted counted, struct nodes *nodes);

/* Sentence @number on what nobody can know here, for example of memory that is a cache. NULL: there
 * are no more. */
const char *nodes_unknown(const struct nodes *nodes, unsigned number);
