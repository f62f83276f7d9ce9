/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of run-kernel. */
#pragma once

#include <stdbool.h>

#include "client/command/validate/kernels/kernel.h"

struct options {
	uint64_t number;         /* of struct kernel_wish */
	struct kernel_size size; /* members that are 0: the kernel chooses */
	uint64_t cache_bytes;    /* of the last level, for one rank: sizes and models follow */
	size_t n_ranks;
	size_t n_parts;   /* ranks side by side, which divide the columns */
	size_t n_passes;  /* that are counted */
	size_t skip_rows; /* of a loop: they come first and are not counted; 0: a whole pass is */
	/* What comes before instead of a pass, each 0 if it does not: */
	uint64_t flush_bytes; /* so much memory is read that nothing writes; and again after */
	uint64_t dirty_bytes; /* so much memory is written that no kernel uses */
	bool turns;           /* ranks take turns, row by row */
	bool bind;
	bool list;
	bool predict;       /* print what the models say, and run nothing */
	char *const *names; /* of kernels, up to NULL */
};

/* Exits with a sentence if they cannot be understood, or after --help. */
void options_read(int argc, char *argv[], struct options *ret);
