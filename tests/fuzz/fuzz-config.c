/* SPDX-License-Identifier: BSD-3-Clause */
/* Any uncored.conf: it is loaded, or refused with a sentence. */
#include <stdlib.h>

#include "daemon/config.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct config config;
	struct fault fault = { "" };

	if (config_load(scratch_write("uncored.conf", data, size_bytes), &config, &fault) < 0 &&
		!fault.text[0])
		abort();
	return 0;
}
