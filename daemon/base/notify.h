/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to the service manager, as sd_notify(3) sends them, except that a manager that does not
 * read them cannot hold uncored up: its socket is full after some messages, and sd_notify(3) would
 * wait for it. A message that finds no room waits for some time, which all messages share: 2 s
 * until uncored is ready, because a manager that is slow must not lose descriptors, and 100 ms from
 * then on. A message that got through renews that time.
 *
 * For the main thread alone. Without a manager nothing is sent.
 */
#pragma once

#include <stdbool.h>

/* 0; -ENOTCONN: there is no manager; -EAGAIN: it has no room for messages now; other errno of
 * socket(2) and sendmsg(2). */
int notify_send(const char *message, const int fds[], unsigned n_fds);

/* Tells the manager that uncored is ready, and this status. False: there is no room for that. Then
 * notify_again() tells it, which never waits, and so does a sign of life. */
bool notify_ready(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool notify_again(void);

/* uncored reads its configuration again; notify_ready() ends that. */
void notify_reloading(void);

/* uncored is alive. Never waits. */
void notify_alive(void);

/* uncored ends. */
void notify_stopping(void);
