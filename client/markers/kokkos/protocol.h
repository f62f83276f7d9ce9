/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What Kokkos looks up in its tool, and what of it is used here. Names and arguments are those of
 * kokkos/kokkos, core/src/impl/Kokkos_Profiling_C_Interface.h. They are the same from 3.0 on; an
 * older release calls fewer of them.
 */
#pragma once

#include <stdint.h>

struct kokkos_space { /* by value */
	char name[64];
};

void kokkosp_init_library(int sequence, uint64_t version, uint32_t n_devices, void *devices);
void kokkosp_finalize_library(void);
void kokkosp_push_profile_region(const char *name);
void kokkosp_pop_profile_region(void);

/* The tool chooses *@ret_id, which the end gets. */
void kokkosp_begin_parallel_for(const char *name, uint32_t device, uint64_t *ret_id);
void kokkosp_end_parallel_for(uint64_t id);
void kokkosp_begin_parallel_reduce(const char *name, uint32_t device, uint64_t *ret_id);
void kokkosp_end_parallel_reduce(uint64_t id);
void kokkosp_begin_parallel_scan(const char *name, uint32_t device, uint64_t *ret_id);
void kokkosp_end_parallel_scan(uint64_t id);
void kokkosp_begin_fence(const char *name, uint32_t device, uint64_t *ret_id);
void kokkosp_end_fence(uint64_t id);
void kokkosp_begin_deep_copy(struct kokkos_space to_space, const char *to, const void *to_memory,
	struct kokkos_space from_space, const char *from, const void *from_memory,
	uint64_t size_bytes);
void kokkosp_end_deep_copy(void);

/* A program makes a section, and starts and stops it wherever it likes. */
void kokkosp_create_profile_section(const char *name, uint32_t *ret_section);
void kokkosp_start_profile_section(uint32_t section);
void kokkosp_stop_profile_section(uint32_t section);
void kokkosp_destroy_profile_section(uint32_t section);
