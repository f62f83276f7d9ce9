/* SPDX-License-Identifier: BSD-3-Clause */
/* Where only the owner of the running job may read (owner_only of uncored.conf), begins and ends of
 * jobs say whose it is. */
#pragma once

#include "client/command/job/job.h"
#include "client/jobstore/folder.h"

/*
 * Tells uncored the user whom all open jobs have, or that there is none, if the site asks for
 * owners. What fails is a remark: the former owner stays until the next begin or end.
 */
void job_owner_follow(const struct folder *folder, const char *socket_path, struct job_said *said);
