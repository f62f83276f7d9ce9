/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "client/command/job/options.h"

/* Prints what an open job's node has moved so far. Returns the exit status. */
int job_show(const struct job_options *options);
