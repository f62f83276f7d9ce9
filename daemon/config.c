/* SPDX-License-Identifier: BSD-3-Clause */
/* uncored.conf: one table holds every key, its range and its default (uncored.conf(5)). */
#include "daemon/config.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "common/macro.h"
#include "common/wire.h"
#include "daemon/inifile.h"
#include "daemon/platform.h"

static int parse_path(
	const struct inifile_key *key, const char *value, void *ret_chars, struct fault *why)
{
	if (*value != '/')
		return fault_set(why, -EINVAL, "must be an absolute path (%s)", key->what);
	return inifile_text(key, value, ret_chars, why);
}

#define FIELD(name)  offsetof(struct config, name)
#define LENGTH(name) (sizeof((struct config *)NULL)->name - 1)

static const struct inifile_key keys[] = {
	{ "server", "socket", parse_path, FIELD(socket_path), 1, LENGTH(socket_path),
		WIRE_SOCKET_PATH, "path of a Unix socket" },
	{ "server", "mode", inifile_octal, FIELD(socket_mode), 0, 0777, "0666",
		"permissions of the socket" },
	{ "server", "max_clients", inifile_number, FIELD(max_clients), 1, 4096, "1024",
		"connections in all" },
	{ "server", "max_clients_per_user", inifile_number, FIELD(max_clients_per_user), 1, 4096,
		"512", "connections of one user" },
	{ "server", "requests_per_second", inifile_number, FIELD(requests_per_second), 1, 10000,
		"64", "requests of one connection" },
	{ "reader", "budget_percent", inifile_number, FIELD(budget_percent), 1, 100, "10",
		"percent of one CPU" },
	{ "reader", "burst_ms", inifile_number, FIELD(burst_ms), 1, 10000, "100", "milliseconds" },
	{ "reader", "realtime", inifile_bool, FIELD(realtime), 0, 0, "yes", "yes or no" },
	{ "platform", "name", inifile_text, FIELD(platform), 0, LENGTH(platform), "",
		"name of a platform file without .conf" },
};

static void set_defaults(struct config *config)
{
	struct fault why;

	for (unsigned i = 0; i < ARRAY_SIZE(keys); i++) {
		int r = keys[i].parse(
			&keys[i], keys[i].fallback, (char *)config + keys[i].offset, &why);

		assert(r == 0);
		(void)r;
	}
}

/* [calibration]: each key is the name of a metric. */
static int read_calibration(const struct inifile *ini, const struct inifile_section *section,
	struct config *config, struct fault *fault)
{
	static const struct inifile_key key = {
		.minimum = 1, .maximum = PLATFORM_BYTES_MAX, .what = "bytes per count"
	};

	for (unsigned i = section->first; i < section->first + section->n; i++) {
		const struct inifile_entry *entry = &ini->entries[i];
		struct config_calibration *calibration =
			&config->calibrations[config->n_calibrations];
		struct fault why;

		if (config->n_calibrations == PAGE_METRICS_MAX ||
			strlen(entry->key) >= sizeof calibration->metric)
			return inifile_fault(ini, entry->line, fault,
				"[calibration] %s is no metric, or one too many.", entry->key);
		if (inifile_number(&key, entry->value, &calibration->bytes, &why) < 0)
			return inifile_fault(ini, entry->line, fault, "[calibration] %s = %s: %s.",
				entry->key, entry->value, why.text);
		strcpy(calibration->metric, entry->key);
		config->n_calibrations++;
	}
	return 0;
}

static bool is_known(const char *section)
{
	for (unsigned i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(keys[i].section, section))
			return true;
	return false;
}

static int bind_sections(const struct inifile *ini, struct config *config, struct fault *fault)
{
	const struct inifile_group group = { keys, ARRAY_SIZE(keys), config };

	for (unsigned i = 0; i < ini->n_sections; i++) {
		const struct inifile_section *section = &ini->sections[i];
		int r;

		if (!strcmp(section->name, "calibration")) {
			r = read_calibration(ini, section, config, fault);
			if (r < 0)
				return r;
			continue;
		}
		if (!is_known(section->name))
			return inifile_fault(ini, section->line, fault,
				"unknown section [%s]; known are [server], [reader], [platform], "
				"[calibration].",
				section->name);
		r = inifile_bind(ini, section, &group, 1, fault);
		if (r < 0)
			return r;
	}
	return 0;
}

int config_load(const char *path, struct config *ret, struct fault *fault)
{
	_cleanup_(inifile_done) struct inifile ini = {};
	struct config config = {};
	int r;

	set_defaults(&config);
	if (path) {
		r = inifile_load(path, &ini, fault);
		if (r < 0)
			return r;
		r = bind_sections(&ini, &config, fault);
		if (r < 0)
			return r;
	}
	*ret = config;
	return 0;
}
