/* SPDX-License-Identifier: BSD-3-Clause */
/* A program or library as a file: what it calls, and what loads it. The file may be anything. */
#pragma once

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file {
	const char *bytes;
	size_t n_bytes;
	ElfW(Ehdr) header;
};

/* Maps a file. 0; -ENOEXEC: it is not ELF for this machine; errno of open(2), fstat(2) and mmap(2).
 * *@ret is for elf_file_done(). */
int elf_file_open(const char *path, struct elf_file *ret);
void elf_file_done(struct elf_file *file);

/* The same from memory, which the caller keeps. False: it is not ELF for this machine. */
bool elf_file_of(const char *bytes, size_t n_bytes, struct elf_file *ret);

/* The path of ld.so, which loads it. NULL: none does, as for static programs and for libraries. */
const char *elf_file_loader(const struct elf_file *file);

/* Its symbols, and where the texts of their names begin in it. */
struct elf_symbols {
	uint64_t at, n, names;
};

/* Those that ld.so needs or, with @all, all of a file that was not stripped. False: there are none.
 */
bool elf_file_symbols(const struct elf_file *file, bool all, struct elf_symbols *ret);

/* Symbol @i of them. False: the file is too short. */
bool elf_file_symbol(const struct elf_file *file, const struct elf_symbols *symbols, uint64_t i,
	ElfW(Sym) * ret);

/* Does it call a function of another file whose name begins with @prefix? */
bool elf_file_calls(const struct elf_file *file, const char *prefix);

/* Does it have the build ID of these hexadecimal digits? */
bool elf_file_has_build_id(const struct elf_file *file, const char *id);

/* Does it contain this text, or another that ends with it? */
bool elf_file_has_text(const struct elf_file *file, const char *text);
