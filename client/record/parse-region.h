/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of parse.h that reads a region. */
#pragma once

#include "client/record/member.h"
#include "client/record/record.h"

/* @record has its metrics. *@ret is empty; it goes to record_done() also after a failure. */
void parse_region(struct members *members, struct json_object *object, const struct record *record,
	struct record_region *ret);
