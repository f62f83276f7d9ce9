/* SPDX-License-Identifier: BSD-3-Clause */
/* A sentence that is passed up with an error and logged once, where the error is handled. */
#pragma once

struct fault {
	char text[512];
};

/* Writes the sentence and returns @error, so that a caller can `return fault_set(...)`. */
int fault_set(struct fault *fault, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
