/* SPDX-License-Identifier: BSD-3-Clause */
/* Two parallel regions, which know what they move; one of them is in another function. */
#include "mover.h"

__attribute__((noinline, noclone)) static void twice(void)
{
#pragma omp parallel num_threads(2)
	mover_move(3, 0, 0); /* line of region */
}

int main(void)
{
	mover_move(1000, 0, 0);
	for (int i = 0; i < 5; i++) {
#pragma omp parallel num_threads(4)
		mover_move(1, 0, 0);
		mover_move(1000, 0, 0);
	}
	twice();
	twice();
	return 0;
}
