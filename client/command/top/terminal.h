/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The terminal, of which there is one: its other screen, single keys, and its old state again at
 * every end that a process can see. A terminal without escape sequences keeps its screen and gives
 * no keys.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum terminal_event {
	TERMINAL_TIME, /* the deadline has come */
	TERMINAL_KEY,
	TERMINAL_RESIZED,
	TERMINAL_CONTINUED, /* this process was stopped */
	TERMINAL_GONE,
};

/* stdin and stdout are terminals. */
void terminal_open(void);
void terminal_close(void);

/* Does the terminal show a screen, rather than lines? */
bool terminal_is_screen(void);

/* What is not known is 80 and 24. */
void terminal_size(unsigned *ret_width, unsigned *ret_height);

/* Replaces the screen, or prints the lines. False: the terminal is gone. */
bool terminal_show(const char *text);

/* Waits until @deadline_ns (UINT64_MAX: for ever), or for another event. */
enum terminal_event terminal_wait(uint64_t deadline_ns, char *ret_key);
