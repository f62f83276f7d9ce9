/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/bpf.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

static int bpf_call(enum bpf_cmd command, union bpf_attr *attr)
{
	long r = syscall(SYS_bpf, command, attr, sizeof *attr);

	return r < 0 ? -errno : (int)r;
}

int bpf_map_new(uint32_t type, uint32_t value_bytes, uint32_t n, uint32_t flags)
{
	union bpf_attr attr = { { type, sizeof(uint32_t), value_bytes, n, flags } };

	return bpf_call(BPF_MAP_CREATE, &attr);
}

int bpf_map_put_event(int map_fd, uint32_t key, int event_fd)
{
	union bpf_attr attr = {
		.map_fd = (uint32_t)map_fd, .key = (uintptr_t)&key, .value = (uintptr_t)&event_fd
	};

	return bpf_call(BPF_MAP_UPDATE_ELEM, &attr);
}

int bpf_map_freeze(int map_fd)
{
	union bpf_attr attr = { .map_fd = (uint32_t)map_fd };

	return bpf_call(BPF_MAP_FREEZE, &attr);
}

int bpf_program_load(const struct bpf_insn program[], unsigned n)
{
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = (uintptr_t)program,
		.insn_cnt = n,
		/* uncored's own licence; the helper that reads perf events is for GPL programs. */
		.license = (uintptr_t) "Dual BSD/GPL",
	};

	return bpf_call(BPF_PROG_LOAD, &attr);
}

int bpf_program_run(int program_fd, const uint64_t arguments[BPF_ARGUMENTS])
{
	union bpf_attr attr = { .test = { .prog_fd = (uint32_t)program_fd,
					.ctx_in = (uintptr_t)arguments,
					.ctx_size_in = BPF_ARGUMENTS * sizeof *arguments } };
	int r = bpf_call(BPF_PROG_TEST_RUN, &attr);

	return r < 0 ? r : (int)attr.test.retval;
}
