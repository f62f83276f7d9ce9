/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the one platform file that fits. Files are read in the order of the directories and then of
 * their names. A file whose name was seen before is overridden: it is not read, so it may have
 * errors.
 */
#include "daemon/plan/platform-search.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/array.h"
#include "common/macro.h"
#include "common/text.h"
#include "daemon/base/text-file.h"
#include "daemon/machine/machine.h"
#include "daemon/plan/platform-file.h"

struct search {
	const char *const *directories;
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
	free(search->found);
	free(search->names);
}

static bool is_overridden(const struct search *search, const char *name)
{
	for (unsigned i = 0; i < search->n_names; i++)
		if (!strcmp(search->names[i], name))
			return true;
	return false;
}

/* Sets *@platform to NULL if it keeps the platform. */
static int take_wanted(struct search *search, struct platform **platform, struct fault *fault)
{
	bool wanted = search->name ? !strcmp(search->name, (*platform)->name)
				   : machine_matches(search->machine, &(*platform)->pattern);

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

static int consider(struct search *search, const char *path, const char *name, struct fault *fault)
{
	_cleanup_free_ struct platform *platform = NULL;
	int r = platform_file_load(path, name, &platform, fault);

	if (r < 0)
		return r;
	return search->visit ? search->visit(platform, search->userdata)
			     : take_wanted(search, &platform, fault);
}

static int search_file(const char *path, void *userdata, struct fault *fault)
{
	struct search *search = userdata;
	const char *file = strrchr(path, '/') + 1;
	char name[PAGE_NAME_MAX];
	size_t length = strlen(file) - strlen(".conf");

	if (length >= sizeof name)
		return fault_set(fault, -EINVAL,
			"%s: the name of a platform must be at most %zu bytes.", path,
			sizeof name - 1);
	memcpy(name, file, length);
	name[length] = '\0';
	if (is_overridden(search, name))
		return 0;
	if (array_room(&search->names, search->n_names, sizeof name) < 0)
		return fault_set(fault, -ENOMEM, "Out of memory.");
	strcpy(search->names[search->n_names++], name);
	return consider(search, path, name, fault);
}

static int nothing_found(const struct search *search, struct fault *fault)
{
	char searched[160] = "", known[200] = "", machine[200];

	for (unsigned i = 0; search->directories[i]; i++)
		text_append(
			searched, sizeof searched, "%s%s", i ? ", " : "", search->directories[i]);
	for (unsigned i = 0; i < search->n_names; i++)
		text_append(known, sizeof known, "%s%s", i ? ", " : "", search->names[i]);
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

	/* One of the two folders may be missing, but not the only one. */
	if (!search->directories[1] && access(search->directories[0], F_OK) < 0)
		return fault_set(fault, -errno, "Cannot list %s: %m.", search->directories[0]);
	for (unsigned i = 0; !r && search->directories[i]; i++)
		r = conf_folder_each(search->directories[i], search_file, search, fault);
	return r;
}

int platform_visit(const char *const directories[],
	int (*visit)(const struct platform *platform, void *userdata), void *userdata,
	struct fault *fault)
{
	_cleanup_(search_done) struct search search = {
		.directories = directories,
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
