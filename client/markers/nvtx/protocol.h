/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What version 3 of NVTX lays down between a program and a tool, and what of it is used here. Each
 * object of a program that includes NVTX's header loads the library that NVTX_INJECTION64_PATH
 * names, and calls its InitializeInjectionNvtx2() with a function that gives tables. The numbers
 * and the order of members are those of NVIDIA/NVTX, c/include/nvtx3/nvtxDetail/nvtxTypes.h and
 * nvToolsExt.h.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

typedef void nvtx_function(void);

enum { TABLE_CALLBACKS = 1 };

/* Returns a table, or NULL; TABLE_CALLBACKS is a struct nvtx_callbacks. */
typedef const void *nvtx_get_table(uint32_t table);

/* 1; 0: the program goes on as without a tool. */
int InitializeInjectionNvtx2(nvtx_get_table *get_table);

enum nvtx_module { MODULE_CORE = 1, MODULE_CORE2 = 5 };

struct nvtx_callbacks {
	size_t size;
	/* Element N of *@ret_slots points to where the function with number N belongs. 1; 0: there
	 * is no such module. */
	int (*get_slots)(int module, nvtx_function ***ret_slots[], unsigned *ret_n);
};

enum nvtx_core {
	CORE_START_EX = 4,
	CORE_START_A,
	CORE_START_W,
	CORE_END,
	CORE_PUSH_EX,
	CORE_PUSH_A,
	CORE_PUSH_W,
	CORE_POP,
};

enum nvtx_core2 {
	CORE2_START_EX = 2,
	CORE2_END,
	CORE2_PUSH_EX,
	CORE2_POP,
	CORE2_REGISTER_A = 10,
	CORE2_REGISTER_W,
	CORE2_CREATE_A,
	CORE2_CREATE_W,
};

enum nvtx_text { TEXT_NONE, TEXT_NARROW, TEXT_WIDE, TEXT_REGISTERED };

struct nvtx_event {
	uint16_t version;
	uint16_t size_bytes;
	uint32_t category;
	int32_t color_type;
	uint32_t color;
	int32_t payload_type;
	int32_t reserved;
	uint64_t payload;
	int32_t text_type; /* enum nvtx_text */
	union {
		const char *narrow;
		const wchar_t *wide;
		const void *registered; /* as the tool returned it */
	} text;
};

/* What push and pop return where nobody counts their depth, as without a tool. */
enum { NVTX_NO_DEPTH = -2 };
