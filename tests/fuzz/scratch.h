/* SPDX-License-Identifier: BSD-3-Clause */
/* A private folder for targets that can only read files; removed when the process ends. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Its path; made at the first call. Ends the process if it cannot be made. */
const char *scratch_folder(void);

/* Writes the file @name there. Its path lives until the next call. */
const char *scratch_write(const char *name, const uint8_t *data, size_t size_bytes);
