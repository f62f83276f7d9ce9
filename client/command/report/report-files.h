/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore report FILE..: records that programs or teams left, of one node or joined from several. */
#pragma once

#include "client/command/report/report-options.h"

/* Returns the exit status. */
int report_files(const struct report_options *options);
