/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore report FILE..: records of programs or teams, of one node or joined from several. */
#pragma once

#include "client/command/report/report-options.h"

/* Returns the exit status. */
int report_files(const struct report_options *options);
