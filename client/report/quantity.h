/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quantities for people, with three digits and the unit that keeps them readable: "4.10 KB",
 * "12.3 GB/s", "1.50 ms". KB means 1000 bytes.
 */
#pragma once

enum { QUANTITY_MAX = 24 }; /* bytes, with the final NUL */

/* A value of a metric in @unit; NAN: "?". */
void quantity_of(const char *unit, double value, char ret_text[QUANTITY_MAX]);

void quantity_bytes(double bytes, char ret_text[QUANTITY_MAX]);
void quantity_rate(double bytes_per_ns, char ret_text[QUANTITY_MAX]);
void quantity_time(double time_ns, char ret_text[QUANTITY_MAX]);

/* "12.3 %"; "< 0.01 %"; NAN: "?" */
void quantity_share(double share, char ret_text[QUANTITY_MAX]);
