/* SPDX-License-Identifier: BSD-3-Clause */
/* What the agent remembers of pmcd's clients: those that know the names below perfevent. */
#pragma once

#include <stdbool.h>

/* The client of this context has been told names, or given values. */
void contexts_note(int context);

bool contexts_is_noted(int context);

/* The client has gone; its number may come again. */
void contexts_end(int context);

/* ... and so has the agent. */
void contexts_done(void);
