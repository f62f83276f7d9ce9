/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore report without FILE: the teams that uncored keeps. */
#pragma once

#include "client/command/report/report-options.h"

/* Shows those that have ended, and makes uncored forget them once they are written. Returns the
 * exit status. */
int report_kept(const struct report_options *options);
