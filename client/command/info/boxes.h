/* SPDX-License-Identifier: BSD-3-Clause */
/* Counter boxes, all boxes of one kind in one line: "uncore_imc_0..11 on CPU 0: dram.read 0xf04"
 */
#pragma once

#include <stdint.h>

struct json_object;

/* @boxes is the array of one socket, or NULL. */
void boxes_print(struct json_object *boxes, uint64_t socket);

/* Also prints the name that each event was found by: "0xf04 (sysfs:cas_count_read)". */
void boxes_print_with_names(struct json_object *boxes, uint64_t socket);
