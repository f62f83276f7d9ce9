/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of each file of this folder; behind the last of a group stands one without a name. */
#pragma once

#include "client/command/validate/kernels/kernel.h"

extern const struct kernel stream_kernels[];
extern const struct kernel grid_kernels[];
extern const struct kernel matrix_kernels[];
extern const struct kernel resort_kernels[];
