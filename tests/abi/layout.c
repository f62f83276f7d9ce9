/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The layout with which programs were compiled. It may grow by a new size, but never change.
 * Compiled as C99 and as C++98, so there is no static_assert: an array of negative size is an error
 * in both.
 */
#include <uncore.h>

#define SAME(name, a, b) typedef char name[(a) == (b) ? 1 : -1]

SAME(value, sizeof(struct uncore_value), 48);
SAME(sample, sizeof(struct uncore_sample), 56 + 16 * 48);
SAME(sample_sweep, offsetof(struct uncore_sample, sweep), 32);
SAME(sample_values, offsetof(struct uncore_sample, values), 56);
SAME(delta_value, sizeof(struct uncore_delta_value), 16);
SAME(delta, sizeof(struct uncore_delta), 32 + 16 * 16);
SAME(delta_window, offsetof(struct uncore_delta, window_ns), 16);
SAME(delta_values, offsetof(struct uncore_delta, values), 32);
SAME(machine, sizeof(struct uncore_machine), 32 + sizeof(void *));
SAME(machine_platform, offsetof(struct uncore_machine, platform), 32);
SAME(socket, sizeof(struct uncore_socket), 24);
SAME(socket_channels, offsetof(struct uncore_socket, n_channels), 16);
SAME(channel, sizeof(struct uncore_channel), 24 + 3 * sizeof(void *));
SAME(daemon, sizeof(struct uncore_daemon), 64);
SAME(user, sizeof(struct uncore_user), 16 + sizeof(void *));
SAME(channel_value, sizeof(struct uncore_channel_value), 16);

struct uncore_sample sample_initialised = UNCORE_SAMPLE_INIT;
struct uncore_delta delta_initialised = UNCORE_DELTA_INIT;
struct uncore_machine machine_initialised = UNCORE_MACHINE_INIT;
struct uncore_socket socket_initialised = UNCORE_SOCKET_INIT;
struct uncore_channel channel_initialised = UNCORE_CHANNEL_INIT;
struct uncore_daemon daemon_initialised = UNCORE_DAEMON_INIT;
