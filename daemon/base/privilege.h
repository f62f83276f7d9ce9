/* SPDX-License-Identifier: BSD-3-Clause */
/* The daemon's privilege: says what is missing, and gives up what is no longer needed. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/fault.h"

/* The origin of this process's privilege. */
struct privilege_start {
	bool secure; /* AT_SECURE: the kernel, or a security module, distrusts the environment */
	uid_t uid, euid;
	gid_t gid, egid;
	uint64_t permitted, ambient; /* capabilities */
};

struct privilege_start privilege_find_start(void);

/*
 * -EPERM with a sentence if the program's file gave this process more privilege than the user who
 * started it has. That user controls the environment, from which libraries take options, and the
 * options, which say what is opened.
 */
int privilege_check_start(const struct privilege_start *start, struct fault *fault);

/*
 * Explains why perf_event_open(2) failed with -EACCES or -EPERM: which capability is missing, or
 * which sysctl forbids it, and how to change that. Returns @error.
 */
int privilege_explain(int error, struct fault *fault);

/* The same for a process with or without CAP_PERFMON, and for this perf_event_paranoid. */
int privilege_sentence(int error, bool has_perfmon, int paranoid, struct fault *fault);

/* Explains why bpf(2) failed while the process had its privilege. Returns @error. */
int privilege_explain_program(int error, struct fault *fault);

/* Does this error of perf_event_open(2) mean that the process lacks a permission? */
bool privilege_is_denial(int error);

/* Gives up every capability of the calling thread: reading open counters needs none. */
int privilege_drop(void);

/* Raises the soft limit of open files to the hard one. */
void privilege_raise_file_limit(void);
