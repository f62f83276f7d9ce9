/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/record/acl.h"

#include <endian.h>
#include <errno.h>
#include <linux/posix_acl.h>
#include <linux/posix_acl_xattr.h>
#include <sys/xattr.h>

#include "common/macro.h"

static const char NAME[] = "system.posix_acl_access";

static struct posix_acl_xattr_entry entry(unsigned tag, unsigned permissions, uint32_t id)
{
	return (struct posix_acl_xattr_entry){
		.e_tag = htole16((uint16_t)tag),
		.e_perm = htole16((uint16_t)(permissions & 7)),
		.e_id = htole32(id),
	};
}

/* The mask limits all entries but those of the owner and of the world. In the mode, it shows as the
 * group's permissions. */
int acl_set(int fd, mode_t mode, uint32_t uid, unsigned permissions)
{
	const uint32_t nobody = (uint32_t)ACL_UNDEFINED_ID;
	const struct {
		struct posix_acl_xattr_header header;
		struct posix_acl_xattr_entry entries[5]; /* in this order */
	} list = {
		.header.a_version = htole32(POSIX_ACL_XATTR_VERSION),
		.entries = {
			entry(ACL_USER_OBJ, mode >> 6, nobody),
			entry(ACL_USER, permissions, uid),
			entry(ACL_GROUP_OBJ, mode >> 3, nobody),
			entry(ACL_MASK, mode >> 3 | permissions, nobody),
			entry(ACL_OTHER, mode, nobody),
		},
	};

	return fsetxattr(fd, NAME, &list, sizeof list, 0) < 0 ? -errno : 0;
}
