/* SPDX-License-Identifier: BSD-3-Clause */
/* uncored.conf: one table holds every key, its range and its default (uncored.conf(5)). */
#include "daemon/site/config.h"

#include <assert.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "common/number.h"
#include "common/wire.h"
#include "daemon/base/inifile.h"
#include "daemon/base/log.h"
#include "daemon/site/config-files.h"

static int parse_path(
	const struct inifile_key *key, const char *value, void *ret_chars, struct fault *why)
{
	if (*value != '/')
		return fault_set(why, -EINVAL, "must be an absolute path (%s)", key->what);
	return inifile_text(key, value, ret_chars, why);
}

/* --- users and groups: names of this machine, or numbers --- */

static bool is_number(const char *text, uint32_t *ret)
{
	uint64_t number;

	if (!number_parse_whole(text, 10, UINT32_MAX - 1, &number)) /* (uid_t)-1 is not a user */
		return false;
	*ret = (uint32_t)number;
	return true;
}

static int config_say_unknown(const char *kind, const char *name, struct fault *why)
{
	if (errno && errno != ENOENT && errno != ESRCH)
		return fault_set(why, -EINVAL, "%s %s cannot be looked up: %m", kind, name);
	return fault_set(why, -EINVAL, "this machine has no %s %s", kind, name);
}

/*
 * While a directory service is down, names are not found, often without an error. So a name keeps
 * the number that it had when the configuration was last applied.
 */
static bool keeps_number(const char *kind, const char *name, uint32_t number)
{
	log_warning("%s %s of uncored.conf cannot be looked up: it is still number %u, as it was "
		    "when the configuration was last applied.",
		kind, name, number);
	return true;
}

static bool was_group(const struct policy_access *former, const char *name, uint32_t *ret)
{
	if (!former || !former->by_group || strcmp(former->group_text, name))
		return false;
	*ret = former->group;
	return keeps_number("Group", name, *ret);
}

static bool was_user(const struct policy_access *former, const char *name, uint32_t *ret)
{
	char names[POLICY_TEXT_MAX], *rest;
	unsigned i = 0;

	if (!former)
		return false;
	strcpy(names, former->users_text);
	for (char *one = strtok_r(names, " \t", &rest); one; one = strtok_r(NULL, " \t", &rest)) {
		if (!strcmp(one, name)) {
			*ret = former->users[i];
			return keeps_number("User", name, *ret);
		}
		i++;
	}
	return false;
}

static int parse_group(
	const struct inifile_key *key, const char *value, void *ret_config, struct fault *why)
{
	struct config *config = ret_config;
	struct policy_access *access = &config->access;
	const struct group *group;

	(void)key;
	if (strlen(value) >= sizeof access->group_text)
		return fault_set(
			why, -EINVAL, "must be at most %zu bytes", sizeof access->group_text - 1);
	access->by_group = *value;
	strcpy(access->group_text, value);
	if (!*value || is_number(value, &access->group))
		return 0;
	if (value[strcspn(value, ", \t")])
		return fault_set(why, -EINVAL, "takes one group; several users go into users");
	errno = 0;
	group = getgrnam(value);
	if (group)
		access->group = group->gr_gid;
	else if (!was_group(config->former, value, &access->group))
		return config_say_unknown("group", value, why);
	return 0;
}

static int add_user(struct config *config, const char *name, struct fault *why)
{
	struct policy_access *access = &config->access;
	uint32_t *uid = &access->users[access->n_users];
	const struct passwd *user;

	if (access->n_users == POLICY_USERS_MAX)
		return fault_set(why, -EINVAL, "must be at most %d users: make a group of them",
			POLICY_USERS_MAX);
	if (!is_number(name, uid)) {
		errno = 0;
		user = getpwnam(name);
		if (user)
			*uid = user->pw_uid;
		else if (!was_user(config->former, name, uid))
			return config_say_unknown("user", name, why);
	}
	access->n_users++;
	return 0;
}

static int parse_users(
	const struct inifile_key *key, const char *value, void *ret_config, struct fault *why)
{
	struct config *config = ret_config;
	struct policy_access *access = &config->access;
	char names[POLICY_TEXT_MAX], *rest;

	(void)key;
	if (strchr(value, ','))
		return fault_set(why, -EINVAL,
			"has a comma: users are separated by spaces, as in `users = root pcp`");
	if (strlen(value) >= sizeof access->users_text)
		return fault_set(why, -EINVAL, "must be at most %zu bytes: make a group of them",
			sizeof access->users_text - 1);
	strcpy(access->users_text, value);
	strcpy(names, value);
	access->n_users = 0;
	for (char *name = strtok_r(names, " \t", &rest); name;
		name = strtok_r(NULL, " \t", &rest)) {
		int r = add_user(config, name, why);

		if (r < 0)
			return r;
	}
	return 0;
}

/* --- the keys --- */

enum {
	INTERVAL_MAX_MS = 60000, /* a client may wait this long for a read */
	QUANTUM_MAX = 1 << 30,
	CLIENTS_MAX = 16384, /* each may be of another user: users.h */
};

#define FIELD(name)  offsetof(struct config, name)
#define LENGTH(name) (sizeof((struct config *)NULL)->name - 1)

static const struct inifile_key keys[] = {
	{ "server", "socket", parse_path, FIELD(socket_path), 1, LENGTH(socket_path),
		WIRE_SOCKET_PATH, "path of a Unix socket" },
	{ "server", "max_clients", inifile_number, FIELD(max_clients), 0, CLIENTS_MAX, "0",
		"connections in all" },
	{ "server", "max_clients_per_user", inifile_number, FIELD(max_clients_per_user), 0,
		CLIENTS_MAX, "0", "connections of one user" },
	{ "server", "requests_per_second", inifile_number, FIELD(requests_per_second), 1, 10000,
		"64", "requests of one connection" },
	{ "access", "mode", inifile_octal, FIELD(socket_mode), 0, 0777, "0666",
		"permissions of the socket" },
	{ "access", "group", parse_group, 0, 0, 0, "", "name or number of a group" },
	{ "access", "users", parse_users, 0, 0, 0, "", "names or numbers of users" },
	{ "access", "owner_only", inifile_bool, FIELD(access.owner_only), 0, 0, "no", "yes or no" },
	{ "disclosure", "min_interval_ms", inifile_number, FIELD(disclosure.min_interval_ms), 0,
		INTERVAL_MAX_MS, "0", "milliseconds" },
	{ "disclosure", "min_interval_per_user_ms", inifile_number,
		FIELD(disclosure.min_interval_per_user_ms), 0, INTERVAL_MAX_MS, "0",
		"milliseconds" },
	{ "disclosure", "quantum", inifile_number, FIELD(disclosure.quantum), 1, QUANTUM_MAX, "1",
		"bytes" },
	{ "disclosure", "quantum.energy", inifile_number, FIELD(disclosure.quantum_energy), 1,
		QUANTUM_MAX, "1", "nJ" },
	{ "reader", "budget_percent", inifile_number, FIELD(budget_percent), 1, 100, "10",
		"percent of one CPU" },
	{ "reader", "burst_ms", inifile_number, FIELD(burst_ms), 1, 10000, "200", "milliseconds" },
	{ "reader", "realtime", inifile_bool, FIELD(realtime), 0, 0, "yes", "yes or no" },
	{ "sweep", "method", inifile_word, FIELD(sweep_method), 0, 0, "auto", "auto|read|bpf" },
	{ "platform", "name", inifile_text, FIELD(platform), 0, LENGTH(platform), "",
		"name of a platform file without .conf" },
	{ "metrics", "enable", inifile_text, FIELD(enabled_metrics), 0, LENGTH(enabled_metrics), "",
		"names of metrics" },
	{ "metrics", "disable", inifile_text, FIELD(disabled_metrics), 0, LENGTH(disabled_metrics),
		"", "names of metrics" },
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

static struct config_calibration *find_calibration(struct config *config, const char *metric)
{
	unsigned i = 0;

	while (i < config->n_calibrations && strcmp(config->calibrations[i].metric, metric))
		i++;
	return i < PAGE_METRICS_MAX ? &config->calibrations[i] : NULL;
}

/* [calibration]: each key is the name of a metric. */
static int read_calibration(const struct inifile *ini, const struct inifile_section *section,
	struct config *config, struct fault *fault)
{
	static const struct inifile_key key = {
		.minimum = 1, .maximum = CONFIG_BYTES_MAX, .what = "bytes per count"
	};

	for (unsigned i = section->first; i < section->first + section->n; i++) {
		const struct inifile_entry *entry = &ini->entries[i];
		struct config_calibration *calibration = find_calibration(config, entry->key);
		struct fault why;

		if (!calibration || strlen(entry->key) >= sizeof calibration->metric)
			return inifile_fault(ini, entry->line, fault,
				"[calibration] %s is not a metric, or is one too many.",
				entry->key);
		if (inifile_number(&key, entry->value, &calibration->bytes, &why) < 0)
			return inifile_fault(ini, entry->line, fault, "[calibration] %s = %s: %s.",
				entry->key, entry->value, why.text);
		config->n_calibrations += !*calibration->metric;
		strcpy(calibration->metric, entry->key);
	}
	return 0;
}

static bool config_is_known(const char *section)
{
	for (unsigned i = 0; i < ARRAY_SIZE(keys); i++)
		if (!strcmp(keys[i].section, section))
			return true;
	return false;
}

static int bind_sections(const struct inifile *ini, struct config *config, struct fault *fault)
{
	static const struct inifile_table table = { keys, ARRAY_SIZE(keys) };

	for (unsigned i = 0; i < ini->n_sections; i++) {
		const struct inifile_section *section = &ini->sections[i];
		int r;

		if (!strcmp(section->name, "calibration"))
			r = read_calibration(ini, section, config, fault);
		else if (config_is_known(section->name))
			r = inifile_bind(ini, section, &table, config, fault);
		else
			r = inifile_fault(ini, section->line, fault,
				"unknown section [%s]; known are [server], [access], "
				"[disclosure], [reader], [sweep], [platform], [metrics], "
				"[calibration].",
				section->name);
		if (r < 0)
			return r;
	}
	return 0;
}

int config_load(const char *path, const struct policy_access *former, struct config *ret,
	struct fault *fault)
{
	_cleanup_(config_files_done) struct config_files files = {};
	struct config config = { .former = former };
	int r = path ? config_files_load(path, &files, fault) : 0;

	set_defaults(&config);
	for (unsigned i = 0; r >= 0 && i < files.n; i++)
		r = bind_sections(&files.files[i], &config, fault);
	if (r < 0)
		return r;
	config.former = NULL;
	*ret = config;
	return 0;
}

const char *config_path(const struct config_origin *origin)
{
	return origin->path ? origin->path : UNCORED_CONFIG;
}

static int load_for(const struct config_origin *origin, const char *path,
	const struct policy_access *former, struct config *ret, struct fault *fault)
{
	struct config config;
	int r = config_load(path, former, &config, fault);

	if (r < 0)
		return r;
	config.origin = *origin;
	if (origin->socket_path && strlen(origin->socket_path) >= sizeof config.socket_path)
		return fault_set(fault, -ENAMETOOLONG,
			"--socket %s: a socket's path has at most %zu bytes.", origin->socket_path,
			sizeof config.socket_path - 1);
	if (origin->socket_path) /* strncpy(3) pads with NULs, for memcmp(3) */
		strncpy(config.socket_path, origin->socket_path, sizeof config.socket_path);
	*ret = config;
	return 0;
}

int config_find(const struct config_origin *origin, const struct policy_access *former,
	struct config *ret, struct fault *fault)
{
	int r = load_for(origin, config_path(origin), former, ret, fault);

	if (r == -ENOENT) /* a file that was named must exist */
		return origin->path ? -EINVAL : config_default(origin, ret, fault);
	return r;
}

int config_default(const struct config_origin *origin, struct config *ret, struct fault *fault)
{
	return load_for(origin, NULL, NULL, ret, fault);
}

/* --- reading the configuration again --- */

#define LASTING(key, name)                                                                         \
	{                                                                                          \
		key, FIELD(name), sizeof((struct config *)NULL)->name                              \
	}

/* Keys that take effect only when the daemon starts. */
static const struct {
	const char *key;
	size_t offset, size_bytes;
} lasting[] = {
	LASTING("[server] socket", socket_path),
	LASTING("[reader] realtime", realtime),
	LASTING("[sweep] method", sweep_method),
	LASTING("[platform] name", platform),
	LASTING("[metrics] enable", enabled_metrics),
	LASTING("[metrics] disable", disabled_metrics),
	LASTING("[calibration]", calibrations),
};

int config_reload(struct config *config, void (*kept)(const char *key), struct fault *fault)
{
	struct config new;
	int r = config_find(&config->origin, &config->access, &new, fault);

	if (r < 0) {
		config->refused = *fault;
		return r;
	}
	for (size_t i = 0; i < ARRAY_SIZE(lasting); i++) {
		char *now = (char *)&new + lasting[i].offset;
		const char *before = (const char *)config + lasting[i].offset;

		if (!memcmp(now, before, lasting[i].size_bytes))
			continue;
		memcpy(now, before, lasting[i].size_bytes);
		kept(lasting[i].key);
	}
	new.n_calibrations = config->n_calibrations;
	*config = new;
	return 0;
}
