/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells an administrator about a begin or end, since a batch system's hook may hide its stderr. The
 * sentence goes to the journal, or to any other owner of syslog(3)'s socket, as "uncore". If there
 * is none, or if its queue is full, nothing is told: no job waits for a log.
 */
#pragma once

/* @title: "uncore job end". */
void journal_tell(const char *title, const char *id, const char *sentence);
