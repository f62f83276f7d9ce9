/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

struct exposition;

/* How often uncored refused something by which rule: from its @report, which is JSON. */
void export_refusals(struct exposition *exposition, const char *report);
