/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Turns an event of a platform file into the words of perf_event_attr, through the PMU's own
 * format/ files. A bit that no format field covers is refused: the kernel would silently drop it
 * and count something else (kernel 6.12, arch/x86/events/intel/uncore.c:802).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "common/page.h"
#include "daemon/machine/pmu.h"
#include "daemon/plan/platform.h"

struct event_code {
	uint64_t config, config1, config2;
	char via[128]; /* the alternative taken, {n} filled in: "sysfs:PM_MBA3_CLK_CYC" */
	char tried[PAGE_TEXT_MAX]; /* why the earlier alternatives are not taken; "": none */
	bool is_disputed;          /* ... because the kernel's alias is another code */
};

static inline bool event_is_same(const struct event_code *a, const struct event_code *b)
{
	return a->config == b->config && a->config1 == b->config1 && a->config2 == b->config2;
}

/*
 * Encodes the first alternative that resolves on @pmu. For sysfs: the alias's .scale and .unit,
 * where present, must agree with @worth of a count (NULL: not checked, as for a clock). If a raw
 * alternative behind it resolves to another code, that one is taken, and .is_disputed is set:
 * kernels have had wrong aliases (cas_count_write of Ice Lake before 5.17, Linux 96fd2e89fba1). 0;
 * -ENOENT: no alternative resolves, -EDOM: the kernel states another scale, or a scale that is not
 * a number;
 * @why has the reason for each alternative that was tried (cut to fit).
 */
int event_encode(const struct pmu *pmu, const struct event_choices *choices,
	const struct worth *worth, struct event_code *ret, char why[PAGE_TEXT_MAX]);
