/* SPDX-License-Identifier: BSD-3-Clause */
#include "common/module.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static bool module_has_code(const struct dl_phdr_info *module, const void *code)
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

static void module_build_id(const struct dl_phdr_info *module, char ret_id[MODULE_ID_MAX])
{
	*ret_id = '\0';
	for (int i = 0; i < module->dlpi_phnum; i++)
		if (module->dlpi_phdr[i].p_type == PT_NOTE)
			find_id((const char *)(module->dlpi_addr + module->dlpi_phdr[i].p_vaddr),
				module->dlpi_phdr[i].p_memsz, ret_id);
}

void module_path(const struct dl_phdr_info *module, char ret_path[PATH_MAX])
{
	ssize_t n = 0;

	if (!*module->dlpi_name)
		n = readlink("/proc/self/exe", ret_path, PATH_MAX - 1);
	ret_path[n > 0 ? n : 0] = '\0';
	strncat(ret_path, module->dlpi_name, PATH_MAX - 1);
}

struct search {
	const void *code;
	struct module_place *ret;
};

static int module_look(struct dl_phdr_info *module, size_t size, void *argument)
{
	const struct search *search = argument;

	(void)size;
	if (!module_has_code(module, search->code))
		return 0;
	module_path(module, search->ret->path);
	module_build_id(module, search->ret->id);
	search->ret->offset = (ElfW(Addr))search->code - module->dlpi_addr;
	return 1;
}

bool module_find_place(const void *code, struct module_place *ret)
{
	struct search search = { code, ret };

	return dl_iterate_phdr(module_look, &search);
}
