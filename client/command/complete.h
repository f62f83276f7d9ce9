/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* Prints completions for a shell while a user types. @what is "metrics". Returns an exit status. */
int complete(const char *what);
