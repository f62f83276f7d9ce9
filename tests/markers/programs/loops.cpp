/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops of oneTBB, which marks them for ITT by itself; each iteration moves a line. */
#include <tbb/parallel_for.h>

#include "mover.h"

int main()
{
	for (int k = 0; k < 3; k++)
		tbb::parallel_for(0, 1000, [](int) { mover_move(1, 0, 0); });
	mover_move(1, 0, 0);
	return 0;
}
