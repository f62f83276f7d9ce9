/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/markers/elf-file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "common/macro.h"

/* Of this program; the linker knows it. */
extern __attribute__((visibility("hidden"))) const ElfW(Ehdr) __ehdr_start;

/* Copies from the file, which need not have what it says it has. */
static bool elf_take(const struct elf_file *file, uint64_t offset, void *ret, size_t n)
{
	if (offset > file->n_bytes || n > file->n_bytes - offset)
		return false;
	memcpy(ret, file->bytes + offset, n);
	return true;
}

bool elf_file_of(const char *bytes, size_t n_bytes, struct elf_file *ret)
{
	*ret = (struct elf_file){ .bytes = bytes, .n_bytes = n_bytes };
	return elf_take(ret, 0, &ret->header, sizeof ret->header) &&
	       memcmp(ret->header.e_ident, __ehdr_start.e_ident, EI_VERSION) == 0 &&
	       ret->header.e_machine == __ehdr_start.e_machine;
}

int elf_file_open(const char *path, struct elf_file *ret)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	void *bytes;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode) || !status.st_size)
		return -ENOEXEC;
	bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		return -errno;
	if (elf_file_of(bytes, (size_t)status.st_size, ret))
		return 0;
	elf_file_done(ret);
	return -ENOEXEC;
}

void elf_file_done(struct elf_file *file)
{
	munmap((void *)file->bytes, file->n_bytes);
}

const char *elf_file_loader(const struct elf_file *file)
{
	ElfW(Phdr) part;
	char last;

	for (unsigned i = 0; i < file->header.e_phnum; i++) {
		if (!elf_take(file, file->header.e_phoff + i * sizeof part, &part, sizeof part))
			return NULL;
		if (part.p_type != PT_INTERP)
			continue;
		return part.p_filesz && part.p_offset < file->n_bytes &&
				       elf_take(
					       file, part.p_offset + part.p_filesz - 1, &last, 1) &&
				       !last
			       ? file->bytes + part.p_offset
			       : NULL;
	}
	return NULL;
}

/* The symbols that ld.so sees, and the section with their names. */
static bool elf_find_symbols(
	const struct elf_file *file, ElfW(Shdr) * ret_symbols, ElfW(Shdr) * ret_names)
{
	const uint64_t at = file->header.e_shoff;

	for (unsigned i = 0; i < file->header.e_shnum; i++) {
		if (!elf_take(file, at + i * sizeof *ret_symbols, ret_symbols, sizeof *ret_symbols))
			return false;
		if (ret_symbols->sh_type == SHT_DYNSYM)
			return elf_take(file, at + ret_symbols->sh_link * sizeof *ret_names,
				ret_names, sizeof *ret_names);
	}
	return false;
}

bool elf_file_calls(const struct elf_file *file, const char *prefix)
{
	const size_t n = strlen(prefix);
	ElfW(Shdr) symbols, names;
	ElfW(Sym) symbol;
	char name[64];

	if (n > sizeof name || !elf_find_symbols(file, &symbols, &names))
		return false;
	for (uint64_t i = 0; i < symbols.sh_size / sizeof symbol; i++) {
		if (!elf_take(file, symbols.sh_offset + i * sizeof symbol, &symbol, sizeof symbol))
			return false;
		if (symbol.st_shndx == SHN_UNDEF &&
			elf_take(file, names.sh_offset + symbol.st_name, name, n) &&
			memcmp(name, prefix, n) == 0)
			return true;
	}
	return false;
}

bool elf_file_has_text(const struct elf_file *file, const char *text)
{
	return memmem(file->bytes, file->n_bytes, text, strlen(text) + 1);
}

/* Looks for the note as a whole. */
bool elf_file_has_build_id(const struct elf_file *file, const char *id)
{
	struct {
		ElfW(Nhdr) head;
		char name[4];
		unsigned char id[32];
	} note = { { 4, (ElfW(Word))strlen(id) / 2, NT_GNU_BUILD_ID }, "GNU", { 0 } };

	if (!note.head.n_descsz || note.head.n_descsz > sizeof note.id)
		return false;
	for (unsigned i = 0; i < note.head.n_descsz; i++)
		if (sscanf(id + 2 * i, "%2hhx", &note.id[i]) != 1)
			return false;
	return memmem(
		file->bytes, file->n_bytes, &note, offsetof(typeof(note), id) + note.head.n_descsz);
}
