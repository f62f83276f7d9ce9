/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <stdbool.h>

/* Is @text valid UTF-8 (RFC 3629) without control characters (C0, DEL, C1)? */
bool text_is_plain(const char *text);
