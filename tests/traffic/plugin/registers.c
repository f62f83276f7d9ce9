/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/traffic/plugin/registers.h"

#include <string.h>

struct CPUState;

/* GLib's GByteArray. */
struct byte_array {
	uint8_t *data;
	unsigned size;
};

#define WEAK __attribute__((weak)) /* so that a QEMU without it can load the plugin */

WEAK struct CPUState *qemu_get_cpu(int index);
WEAK uint64_t cpu_get_phys_page_debug(struct CPUState *cpu, uint64_t vaddr);
WEAK int ppc_cpu_gdb_read_register(struct CPUState *cpu, struct byte_array *append_to, int number);
WEAK struct byte_array *g_byte_array_new(void);
WEAK struct byte_array *g_byte_array_set_size(struct byte_array *array, unsigned size);

bool registers_exist(bool is_system)
{
	return qemu_get_cpu && ppc_cpu_gdb_read_register && g_byte_array_new &&
	       g_byte_array_set_size && (!is_system || cpu_get_phys_page_debug);
}

uint64_t registers_power(unsigned vcpu, unsigned number)
{
	static __thread struct byte_array *bytes;
	uint64_t value;

	if (!bytes)
		bytes = g_byte_array_new();
	g_byte_array_set_size(bytes, 0);
	ppc_cpu_gdb_read_register(qemu_get_cpu((int)vcpu), bytes, (int)number);
	memcpy(&value, bytes->data, sizeof value);
	return value;
}

uint64_t registers_page(unsigned vcpu, uint64_t vaddr)
{
	return cpu_get_phys_page_debug(qemu_get_cpu((int)vcpu), vaddr);
}
