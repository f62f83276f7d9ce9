/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text of uncored.conf as it was last right, left with the service manager. A daemon that is
 * killed while somebody edits the file comes back with that, and not at all without.
 */
#pragma once

#include "daemon/config.h"
#include "daemon/fault.h"
#include "daemon/store.h"

/* Leaves the text of @config, which was just read. Errors of memfd_create(2), sendfile(2),
 * store_keep(). */
int last_config_keep(const struct config *config);

/* Takes it from @store, for ret->former_fd, and reads it. -ENOENT: there is none; errors of
 * config_load(). */
int last_config_find(struct store *store, const struct config_origin *origin, struct config *ret,
	struct fault *fault);
