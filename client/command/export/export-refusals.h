/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

struct exposition;

/* Writes how often each rule has refused something. @report is uncored's report, in JSON. */
void export_refusals(struct exposition *exposition, const char *report);
