/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/plan/alias.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "daemon/base/text-file.h"

enum { PATH_MAX_BYTES = 256 };

static const struct {
	const char *name;
	double bytes;
} units[] = {
	{ "Bytes", 1 },
	{ "B", 1 },
	{ "KiB", 1 << 10 },
	{ "MiB", 1 << 20 },
	{ "GiB", 1 << 30 },
	{ "KB", 1e3 },
	{ "MB", 1e6 },
	{ "GB", 1e9 },
};

/* 0: *ret is the file's text; or there is no such file, and *ret is "". */
static int read_beside(const struct pmu *pmu, const char *alias, const char *suffix,
	char ret[FORMAT_NAME_MAX], struct fault *fault)
{
	char path[PATH_MAX_BYTES];
	int r;

	ret[0] = '\0';
	snprintf(path, sizeof path, "events/%s.%s", alias, suffix);
	r = text_file_read(pmu->directory_fd, path, ret, FORMAT_NAME_MAX);
	if (r == -ENOENT || r == -ENODATA)
		return 0;
	return r < 0 ? fault_set(fault, r, "its .%s cannot be read: %s", suffix, strerror(-r)) : 0;
}

/*
 * Without a unit the scale is a mere factor, such as the 256 by which the POWER9 nest divides its
 * counts in MCS units. Bytes per count must be a multiple of the factor. A scale of "1" states
 * nothing.
 */
static bool agrees(double scale, const char *unit, uint32_t bytes, struct fault *fault)
{
	if (!unit[0]) {
		if (scale >= 1 && scale <= bytes && bytes % (uint32_t)scale == 0 &&
			(uint32_t)scale == scale)
			return true;
		fault_set(fault, 0, "its .scale %g, without a .unit, does not divide %u bytes",
			scale, bytes);
		return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		double stated = scale * units[i].bytes;

		if (strcmp(unit, units[i].name) != 0)
			continue;
		if (stated > bytes * 0.999 && stated < bytes * 1.001)
			return true;
		fault_set(fault, 0, "its .scale and .unit say %g bytes, the platform file %u",
			stated, bytes);
		return false;
	}
	fault_set(fault, 0, "its .unit \"%.24s\" is not a unit of bytes", unit);
	return false;
}

static int check_scale(
	const struct pmu *pmu, const char *alias, uint32_t bytes, struct fault *fault)
{
	char scale_text[FORMAT_NAME_MAX], unit[FORMAT_NAME_MAX], *end;
	double scale = 1;
	int r = read_beside(pmu, alias, "scale", scale_text, fault);

	if (r >= 0)
		r = read_beside(pmu, alias, "unit", unit, fault);
	if (r < 0)
		return r;
	if (scale_text[0]) {
		scale = strtod(scale_text, &end);
		if (*end || !(scale > 0))
			return fault_set(
				fault, -EDOM, "its .scale \"%.24s\" is no factor", scale_text);
	}
	return agrees(scale, unit, bytes, fault) ? 0 : -EDOM;
}

int alias_encode(const struct pmu *pmu, const char *name, uint32_t bytes, struct encoding *encoding,
	struct fault *fault)
{
	char path[PATH_MAX_BYTES], text[PMU_VALUE_MAX];
	int r;

	if (!format_is_file_name(name))
		return fault_set(fault, -EINVAL, "that is no name of an event");
	snprintf(path, sizeof path, "events/%s", name);
	r = text_file_read(pmu->directory_fd, path, text, sizeof text);
	if (r == -ENOENT)
		return fault_set(fault, r, "the PMU has no such event");
	if (r < 0)
		return fault_set(fault, r, "it cannot be read: %s", strerror(-r));
	if (bytes) {
		r = check_scale(pmu, name, bytes, fault);
		if (r < 0)
			return r;
	}
	return format_encode(pmu, text, encoding, fault);
}
