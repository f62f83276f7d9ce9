/* SPDX-License-Identifier: BSD-3-Clause */
/* Page faults, of which the stand-in machine's dram.read is made. */
#pragma once

#include <stdint.h>

/* Those of the whole machine so far, as the kernel counts them. This includes pages that it fills
 * without a fault of a program (MAP_POPULATE), which the event of the stand-in does not count. */
uint64_t faults_machine(void);

/* Touches so many new pages: one fault for each. */
void faults_touch(uint64_t pages);
