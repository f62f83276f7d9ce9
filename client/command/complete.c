/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/complete.h"

#include <stdio.h>
#include <string.h>

#include "client/command/frame/command.h"
#include "client/libuncore/uncore.h"

/* A user who types notices a longer pause. */
static const uint64_t PATIENCE_NS = 50000000;

int complete(const char *what)
{
	struct uncore_machine machine = UNCORE_MACHINE_INIT;
	struct uncore *handle;

	if (strcmp(what, "metrics") != 0)
		return EXIT_USAGE;
	if (uncore_open_within(NULL, PATIENCE_NS, &handle) < 0)
		return EXIT_FAILED;
	if (uncore_describe(handle, &machine) == 0)
		for (uint32_t i = 0; i < machine.n_metrics; i++)
			puts(uncore_metric_name(handle, i));
	uncore_close(handle);
	return 0;
}
