/* SPDX-License-Identifier: BSD-3-Clause */
/* Access control lists of POSIX, as the kernel's extended attribute has them: no library is needed.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/*
 * Gives @fd, a file or folder of the caller, the permissions @mode, and to the user @uid those of
 * @permissions (R_OK and so on), for which no group is needed. -EOPNOTSUPP: its file system has no
 * such lists; errors of fsetxattr(2). The permissions are unchanged then.
 */
int acl_set(int fd, mode_t mode, uint32_t uid, unsigned permissions);
