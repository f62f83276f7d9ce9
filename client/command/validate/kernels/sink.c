/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/kernels/kernel.h"

volatile double kernel_sink;
