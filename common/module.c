/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/module.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

bool module_has_code(const struct dl_phdr_info *module, const void *code)
{
	for (int i = 0; i < module->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &module->dlpi_phdr[i];

		if (part->p_type == PT_LOAD &&
			(ElfW(Addr))code - module->dlpi_addr - part->p_vaddr < part->p_memsz)
			return true;
	}
	return false;
}

/* Called in threads whose stack is too small for printf(3). */
static void module_write_hex(uint8_t byte, char ret[3])
{
	static const char digits[] = "0123456789abcdef";

	ret[0] = digits[byte >> 4];
	ret[1] = digits[byte & 15];
	ret[2] = '\0';
}

static void find_id(const char *at, size_t n, char ret_id[MODULE_ID_MAX])
{
	const char *end = at + n;
	ElfW(Nhdr) note;

	for (size_t size; at + sizeof note < end; at += size) {
		memcpy(&note, at, sizeof note);
		size = sizeof note + ((note.n_namesz + 3U) & ~3U) + ((note.n_descsz + 3U) & ~3U);
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof "GNU" ||
			2 * note.n_descsz >= MODULE_ID_MAX)
			continue;
		for (unsigned i = 0; i < note.n_descsz; i++)
			module_write_hex(
				(uint8_t)at[sizeof note + sizeof "GNU" + i], ret_id + 2 * i);
	}
}

void module_build_id(const struct dl_phdr_info *module, char ret_id[MODULE_ID_MAX])
{
	*ret_id = '\0';
	for (int i = 0; i < module->dlpi_phnum; i++)
		if (module->dlpi_phdr[i].p_type == PT_NOTE)
			find_id((const char *)(module->dlpi_addr + module->dlpi_phdr[i].p_vaddr),
				module->dlpi_phdr[i].p_memsz, ret_id);
}
