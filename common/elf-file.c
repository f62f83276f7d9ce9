/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/elf-file.h"

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

bool elf_file_symbols(const struct elf_file *file, bool all, struct elf_symbols *ret)
{
	const uint64_t at = file->header.e_shoff;
	ElfW(Shdr) section, names;
	bool found = false;

	for (unsigned i = 0; i < file->header.e_shnum; i++) {
		if (!elf_take(file, at + i * sizeof section, &section, sizeof section))
			break;
		if (!(all && section.sh_type == SHT_SYMTAB) &&
			(found || section.sh_type != SHT_DYNSYM))
			continue;
		if (!elf_take(file, at + section.sh_link * sizeof names, &names, sizeof names))
			continue;
		*ret = (struct elf_symbols){ section.sh_offset, section.sh_size / sizeof(ElfW(Sym)),
			names.sh_offset };
		found = true;
	}
	return found;
}

bool elf_file_symbol(
	const struct elf_file *file, const struct elf_symbols *symbols, uint64_t i, ElfW(Sym) * ret)
{
	return i < symbols->n && elf_take(file, symbols->at + i * sizeof *ret, ret, sizeof *ret);
}

bool elf_file_calls(const struct elf_file *file, const char *prefix)
{
	const size_t n = strlen(prefix);
	struct elf_symbols symbols;
	ElfW(Sym) symbol;
	char name[64];

	if (n > sizeof name || !elf_file_symbols(file, false, &symbols))
		return false;
	for (uint64_t i = 0; elf_file_symbol(file, &symbols, i, &symbol); i++)
		if (symbol.st_shndx == SHN_UNDEF &&
			elf_take(file, symbols.names + symbol.st_name, name, n) &&
			memcmp(name, prefix, n) == 0)
			return true;
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
