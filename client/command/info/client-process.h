/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include "common/process-age.h"

/*
 * The name, as plain text, of the process that had the PID @pid when it connected, @connected_ns
 * ago (0: the PID is not known). If that process has ended or is not visible from here, words in
 * brackets say so, since another process may have its PID by now.
 */
void client_process_name(uint64_t pid, uint64_t connected_ns, char ret[PROCESS_NAME_MAX]);
