/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

/* What a shell asks while a user types: @what is "metrics". Returns an exit status. */
int complete(const char *what);
