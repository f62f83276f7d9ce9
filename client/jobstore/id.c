/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/jobstore/id.h"

#include <string.h>

#include "common/text.h"

/* Spelled out, so that the locale does not matter. */
static const char ALLOWED[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._+-";

bool job_id_is_valid(const char *id)
{
	size_t n = strnlen(id, JOB_ID_BYTES);

	return n > 0 && n < JOB_ID_BYTES && *id != '.' && strspn(id, ALLOWED) == n;
}

bool job_key_is_valid(const char *key)
{
	size_t n = strnlen(key, JOB_KEY_BYTES);

	return n > 0 && n < JOB_KEY_BYTES && text_is_plain(key);
}
