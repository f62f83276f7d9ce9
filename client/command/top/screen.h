/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `uncore top` shows, as text: a function of the figures and of the size of the screen, which
 * knows no terminal, no clock and no uncored.
 */
#pragma once

#include <stdio.h>

#include "client/command/top/shown.h"

/* Writes at most .height lines of at most .width columns, which end with a newline. */
void screen_write(FILE *out, const struct screen *screen, const struct screen_form *form);
