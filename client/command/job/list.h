/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "client/command/job/options.h"

/* Prints the open jobs of this host. Returns the exit status. */
int job_list(const struct job_options *options);
