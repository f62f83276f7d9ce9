/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/heap/object.h"

#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <string.h>

#include "client/heap/site.h"
#include "common/elf-file.h"
#include "common/jsonwriter.h"
#include "common/macro.h"

enum { OBJECT_BYTES = 1000000 }; /* smaller ones are not named */

struct found {
	struct jsonwriter *json, unnamed;
	unsigned n;
};

static void write_object(
	struct found *found, const char *path, const char *name, size_t left, uint64_t bytes)
{
	char text[256] = "";

	strncat(text, name, left < sizeof text ? left : sizeof text - 1);
	jsonwriter_object(found->json, NULL);
	jsonwriter_text(found->json, "name", text);
	jsonwriter_number(found->json, "bytes", bytes);
	jsonwriter_text(found->json, "module", path);
	jsonwriter_close(found->json);
	found->n++;
}

/* Returns the bytes of all objects, also of small ones. Aliases have the address of the one before.
 */
static uint64_t object_write_all(struct found *found, const char *path, const struct elf_file *file)
{
	struct elf_symbols symbols;
	ElfW(Sym) symbol;
	ElfW(Addr) last = 0;
	uint64_t sum = 0;

	if (!elf_file_symbols(file, true, &symbols))
		return 0;
	for (uint64_t i = 0; elf_file_symbol(file, &symbols, i, &symbol); i++) {
		const uint64_t name = symbols.names + symbol.st_name;

		if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF ||
			symbol.st_value == last || name >= file->n_bytes)
			continue;
		last = symbol.st_value;
		sum += symbol.st_size;
		if (symbol.st_size >= OBJECT_BYTES)
			write_object(found, path, file->bytes + name, file->n_bytes - name,
				symbol.st_size);
	}
	return sum;
}

/* The data of a module that a program can write to. */
static uint64_t object_data_of(const struct dl_phdr_info *info)
{
	uint64_t sum = 0;

	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_W)
			sum += info->dlpi_phdr[i].p_memsz;
	return sum;
}

static int object_look_into_module(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct found *found = argument;
	char path[PATH_MAX];
	const uint64_t data = object_data_of(info);
	struct elf_file file;
	uint64_t named = 0;

	(void)size;
	if (data < OBJECT_BYTES)
		return 0;
	module_path(info, path);
	/* It may be anything by now. The thread is inside of this module, so it is not kept. */
	if (elf_file_open(path, &file) == 0) {
		named = object_write_all(found, path, &file);
		elf_file_done(&file);
	}
	if (data - named >= OBJECT_BYTES && named < data) {
		jsonwriter_object(&found->unnamed, NULL);
		jsonwriter_text(&found->unnamed, "module", path);
		jsonwriter_number(&found->unnamed, "bytes", data - named);
		jsonwriter_close(&found->unnamed);
		found->n++;
	}
	return 0;
}

bool heap_write_objects(struct jsonwriter *json)
{
	struct found found = { .json = json };
	_cleanup_free_ char *unnamed = NULL;

	jsonwriter_init(&found.unnamed, false);
	jsonwriter_array(&found.unnamed, NULL);
	jsonwriter_array(json, "objects");
	dl_iterate_phdr(object_look_into_module, &found);
	jsonwriter_close(json);
	jsonwriter_close(&found.unnamed);
	if (jsonwriter_finish(&found.unnamed, &unnamed) == 0)
		jsonwriter_digits(json, "unnamed", unnamed);
	jsonwriter_done(&found.unnamed);
	return found.n;
}
