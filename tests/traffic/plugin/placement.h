/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On which socket a CPU of the emulator is. In a guest CPUs fill one socket after the other.
 *
 * Under qemu-user each thread is a CPU of the emulator, and has a first level of cache of its own.
 * If the thread may run on one CPU of the computer alone, that CPU says the socket: CPU modulo
 * sockets, as on the stand-in machines. Otherwise the thread's number does, so that a run does not
 * depend on where the kernel happened to put the thread.
 */
#pragma once

#include <stdbool.h>

#include "tests/traffic/plugin/controller.h"

void placement_init(const struct options *options, bool is_system);

/* Says in a sentence on stderr what is wrong, and returns negative errno. A number that is known
 * may come again: the thread before it ended. */
int placement_add(unsigned vcpu);

/* A thread of a program under qemu-user was told where it may run. */
void placement_changed(void);

/* The CPU of this number. To be called by the thread that runs it. */
struct cpu *placement_cpu(unsigned vcpu);
