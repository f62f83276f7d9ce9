/* SPDX-License-Identifier: BSD-3-Clause */
/* Any packet, from either side: wire_check() must look at nothing beyond it. */
#include <stdlib.h>

#include "common/wire.h"
#include "tests/fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	for (int sender = WIRE_FROM_CLIENT; sender <= WIRE_FROM_DAEMON; sender++) {
		if (wire_check(data, size_bytes, (enum wire_sender)sender) == 0 &&
			size_bytes > WIRE_MESSAGE_MAX)
			abort();
	}
	return 0;
}
