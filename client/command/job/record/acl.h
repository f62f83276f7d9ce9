/* SPDX-License-Identifier: BSD-3-Clause */
/* POSIX access control lists, as the kernel's extended attribute: no library is needed. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/*
 * Gives @fd, a file or folder of the caller, the permissions @mode, and gives @permissions (R_OK
 * and so on) to the user @uid. No group is needed for that. -EOPNOTSUPP: its file system has no
 * such lists; errors of fsetxattr(2). On an error, the permissions are unchanged.
 */
int acl_set(int fd, mode_t mode, uint32_t uid, unsigned permissions);
