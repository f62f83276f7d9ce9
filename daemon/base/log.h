/* SPDX-License-Identifier: BSD-3-Clause */
/* One line per event to stderr, with the journal's priority prefix where the journal reads it. */
#pragma once

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));
