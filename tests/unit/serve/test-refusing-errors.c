/* SPDX-License-Identifier: BSD-3-Clause */
/* What clients are told of an error that keeps uncored from serving. */
#include "daemon/serve/refusing.h"
#include "tests/harness/test.h"

#include <errno.h>

#include "common/macro.h"

CASE("clients are told one of four errors")
{
	static const struct {
		int is, told;
	} cases[] = {
		{ -EACCES, -EPERM },
		{ -EPERM, -EPERM },
		{ -EINVAL, -EINVAL },
		{ -EEXIST, -EINVAL },
		{ -ENOMEM, -ENOMEM },
		{ -ENODEV, -ENODEV },
		{ -ENOENT, -ENODEV }, /* perf_event_open(2): no such PMU */
		{ -EBUSY, -ENODEV },
		{ -EAGAIN, -ENOMEM }, /* pthread_create(3) */
		{ -EMFILE, -ENOMEM },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		assert_int_equal(refusing_error(cases[i].is), cases[i].told);
}
