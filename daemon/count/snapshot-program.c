/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/count/snapshot-program.h"

#include <assert.h>
#include <stddef.h>

#include "common/macro.h"
#include "daemon/base/bpf.h"
#include "daemon/count/box.h"

/* Instructions are { code, to, from, offset, number }; jumps count from the next instruction. */
enum {
	SET = BPF_ALU64 | BPF_MOV | BPF_K,
	COPY = BPF_ALU64 | BPF_MOV | BPF_X,
	SHIFT_LEFT = BPF_ALU64 | BPF_LSH | BPF_K,
	ADD = BPF_ALU64 | BPF_ADD | BPF_X,
	ADD_NUMBER = BPF_ALU64 | BPF_ADD | BPF_K,
	LOAD = BPF_LDX | BPF_MEM | BPF_DW,
	STORE = BPF_STX | BPF_MEM | BPF_DW,
	LOAD_WIDE = BPF_LD | BPF_IMM | BPF_DW, /* and a second one with the high half */
	JUMP = BPF_JMP | BPF_JA,
	JUMP_IF_EQUAL = BPF_JMP | BPF_JEQ | BPF_X,
	JUMP_IF_NOT_BELOW = BPF_JMP | BPF_JGE | BPF_X,
	JUMP_IF_NOT_BELOW_NUMBER = BPF_JMP | BPF_JGE | BPF_K,
	CALL = BPF_JMP | BPF_CALL,
	EXIT = BPF_JMP | BPF_EXIT,
};

/* Registers; the kernel keeps those from 6 on when a helper is called. */
enum { RESULT, R1, R2, R3, R4, FIRST_READING = 6, EVENT, END, READING, STACK, CONTEXT = R1 };

enum {
	WORD = sizeof(uint64_t),
	WORD_BITS = 3,
	READING_BITS = 5,
	ERROR = offsetof(struct box_reading, error),
};

static_assert(sizeof(struct box_reading) == 1 << READING_BITS, "readings are in a row");

int snapshot_program_load(const struct snapshot_program *program)
{
	const int32_t n_leaders = (int32_t)program->n_leaders;
	const struct bpf_insn instructions[] = {
		{ LOAD, EVENT, CONTEXT, PROGRAM_FIRST * WORD, 0 },
		{ LOAD, END, CONTEXT, PROGRAM_END * WORD, 0 },
		{ LOAD, R2, CONTEXT, PROGRAM_SECRET * WORD, 0 },
		{ LOAD_WIDE, R3, 0, 0, (int32_t)program->secret },
		{ .imm = (int32_t)(program->secret >> 32) },
		{ JUMP_IF_EQUAL, R2, R3, 2, 0 },
		{ SET, RESULT, 0, 0, 0 },
		{ EXIT },
		{ LOAD_WIDE, FIRST_READING, BPF_PSEUDO_MAP_VALUE, 0, program->readings_fd },
		{ 0 },
		{ STORE, STACK, EVENT, -WORD, 0 },
		/* leaders: the kernel knows by their number that the loop ends */
		{ JUMP_IF_NOT_BELOW, EVENT, END, 13, 0 },
		{ JUMP_IF_NOT_BELOW_NUMBER, EVENT, 0, 12, n_leaders },
		{ LOAD_WIDE, R1, BPF_PSEUDO_MAP_FD, 0, program->events_fd },
		{ 0 },
		{ COPY, R2, EVENT, 0, 0 },
		{ COPY, READING, EVENT, 0, 0 },
		{ SHIFT_LEFT, READING, 0, 0, READING_BITS },
		{ ADD, READING, FIRST_READING, 0, 0 },
		{ COPY, R3, READING, 0, 0 },
		{ SET, R4, 0, 0, ERROR },
		{ CALL, 0, 0, 0, BPF_FUNC_perf_event_read_value },
		{ STORE, READING, RESULT, ERROR, 0 },
		{ ADD_NUMBER, EVENT, 0, 0, 1 },
		{ JUMP, 0, 0, -14, 0 },
		/* the other events */
		{ LOAD, EVENT, STACK, -WORD, 0 },
		{ JUMP_IF_NOT_BELOW_NUMBER, EVENT, 0, 1, n_leaders },
		{ SET, EVENT, 0, 0, n_leaders },
		{ JUMP_IF_NOT_BELOW, EVENT, END, 12, 0 },
		{ JUMP_IF_NOT_BELOW_NUMBER, EVENT, 0, 11, (int32_t)program->n_events },
		{ LOAD_WIDE, R1, BPF_PSEUDO_MAP_FD, 0, program->events_fd },
		{ 0 },
		{ COPY, R2, EVENT, 0, 0 },
		{ COPY, READING, EVENT, 0, 0 },
		{ SHIFT_LEFT, READING, 0, 0, WORD_BITS },
		{ ADD_NUMBER, READING, 0, 0, n_leaders * ((1 << READING_BITS) - WORD) },
		{ ADD, READING, FIRST_READING, 0, 0 },
		{ CALL, 0, 0, 0, BPF_FUNC_perf_event_read },
		{ STORE, READING, RESULT, 0, 0 },
		{ ADD_NUMBER, EVENT, 0, 0, 1 },
		{ JUMP, 0, 0, -13, 0 },
		{ SET, RESULT, 0, 0, 1 },
		{ EXIT },
	};

	return bpf_program_load(instructions, ARRAY_SIZE(instructions));
}
