/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an administrator has to know of a begin or end whose stderr a batch system's hook hides. It
 * goes to the journal, or to whoever else has the socket of syslog(3), as "uncore". Without one, or
 * where it is full, nothing is told: no job waits for a log.
 */
#pragma once

/* @title: "uncore job end". */
void journal_tell(const char *title, const char *id, const char *sentence);
