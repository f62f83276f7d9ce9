/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/markers/markers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/command/frame/command.h"
#include "client/command/markers/modules.h"
#include "client/command/markers/program.h"
#include "common/macro.h"
#include "common/text.h"

enum { SAID_BYTES = 4096 };

/* --- the interfaces whose marks can be regions, and how a program is seen to carry them --- */

enum { FAMILIES = 7, FAMILY_VARIABLES = 3 };

struct family {
	const char *name;     /* of its module: libuncore-NAME.so */
	const char *calls[2]; /* how the names of its functions begin */
	const char *library;  /* ... of the libraries that have them */
	/* Its own tools set them, and then the module stays away. */
	const char *variables[FAMILY_VARIABLES];
	/* The module is preloaded. Otherwise the variables load it; what carries the family has
	 * their names as texts. */
	bool is_preloaded;
	const char *unasked;        /* what to say instead of choosing it: auto does not */
	const char *lacking, *lack; /* a library without such an interface, and what to say */
};

/* What was seen of a family. */
struct family_seen {
	bool is_carried, is_lacking;
	bool variables[FAMILY_VARIABLES]; /* those whose names were seen */
};

static const struct family families[FAMILIES] = {
	{ "likwid", { "likwid_marker" }, "liblikwid", { "LIKWID_MODE" }, .is_preloaded = true },
	{ "kokkos", .variables = { "KOKKOS_TOOLS_LIBS", "KOKKOS_PROFILE_LIBRARY" } },
	{ "caliper", { "cali_", "_ZN4cali" }, "libcaliper",
		{ "CALI_CONFIG", "CALI_CONFIG_PROFILE", "CALI_SERVICES_ENABLE" },
		.is_preloaded = true },
	{ "mpi", { "MPI_", "mpi_" }, "libmpi", .is_preloaded = true,
		.unasked = "MPI was found, but is not measured by itself: --markers=mpi measures "
			   "it, and makes each call half a microsecond longer." },
	{ "openmp", .variables = { "OMP_TOOL_LIBRARIES" }, .lacking = "libgomp",
		.lack = "libgomp has no OMPT" },
	{ "nvtx", .variables = { "NVTX_INJECTION64_PATH" } },
	{ "itt", .variables = { "INTEL_LIBITTNOTIFY64" } },
};

static bool markers_begins(const char *text, const char *prefix)
{
	return prefix && strncmp(text, prefix, strlen(prefix)) == 0;
}

static bool has_variable(
	const struct family *family, struct family_seen *seen, const struct elf_file *file)
{
	bool found = false;

	for (int k = 0; k < FAMILY_VARIABLES && family->variables[k]; k++)
		if (elf_file_has_text(file, family->variables[k]))
			found = seen->variables[k] = true;
	return found;
}

/* Looks into the program, or into a library: its name, and its file or NULL. libomp and others also
 * carry the marks of a family that comes later; they are made for their own. */
static void markers_look(
	struct family_seen seen[FAMILIES], const char *name, const struct elf_file *file)
{
	bool found = false;

	for (unsigned i = 0; i < FAMILIES; i++) {
		const struct family *family = &families[i];
		bool carries = markers_begins(name, family->library);

		for (size_t k = 0; file && k < ARRAY_SIZE(family->calls) && family->calls[k]; k++)
			carries |= elf_file_calls(file, family->calls[k]);
		if (file && !family->is_preloaded && !found)
			found = carries = has_variable(family, &seen[i], file);
		seen[i].is_carried |= carries;
		seen[i].is_lacking |= markers_begins(name, family->lacking);
	}
}

/* --- what the program carries --- */

static void look_into_library(const char *name, const char *path, void *seen)
{
	const char *slash = strrchr(name, '/');
	struct elf_file file;
	const bool is_open = path && elf_file_open(path, &file) == 0;

	markers_look(seen, slash ? slash + 1 : name, is_open ? &file : NULL);
	if (is_open)
		elf_file_done(&file);
}

static const char STATIC[] = "runs a static program, which loads no module";

/* NULL, or why no marks are known: the rest of a sentence. */
static const char *look_into_program(char **command, struct family_seen seen[FAMILIES])
{
	char path[PATH_MAX];
	struct elf_file file;
	const char *loader;
	int r = program_find(command, path, &file);

	if (r == -ENOEXEC)
		return "is a script, or made for another machine: name the markers of its programs";
	if (r < 0)
		return "runs no program that was found: name its markers";
	loader = elf_file_loader(&file);
	markers_look(seen, "", &file);
	if (loader)
		program_each_library(path, loader, look_into_library, seen);
	elf_file_done(&file);
	return loader ? NULL : STATIC;
}

/* --- modules --- */

/* If no variable was seen, the library is loaded later, and any may be the right one. */
static void set_variables(
	const struct family *family, const struct family_seen *seen, const char *module)
{
	for (int k = 0; k < FAMILY_VARIABLES && family->variables[k]; k++) {
		if (seen->is_carried && !seen->variables[k])
			continue;
		setenv(family->variables[k], module, 1);
		if (seen->is_carried)
			return;
	}
}

/* The variable that a tool of the family has set, or NULL. */
static const char *taken_by(const struct family *family)
{
	for (int k = 0; k < FAMILY_VARIABLES && family->variables[k]; k++)
		if (getenv(family->variables[k]))
			return family->variables[k];
	return NULL;
}

/* Appends to what is @served, or says in @not why it is not. */
static void markers_serve(const struct family *family, const struct family_seen *seen,
	char served[SAID_BYTES], char not [SAID_BYTES])
{
	const char *variable = taken_by(family);
	char module[PATH_MAX];

	if (variable)
		text_append(not, SAID_BYTES, " Not %s: %s is set.", family->name, variable);
	else if (!module_find(family->name, module))
		text_append(not, SAID_BYTES, " Not %s: there is no libuncore-%s.so.", family->name,
			family->name);
	else if (strpbrk(module, ": "))
		text_append(not, SAID_BYTES, " Not %s: ld.so takes no blank or colon in %s.",
			family->name, module);
	else {
		if (family->is_preloaded)
			module_preload(module);
		else
			set_variables(family, seen, module);
		text_append(served, SAID_BYTES, "%s%s", *served ? "," : "", family->name);
	}
}

/* --- all --- */

static unsigned family_of(const char *name, size_t n)
{
	unsigned i = 0;

	while (i < FAMILIES &&
		(strlen(families[i].name) != n || strncmp(families[i].name, name, n) != 0))
		i++;
	return i;
}

/* Returns -1 to go on, or the exit status. */
static int markers_choose(const char *list, bool ret_chosen[FAMILIES])
{
	do {
		const size_t n = strcspn(list, ",");
		const unsigned i = family_of(list, n);

		if (i == FAMILIES) {
			fprintf(stderr,
				"uncore run: --markers takes auto or names of uncore-markers(7), "
				"and got \"%.*s\".\n",
				(int)n, list);
			return EXIT_USAGE;
		}
		ret_chosen[i] = true;
		list += n;
	} while (*list++);
	return -1;
}

int markers_prepare(const char *list, char **command)
{
	struct family_seen seen[FAMILIES] = {};
	bool is_auto = strcmp(list, "auto") == 0, chosen[FAMILIES] = {};
	char served[SAID_BYTES] = "", not [SAID_BYTES] = "";
	const int status = is_auto ? -1 : markers_choose(list, chosen);
	const char *why = look_into_program(command, seen);

	if (status >= 0)
		return status;
	for (unsigned i = 0; i < FAMILIES && why != STATIC; i++) {
		if (is_auto && seen[i].is_carried && families[i].unasked)
			text_append(not, SAID_BYTES, " %s", families[i].unasked);
		else if (is_auto ? seen[i].is_carried : chosen[i])
			markers_serve(&families[i], &seen[i], served, not );
		else if (seen[i].is_lacking)
			text_append(not, SAID_BYTES, " Not %s: %s.", families[i].name,
				families[i].lack);
	}
	if (why && (is_auto || why == STATIC))
		text_append(not, SAID_BYTES, " %s %s.", *command, why);
	fprintf(stderr, "uncore run: markers: %s.%s\n", *served ? served : "none", not );
	setenv("UNCORE_MARKERS", served, 1);
	return -1;
}
