/* SPDX-License-Identifier: BSD-3-Clause */
/* A sentence that travels up with an error, to be logged once, where the error stops. */
#pragma once

struct fault {
	char text[512];
};

/* Writes the sentence and returns @error, so that a caller can `return fault_set(...)`. */
int fault_set(struct fault *fault, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
