/* SPDX-License-Identifier: BSD-3-Clause */
/* The account of each uid, by two files of this node: WHAT A USER IS in uncored-security(7). */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "daemon/base/log.h"

struct owner_range {
	uint64_t first, n;
	uint32_t owner;
	bool is_known; /* false: the owner's name is not in passwd, or is of several uids */
	char *name;    /* owned; of a user of passwd. NULL: this is a range of subuid */
};

struct owners {
	const char *passwd_path, *subuid_path;
	unsigned n;
	struct owner_range *ranges; /* owned; first the n_users of passwd, by name */
	unsigned n_users;
	uint64_t looked_ns;         /* when it was last checked whether the files have changed */
	struct stat passwd, subuid; /* of the files as they were read */
	struct log_limit failures;
};

#define OWNERS_INIT                                                                                \
	{                                                                                          \
		.passwd_path = "/etc/passwd", .subuid_path = "/etc/subuid"                         \
	}

/* Reads the files, of which either may be missing, and skips lines that are wrong. If it cannot
 * read them, what was known before stays, and the log says so. */
void owners_read(struct owners *owners);

/* The id of the account that @uid belongs to. The files are read again first if they have changed,
 * and that was not checked for 10 s. */
uint64_t owners_account_of(struct owners *owners, uint32_t uid);

void owners_done(struct owners *owners);
