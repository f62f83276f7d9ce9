/* SPDX-License-Identifier: BSD-3-Clause */
/* If only the owner of the running job may read (owner_only of uncored.conf), begins and ends of
 * jobs tell uncored the owner. */
#pragma once

#include "client/command/job/job.h"
#include "client/jobstore/folder.h"

/*
 * If the site asks for owners, tells uncored the user of all open jobs, or that no single user has
 * all of them. A failure is a remark: the former owner stays until the next begin or end.
 */
void job_owner_follow(const struct folder *folder, const char *socket_path, struct job_said *said);
