/* SPDX-License-Identifier: BSD-3-Clause */
/* Every fuzz target defines this: libFuzzer's entry, which replay.c also calls. */
#pragma once

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);
