/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of each file of this folder. A kernel without a name ends each group. */
#pragma once

#include "client/command/validate/kernels/kernel.h"

extern const struct kernel stream_kernels[];
extern const struct kernel grid_kernels[];
extern const struct kernel matrix_kernels[];
extern const struct kernel resort_kernels[];
