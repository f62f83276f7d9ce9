/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long lines of a report on a narrow terminal.
 */
#pragma once

#include <stdio.h>

#include "client/report/record.h"

/* Folds what @print prints, if @out is a narrow terminal. In a file each sentence is one line. */
void record_print_folded(
	FILE *out, const struct record *record, void (*print)(FILE *, const struct record *));
