/* SPDX-License-Identifier: BSD-3-Clause */
/* The record of a run as JSON, as uncore-report(5) describes it. */
#pragma once

#include "client/command/job/record/view.h"
#include "client/launcher/launch.h"

enum { JOB_SCHEMA = 1 };

/* One line, without its end, for free(3). 0; -ENOMEM. */
int job_json(const struct job_view *view, char **ret_text);

/* This host's name in the batch system, or else its own name. */
void job_host(char ret_host[LAUNCH_HOST_MAX]);
