/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lines below the table of a record: flags, absent metrics, the meaning of columns, deaths and
 * failures, and caveats on the figures.
 */
#pragma once

#include <stdio.h>

#include "client/report/record.h"

void footnotes_print(FILE *out, const struct record *record);
