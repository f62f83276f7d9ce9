/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to the service manager, as with sd_notify(3), except that a manager that does not read
 * them cannot block uncored: the manager's socket is full after some messages, and sd_notify(3)
 * would wait for room. Here all messages share a limited time to wait: 10 s until uncored is ready,
 * because a slow manager must not lose descriptors, and 100 ms from then on. Each message that is
 * sent renews that time.
 *
 * For the main thread only. Without a manager nothing is sent.
 */
#pragma once

#include <stdbool.h>

/* 0; -ENOTCONN: there is no manager; -EAGAIN: it has no room for messages now; other errno of
 * socket(2) and sendmsg(2). */
int notify_send(const char *message, const int fds[], unsigned n_fds);

/* Tells the manager that uncored is ready, with this status. False: there is no room for the
 * message. notify_again() and notify_alive() then try again, and never wait. */
bool notify_ready(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool notify_again(void);

/* Tells the manager that uncored reads its configuration again; notify_ready() ends that. */
void notify_reloading(void);

/* Tells the manager that uncored is alive. Never waits. */
void notify_alive(void);

/* Tells the manager that uncored ends. */
void notify_stopping(void);
