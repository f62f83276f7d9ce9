/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/admit/owners.h"

#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/clock.h"
#include "common/macro.h"
#include "common/number.h"

static const uint64_t LOOK_AGAIN_NS = 10000000000;

enum { LINE_MAX_BYTES = 512 };

/* --- passwd(5) --- */

static int add_range(struct owners *owners, const struct owner_range *range)
{
	if (array_room(&owners->ranges, owners->n, sizeof *owners->ranges) < 0)
		return -ENOMEM;
	owners->ranges[owners->n++] = *range;
	return 0;
}

static int owners_compare_names(const void *a, const void *b)
{
	return strcmp(((const struct owner_range *)a)->name, ((const struct owner_range *)b)->name);
}

static int parse_passwd(struct owners *owners, FILE *file)
{
	const struct passwd *entry;

	while (file && (entry = fgetpwent(file))) {
		struct owner_range user = { .first = entry->pw_uid, .n = 1 };

		user.name = strdup(entry->pw_name);
		if (!user.name || add_range(owners, &user) < 0) {
			free(user.name);
			return -ENOMEM;
		}
	}
	owners->n_users = owners->n;
	if (owners->n)
		qsort(owners->ranges, owners->n, sizeof *owners->ranges, owners_compare_names);
	return file && ferror(file) ? -EIO : 0;
}

/* False also if several uids have the name: newuidmap(1) lets each of them use its ranges. */
static bool find_uid(const struct owners *owners, char *name, uint32_t *ret)
{
	const struct owner_range wanted = { .name = name };
	const struct owner_range *user = owners->n_users
						 ? bsearch(&wanted, owners->ranges, owners->n_users,
							   sizeof wanted, owners_compare_names)
						 : NULL;

	if (!user)
		return false;
	*ret = (uint32_t)user->first;
	while (user > owners->ranges && owners_compare_names(user - 1, &wanted) == 0)
		user--;
	while (user < owners->ranges + owners->n_users && owners_compare_names(user, &wanted) == 0)
		if (user++->first != *ret)
			return false;
	return true;
}

/* --- subuid(5): lines "owner:first:count", where the owner is a name or a number --- */

static bool parse_number(const char *text, uint64_t *ret)
{
	const char *end = number_parse(text, 10, UINT64_MAX, ret);

	return end && (!*end || *end == '\n');
}

/* Reads the next line that fits into @line. Skips longer lines as a whole. */
static bool read_line(FILE *file, char line[LINE_MAX_BYTES])
{
	bool is_part, is_rest = false;

	while (fgets(line, LINE_MAX_BYTES, file)) {
		is_part = !strchr(line, '\n') && !feof(file);
		if (!is_part && !is_rest)
			return true;
		is_rest = is_part;
	}
	return false;
}

static bool find_owner(const struct owners *owners, char *name, uint32_t *ret)
{
	uint64_t number;

	if (!parse_number(name, &number))
		return find_uid(owners, name, ret);
	*ret = (uint32_t)number;
	return number < UINT32_MAX;
}

static bool parse_line(const struct owners *owners, char *line, struct owner_range *ret)
{
	char *rest, *name = strtok_r(line, ":", &rest);
	const char *first = strtok_r(NULL, ":", &rest), *n = strtok_r(NULL, "", &rest);

	*ret = (struct owner_range){};
	if (!name || !first || !n || !parse_number(first, &ret->first) || !parse_number(n, &ret->n))
		return false;
	ret->is_known = find_owner(owners, name, &ret->owner);
	return true;
}

static int parse_subuid(struct owners *owners, FILE *file)
{
	char line[LINE_MAX_BYTES];
	struct owner_range range;

	while (file && read_line(file, line))
		if (parse_line(owners, line, &range) && add_range(owners, &range) < 0)
			return -ENOMEM;
	return file && ferror(file) ? -EIO : 0;
}

/* --- reading --- */

static void free_ranges(struct owners *owners)
{
	for (unsigned i = 0; i < owners->n; i++)
		free(owners->ranges[i].name);
	free(owners->ranges);
}

static int parse_files(struct owners *owners, FILE *passwd, FILE *subuid)
{
	struct owners new = {};
	int r = parse_passwd(&new, passwd);

	if (r >= 0)
		r = parse_subuid(&new, subuid);
	if (r < 0) {
		free_ranges(&new);
		return r;
	}
	free_ranges(owners);
	owners->ranges = new.ranges;
	owners->n = new.n;
	owners->n_users = new.n_users;
	return 0;
}

/* 0: @path is open, or there is no such file. */
static int open_file(const char *path, FILE **ret)
{
	*ret = fopen(path, "re");
	return *ret || errno == ENOENT ? 0 : -errno;
}

static int read_files(struct owners *owners)
{
	_cleanup_file_ FILE *passwd = NULL, *subuid = NULL;
	int r = open_file(owners->passwd_path, &passwd);

	if (r >= 0)
		r = open_file(owners->subuid_path, &subuid);
	return r < 0 ? r : parse_files(owners, passwd, subuid);
}

/* A file that does not exist has no times and no size. */
static void look_at(const char *path, struct stat *ret)
{
	*ret = (struct stat){};
	if (stat(path, ret) < 0)
		*ret = (struct stat){};
}

/* The files may change while they are read, so it notes first which ones it reads. */
void owners_read(struct owners *owners)
{
	uint64_t n_silent;
	int r;

	owners->looked_ns = clock_now_ns();
	look_at(owners->passwd_path, &owners->passwd);
	look_at(owners->subuid_path, &owners->subuid);
	r = read_files(owners);
	if (r >= 0)
		return;
	owners->passwd = (struct stat){}; /* so that it tries again */
	if (log_limit_permits(&owners->failures, owners->looked_ns, &n_silent))
		log_warning(
			"Cannot read %s or %s: %s. Subordinate ids are counted as before (%" PRIu64
			" more times since the last such line).",
			owners->passwd_path, owners->subuid_path, strerror(-r), n_silent);
}

/* --- asking --- */

static bool has_changed(const char *path, const struct stat *before)
{
	struct stat now;

	look_at(path, &now);
	return now.st_ino != before->st_ino || now.st_size != before->st_size ||
	       now.st_mtim.tv_sec != before->st_mtim.tv_sec ||
	       now.st_mtim.tv_nsec != before->st_mtim.tv_nsec;
}

static void owners_look_again(struct owners *owners)
{
	uint64_t now_ns = clock_now_ns();

	if (now_ns < owners->looked_ns + LOOK_AGAIN_NS)
		return;
	owners->looked_ns = now_ns;
	if (has_changed(owners->passwd_path, &owners->passwd) ||
		has_changed(owners->subuid_path, &owners->subuid))
		owners_read(owners);
}

static uint64_t block_of(uint32_t uid)
{
	return UINT64_C(1) << 32 | uid >> 16;
}

static uint64_t account_of(const struct owners *owners, uint32_t uid)
{
	const struct owner_range *found = NULL;

	for (unsigned i = 0; i < owners->n; i++) {
		const struct owner_range *range = &owners->ranges[i];

		if (uid < range->first || uid - range->first >= range->n)
			continue;
		if (range->name)
			return uid;
		if (!range->is_known || (found && found->owner != range->owner))
			return block_of(uid);
		found = range;
	}
	return found ? found->owner : uid;
}

uint64_t owners_account_of(struct owners *owners, uint32_t uid)
{
	owners_look_again(owners);
	return uid ? account_of(owners, uid) : 0;
}

void owners_done(struct owners *owners)
{
	free_ranges(owners);
	*owners = (struct owners)OWNERS_INIT;
}
