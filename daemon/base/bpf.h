/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands of bpf(2) that daemon/count/snapshot.c needs, without libbpf. They return negative
 * errno of bpf(2) on failure; descriptors are the caller's. */
#pragma once

#include <linux/bpf.h>
#include <stdint.h>

enum { BPF_ARGUMENTS = 12 }; /* the most of a raw tracepoint: MAX_BPF_FUNC_ARGS of the kernel */

/* A map of @type with @n values, whose keys are their numbers. */
int bpf_map_new(uint32_t type, uint32_t value_bytes, uint32_t n, uint32_t flags);

/* Puts the perf event @event_fd into a map of such events. */
int bpf_map_put_event(int map_fd, uint32_t key, int event_fd);

/* From now on no system call changes the map; programs still do. */
int bpf_map_freeze(int map_fd);

/* Loads a program for raw tracepoints. */
int bpf_program_load(const struct bpf_insn program[], unsigned n);

/* Runs a program once, on this CPU and without preemption. Returns its result, from 0 on. */
int bpf_program_run(int program_fd, const uint64_t arguments[BPF_ARGUMENTS]);
