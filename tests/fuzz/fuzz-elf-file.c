/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any bytes as a program: each question has an answer, nothing outside of the file is read, and
 * what is found is in the file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/elf-file.h"
#include "tests/fuzz/target.h"

/* A copy of just these bytes, so that a byte too many is seen. */
static char *copy(const uint8_t *data, size_t size)
{
	char *bytes = malloc(size ? size : 1);

	if (!bytes)
		exit(0);
	memcpy(bytes, data, size);
	return bytes;
}

static void check_loader(const char *bytes, size_t size, const char *loader)
{
	if (loader && (loader < bytes || strlen(loader) >= size - (size_t)(loader - bytes)))
		abort();
}

/* The same bytes as a file. */
static void check_file(const char *bytes, size_t size, bool is_elf)
{
	int fd = memfd_create("input", MFD_CLOEXEC);
	struct elf_file file;
	char path[64];

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		exit(0);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if ((elf_file_open(path, &file) == 0) != is_elf)
		abort();
	if (is_elf)
		elf_file_done(&file);
	close(fd);
	if (elf_file_open("/proc", &file) == 0 || elf_file_open(path, &file) == 0)
		abort();
}

static void check_build_ids(const struct elf_file *file)
{
	static const char *const ids[] = { "0123abcd", "", "no ID",
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0" };

	for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
		if (elf_file_has_build_id(file, ids[i]) &&
			!memmem(file->bytes, file->n_bytes, "GNU", sizeof "GNU"))
			abort();
}

/* What ld.so needs is in the file, and so is all of it. */
static void check_symbols(const struct elf_file *file)
{
	for (int all = 0; all < 2; all++) {
		struct elf_symbols symbols;
		ElfW(Sym) symbol;

		if (!elf_file_symbols(file, all, &symbols))
			continue;
		for (uint64_t i = 0; elf_file_symbol(file, &symbols, i, &symbol); i++)
			if (i >= file->n_bytes)
				abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = { "likwid_marker", "MPI_", "" };
	char *bytes = copy(data, size);
	struct elf_file file;
	bool is_elf = elf_file_of(bytes, size, &file);

	check_file(bytes, size, is_elf);
	if (is_elf) {
		check_loader(bytes, size, elf_file_loader(&file));
		check_build_ids(&file);
		check_symbols(&file);
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			if (elf_file_calls(&file, names[i]) &&
				!memmem(bytes, size, names[i], strlen(names[i])))
				abort();
		if (elf_file_has_text(&file, "OMP_TOOL_LIBRARIES") &&
			!memmem(bytes, size, "OMP_TOOL_LIBRARIES", 19))
			abort();
	}
	free(bytes);
	return 0;
}
