/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory controllers of the simulated machine, for programs that know what they moved. */
#ifndef MOVER_H
#define MOVER_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Lines of 64 bytes that @socket reads (@kind 0) or writes (1). */
void mover_move(uint64_t lines, int socket, int kind);

#ifdef __cplusplus
}
#endif

#endif
