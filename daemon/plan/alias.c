/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernel's aliases of events: events/NAME of a PMU in sysfs, with NAME.scale and NAME.unit. */
#include "daemon/plan/format.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "common/unit.h"
#include "daemon/base/text-file.h"

enum { PATH_MAX_BYTES = 256 };

/* The units of the kernel's .unit files, and their worth in units of metrics. */
static const struct {
	const char *name, *unit;
	double worth;
} units[] = {
	{ "Bytes", UNIT_BYTES, 1 },
	{ "B", UNIT_BYTES, 1 },
	{ "KiB", UNIT_BYTES, 1 << 10 },
	{ "MiB", UNIT_BYTES, 1 << 20 },
	{ "GiB", UNIT_BYTES, 1 << 30 },
	{ "KB", UNIT_BYTES, 1e3 },
	{ "MB", UNIT_BYTES, 1e6 },
	{ "GB", UNIT_BYTES, 1e9 },
	{ "ns", "ns", 1 },
	{ "Joules", "nJ", 1e9 },
};

/* 0: *ret is the file's text, or "" if there is no such file or it is empty. */
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
 * Without a unit the scale is only a factor, such as the 256 by which the POWER9 nest divides its
 * counts in MCS units. The worth of a count must be a multiple of the factor. A scale of "1" states
 * nothing.
 */
static bool divides(double factor, const struct worth *worth, struct fault *fault)
{
	char text[SCALE_TEXT_MAX];

	if (factor >= 1 && factor <= worth->scale.n && worth->scale.n % (uint32_t)factor == 0 &&
		(uint32_t)factor == factor)
		return true;
	scale_text(worth->scale, text);
	fault_set(fault, 0, "its .scale %g, without a .unit, does not divide %s %s", factor, text,
		worth->unit);
	return false;
}

static bool agrees(double scale, const char *unit, const struct worth *worth, struct fault *fault)
{
	const double given = (double)worth->scale.n / worth->scale.d;
	char text[SCALE_TEXT_MAX];

	if (!unit[0])
		return divides(scale, worth, fault);
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		double stated = scale * units[i].worth;

		if (strcmp(unit, units[i].name) != 0 || strcmp(worth->unit, units[i].unit) != 0)
			continue;
		if (stated > given * 0.999 && stated < given * 1.001)
			return true;
		scale_text(worth->scale, text);
		fault_set(fault, 0, "its .scale and .unit say %g %s, the platform file %s", stated,
			worth->unit, text);
		return false;
	}
	fault_set(fault, 0, "its .unit \"%.24s\" is not a unit of %s", unit, worth->unit);
	return false;
}

static int check_scale(
	const struct pmu *pmu, const char *alias, const struct worth *worth, struct fault *fault)
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
				fault, -EDOM, "its .scale \"%.24s\" is not a factor", scale_text);
	}
	return agrees(scale, unit, worth, fault) ? 0 : -EDOM;
}

int alias_encode(const struct pmu *pmu, const char *name, const struct worth *worth,
	struct encoding *encoding, struct fault *fault)
{
	char path[PATH_MAX_BYTES], text[PMU_VALUE_MAX], alias[FORMAT_NAME_MAX];
	const size_t length = strcspn(name, ",");
	int r;

	if (!format_is_file_name(name) || length >= sizeof alias)
		return fault_set(fault, -EINVAL, "that is not the name of an event");
	snprintf(alias, sizeof alias, "%.*s", (int)length, name);
	snprintf(path, sizeof path, "events/%s", alias);
	r = text_file_read(pmu->directory_fd, path, text, sizeof text);
	if (r == -ENOENT)
		return fault_set(fault, r, "the PMU has no such event");
	if (r < 0)
		return fault_set(fault, r, "it cannot be read: %s", strerror(-r));
	if (worth) {
		r = check_scale(pmu, alias, worth, fault);
		if (r < 0)
			return r;
	}
	r = format_encode(pmu, text, encoding, fault);
	return r < 0 || !name[length] ? r : format_encode(pmu, name + length + 1, encoding, fault);
}
