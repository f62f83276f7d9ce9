/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scatter BYTES PERCENT: moves BYTES from and to the memory of socket 0, give or take a normal
 * deviation of PERCENT, on a simulated memory controller.
 */
#include <err.h>
#include <math.h>
#include <stdlib.h>
#include <sys/random.h>

#include "tests/languages/programs/mover.h"

int main(int argc, char **argv)
{
	unsigned short seed[3];
	double bytes, normal;

	if (argc != 3 || getrandom(seed, sizeof seed, 0) != sizeof seed)
		errx(2, "usage: scatter BYTES PERCENT");
	normal = sqrt(-2 * log(1 - erand48(seed))) * cos(2 * M_PI * erand48(seed));
	bytes = strtod(argv[1], NULL) * (1 + strtod(argv[2], NULL) / 100 * normal);
	for (int kind = 0; kind < 2; kind++)
		mover_move((uint64_t)(bytes / 64), 0, kind);
	return 0;
}
