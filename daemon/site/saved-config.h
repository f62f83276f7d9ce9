/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The last valid values of uncored.conf and uncored.conf.d/, and the numbers of the users and
 * groups that it names, as one text that the service manager keeps. A daemon that is killed while
 * somebody edits the file, or while the directory service is down, starts again with these.
 */
#pragma once

#include "daemon/base/fault.h"
#include "daemon/base/fdstore.h"
#include "daemon/site/config.h"

struct saved_config {
	struct policy_access names; /* users and groups, with their numbers at that time */
	int text_fd;                /* -1: there is none */
};

/* Takes what an earlier process left in @store; for saved_config_done(). */
void saved_config_take(struct fdstore *store, struct saved_config *ret);

/* Reads the saved text. -ENOENT: there is none; errors of config_load(). */
int saved_config_load(const struct saved_config *saved, const struct config_origin *origin,
	struct config *ret, struct fault *fault);

/*
 * Leaves the values of @config and the numbers with the service manager. @config was just read from
 * its files or, if @saved (may be NULL) has a text, from @saved. Errors of memfd_create(2),
 * config_files_load(), config_files_write(), fdstore_keep().
 */
int saved_config_keep(const struct config *config, const struct saved_config *saved);

/* Closes the saved text. */
void saved_config_done(struct saved_config *saved);
