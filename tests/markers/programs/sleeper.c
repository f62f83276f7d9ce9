/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded into LIKWID's examples, whose work is to sleep: a sleep of N seconds moves 100 N lines,
 * and takes N milliseconds. */
#include <unistd.h>

#include "mover.h"

unsigned sleep(unsigned seconds)
{
	mover_move(100 * seconds, 0, 0);
	usleep(1000 * seconds);
	return 0;
}
