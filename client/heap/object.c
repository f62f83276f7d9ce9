/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/heap/object.h"

#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "client/heap/real.h"
#include "client/heap/site.h"
#include "common/jsonwriter.h"
#include "common/macro.h"

enum { OBJECT_BYTES = 1000000 }; /* smaller ones are not named */

/* A file, which may be anything by now. */
struct file {
	const char *path, *bytes;
	size_t n_bytes;
};

struct found {
	struct jsonwriter *json, unnamed;
	unsigned n;
};

static bool object_take_bytes(const struct file *file, uint64_t offset, void *ret, size_t n)
{
	if (offset > file->n_bytes || n > file->n_bytes - offset)
		return false;
	memcpy(ret, file->bytes + offset, n);
	return true;
}

static void object_open_file(const char *path, struct file *ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	void *bytes;

	*ret = (struct file){ .path = path };
	if (fd < 0 || fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || !status.st_size)
		return;
	bytes = heap_real.mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return;
	ret->bytes = bytes;
	ret->n_bytes = (size_t)status.st_size;
}

/* All symbols; or, where these were stripped, those that ld.so needs. */
static bool object_find_symbols(
	const struct file *file, ElfW(Shdr) * ret_symbols, ElfW(Shdr) * ret_names)
{
	ElfW(Ehdr) head;
	ElfW(Shdr) section;
	bool found = false;

	if (!object_take_bytes(file, 0, &head, sizeof head) ||
		memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
		return false;
	for (unsigned i = 0; i < head.e_shnum; i++)
		if (object_take_bytes(
			    file, head.e_shoff + i * sizeof section, &section, sizeof section) &&
			(section.sh_type == SHT_SYMTAB ||
				(section.sh_type == SHT_DYNSYM && !found)) &&
			object_take_bytes(file, head.e_shoff + section.sh_link * sizeof *ret_names,
				ret_names, sizeof *ret_names)) {
			*ret_symbols = section;
			found = true;
		}
	return found;
}

static void write_object(
	struct found *found, const struct file *file, const ElfW(Sym) * symbol, uint64_t name)
{
	char text[256];
	const size_t left = name < file->n_bytes ? file->n_bytes - name : 0;

	text[0] = '\0';
	strncat(text, left ? file->bytes + name : "", left < sizeof text ? left : sizeof text - 1);
	jsonwriter_object(found->json, NULL);
	jsonwriter_text(found->json, "name", text);
	jsonwriter_number(found->json, "bytes", symbol->st_size);
	jsonwriter_text(found->json, "module", file->path);
	jsonwriter_close(found->json);
	found->n++;
}

/* Returns the bytes of all objects, also of small ones. Aliases have the address of the one before.
 */
static uint64_t object_write_all(struct found *found, const struct file *file)
{
	ElfW(Shdr) symbols = { 0 }, names = { 0 };
	ElfW(Sym) symbol;
	ElfW(Addr) last = 0;
	uint64_t sum = 0;

	if (!object_find_symbols(file, &symbols, &names))
		return 0;
	for (uint64_t i = 0; i < symbols.sh_size / sizeof symbol; i++) {
		if (!object_take_bytes(
			    file, symbols.sh_offset + i * sizeof symbol, &symbol, sizeof symbol))
			break;
		if (ELF64_ST_TYPE(symbol.st_info) != STT_OBJECT || symbol.st_shndx == SHN_UNDEF ||
			symbol.st_value == last)
			continue;
		last = symbol.st_value;
		sum += symbol.st_size;
		if (symbol.st_size >= OBJECT_BYTES)
			write_object(found, file, &symbol, names.sh_offset + symbol.st_name);
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
	char own[PATH_MAX];
	const char *path = *info->dlpi_name ? info->dlpi_name : heap_program_path(own);
	const uint64_t data = object_data_of(info);
	struct file file;
	uint64_t named;

	(void)size;
	if (data < OBJECT_BYTES)
		return 0;
	object_open_file(path, &file);
	named = object_write_all(found, &file);
	if (data - named >= OBJECT_BYTES && named < data) {
		jsonwriter_object(&found->unnamed, NULL);
		jsonwriter_text(&found->unnamed, "module", path);
		jsonwriter_number(&found->unnamed, "bytes", data - named);
		jsonwriter_close(&found->unnamed);
		found->n++;
	}
	if (file.bytes)
		heap_real.munmap((void *)file.bytes, file.n_bytes);
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
