/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the one platform file that fits. Files are read in the order of the directories and then of
 * their names. A file whose name was seen before is overridden: it is not read, so it may have
 * errors.
 */
#include "daemon/plan/platform-search.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "daemon/machine/machine.h"
#include "daemon/plan/platform-file.h"

#define SUFFIX ".conf"

static void platform_cleanup(struct platform **platform)
{
	platform_free(*platform);
}

/* Handles a file that was read. Sets *@platform to NULL if it keeps the platform. */
struct search;
typedef int take_fn(struct search *search, struct platform **platform,
	const struct machine_pattern *pattern, struct fault *fault);

struct search {
	const char *const *directories;
	take_fn *take;
	const char *name;              /* NULL: recognise */
	const struct machine *machine; /* if recognising */
	struct platform *found;
	int (*visit)(const struct platform *platform, void *userdata); /* if visiting */
	void *userdata;
	unsigned n_names;
	char (*names)[PAGE_NAME_MAX]; /* of the files read so far */
};

static void search_done(struct search *search)
{
	search->found = platform_free(search->found);
	free(take_ptr(search->names));
}

struct listing {
	int n;
	struct dirent **entries;
};

static void listing_done(struct listing *listing)
{
	for (int i = 0; i < listing->n; i++)
		free(listing->entries[i]);
	free(listing->entries);
}

static int is_platform_file(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name), suffix = strlen(SUFFIX);

	return *entry->d_name != '.' && length > suffix &&
	       !strcmp(entry->d_name + length - suffix, SUFFIX);
}

static bool is_overridden(const struct search *search, const char *name)
{
	for (unsigned i = 0; i < search->n_names; i++)
		if (!strcmp(search->names[i], name))
			return true;
	return false;
}

static int remember_name(struct search *search, const char *name, struct fault *fault)
{
	char(*grown)[PAGE_NAME_MAX] =
		reallocarray(search->names, search->n_names + 1, sizeof *grown);

	if (!grown)
		return fault_set(fault, -ENOMEM, "Out of memory.");
	search->names = grown;
	strcpy(grown[search->n_names++], name);
	return 0;
}

static int take_wanted(struct search *search, struct platform **platform,
	const struct machine_pattern *pattern, struct fault *fault)
{
	bool wanted = search->name ? !strcmp(search->name, (*platform)->name)
				   : machine_matches(search->machine, pattern);

	if (!wanted)
		return 0;
	if (search->found)
		return fault_set(fault, -EEXIST,
			"Two platform files match this machine: %s and %s. Change their [platform] "
			"so that one matches, or choose one with name in [platform] of "
			"uncored.conf.",
			search->found->path, (*platform)->path);
	search->found = take_ptr(*platform);
	return 0;
}

static int show_visitor(struct search *search, struct platform **platform,
	const struct machine_pattern *pattern, struct fault *fault)
{
	(void)pattern;
	(void)fault;
	return search->visit(*platform, search->userdata);
}

static int consider(struct search *search, const char *path, const char *name, struct fault *fault)
{
	_cleanup_(platform_cleanup) struct platform *platform = NULL;
	struct machine_pattern pattern = {};
	int r = platform_file_load(path, name, &platform, &pattern, fault);

	return r < 0 ? r : search->take(search, &platform, &pattern, fault);
}

static int search_file(
	struct search *search, const char *directory, const char *file, struct fault *fault)
{
	_cleanup_free_ char *path = NULL;
	char name[PAGE_NAME_MAX];
	size_t length = strlen(file) - strlen(SUFFIX);
	int r;

	if (asprintf(&path, "%s/%s", directory, file) < 0) {
		path = NULL;
		return fault_set(fault, -ENOMEM, "Out of memory.");
	}
	if (length >= sizeof name)
		return fault_set(fault, -EINVAL,
			"%s: the name of a platform must be at most %zu bytes.", path,
			sizeof name - 1);
	memcpy(name, file, length);
	name[length] = '\0';
	if (is_overridden(search, name))
		return 0;
	r = remember_name(search, name, fault);
	if (r < 0)
		return r;
	return consider(search, path, name, fault);
}

static int search_directory(struct search *search, const char *directory, struct fault *fault)
{
	_cleanup_(listing_done) struct listing listing = {};

	listing.n = scandir(directory, &listing.entries, is_platform_file, alphasort);
	if (listing.n < 0) {
		if (errno == ENOENT)
			return 0;
		return fault_set(fault, -errno, "Cannot list %s: %m.", directory);
	}
	for (int i = 0; i < listing.n; i++) {
		int r = search_file(search, directory, listing.entries[i]->d_name, fault);

		if (r < 0)
			return r;
	}
	return 0;
}

/* Adds @more to the list in @text, as far as it fits. */
static void append(char *text, size_t size_bytes, const char *more)
{
	size_t length = strlen(text);

	snprintf(text + length, size_bytes - length, "%s%s", length ? ", " : "", more);
}

static int nothing_found(const struct search *search, struct fault *fault)
{
	char searched[160] = "", known[200] = "", machine[200];

	for (unsigned i = 0; search->directories[i]; i++)
		append(searched, sizeof searched, search->directories[i]);
	for (unsigned i = 0; i < search->n_names; i++)
		append(known, sizeof known, search->names[i]);
	if (search->name)
		return fault_set(fault, -EINVAL, "There is no platform %s in %s. There are: %s.",
			search->name, searched, *known ? known : "none");
	machine_describe(search->machine, machine, sizeof machine);
	return fault_set(fault, -ENODEV,
		"No platform file in %s matches this machine (%s): add one, see "
		"uncore-platform(5).%s",
		searched, machine,
		search->machine->is_guest
			? " It is a virtual machine, and those have no uncore counters."
			: "");
}

static int search_all(struct search *search, struct fault *fault)
{
	int r = 0;

	for (unsigned i = 0; !r && search->directories[i]; i++)
		r = search_directory(search, search->directories[i], fault);
	return r;
}

int platform_visit(const char *const directories[],
	int (*visit)(const struct platform *platform, void *userdata), void *userdata,
	struct fault *fault)
{
	_cleanup_(search_done) struct search search = {
		.directories = directories,
		.take = show_visitor,
		.visit = visit,
		.userdata = userdata,
	};

	return search_all(&search, fault);
}

int platform_find(const char *const directories[], int root_fd, const char *name,
	struct platform **ret, struct fault *fault)
{
	struct machine machine = {};
	_cleanup_(search_done) struct search search = {
		.directories = directories,
		.take = take_wanted,
		.name = name && *name ? name : NULL,
		.machine = &machine,
	};
	int r = 0;

	if (!search.name)
		r = machine_read(root_fd, &machine, fault);
	if (!r)
		r = search_all(&search, fault);
	if (r < 0)
		return r;
	if (!search.found)
		return nothing_found(&search, fault);
	if (*search.found->unsupported)
		return fault_set(fault, -ENODEV, "This machine is %s: %s (%s)", search.found->title,
			search.found->unsupported, search.found->path);
	*ret = take_ptr(search.found);
	return 0;
}
