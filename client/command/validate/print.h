/* SPDX-License-Identifier: BSD-3-Clause */
/* The result of `uncore validate` as text. */
#pragma once

#include <stdio.h>

#include "client/command/validate/judge.h"

void print_head(FILE *out, const struct session *session);
void print_node(FILE *out, const struct session *session, const struct judged_node *node);

/* The result of all nodes together. */
void print_result(
	FILE *out, const struct session *session, const struct judged_node nodes[], unsigned n);
