/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdint.h>

/* @user: a number, or a name that this machine knows. 0; -ENOENT. */
int user_find(const char *user, uint32_t *ret_uid);

/* The name of @uid, or "unknown"; until the next call. */
const char *user_name(uint32_t uid);
