/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hwloc numbers the packages that it finds, so a missing package would change the numbers of the
 * packages after it. A socket keeps the number that it had when uncored first saw the complete
 * machine: a file has the packages in that order.
 */
#pragma once

#include "daemon/base/fault.h"
#include "daemon/machine/topology.h"

#define SOCKET_NUMBERS_FOLDER "/var/lib/uncored/state" /* StateDirectory= of the unit */

/*
 * Gives the sockets of @topology the numbers that are saved in @folder. A saved package that is
 * missing becomes a socket without a CPU. The sockets keep hwloc's numbers if @folder is NULL or
 * has no numbers, or if @topology has a package without a saved number: then the machine was
 * incomplete before, or it is another machine. -EBADMSG with a @fault: the file is damaged;
 * -ENOMEM; errno of open(2) and read(2).
 */
int socket_numbers_apply(const char *folder, struct topology *topology, struct fault *fault);

/* Saves the numbers of @topology's sockets in @folder, unless they are saved already. 0; a @fault
 * with errno of open(2), write(2), fsync(2) and rename(2). */
int socket_numbers_save(const char *folder, const struct topology *topology, struct fault *fault);
