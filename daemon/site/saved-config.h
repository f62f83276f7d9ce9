/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text of uncored.conf as it was last right, and the numbers of the users and groups that it
 * names, left with the service manager. A daemon that is killed while somebody edits the file, or
 * while the directory service is down, comes back with those.
 */
#pragma once

#include "daemon/base/fault.h"
#include "daemon/base/fdstore.h"
#include "daemon/site/config.h"

/* Leaves the text and the numbers of @config, which was just read. Errors of memfd_create(2),
 * sendfile(2), fdstore_keep(). */
int saved_config_keep(const struct config *config);

/* Takes it from @store, for ret->former_fd, and reads it. -ENOENT: there is none; errors of
 * config_load(). */
int saved_config_find(struct fdstore *store, const struct config_origin *origin,
	const struct policy_access *former, struct config *ret, struct fault *fault);

/* What the names were when the last configuration was applied, as far as @store knows. */
void saved_config_numbers(const struct fdstore *store, struct policy_access *ret);
