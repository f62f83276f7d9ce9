/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "client/command/report/samples.h"

/* Prints on stderr what @samples say of @command. Nothing if uncored could not be reached. */
void run_verdict(char *const command[], const struct samples *samples);
