/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore run --markers: makes regions of the marks that a program carries: uncore-markers(7). */
#pragma once

/*
 * Sets the variables by which @command loads the modules of @list: "auto", or names with commas.
 * Says on stderr what was found, and what cannot be served. -1: go on; or the exit status, if the
 * list has another name.
 */
int markers_prepare(const char *list, char **command);
