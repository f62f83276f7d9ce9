/* SPDX-License-Identifier: BSD-3-Clause */
/* Which CPU belongs to which socket, from hwloc. Sockets are numbered in hwloc's logical order,
 * until socket-numbers.h gives them other numbers. */
#pragma once

#include <hwloc.h>
#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/fault.h"

enum { TOPOLOGY_OFFLINE = -1, TOPOLOGY_NOWHERE = -2 };

struct topology {
	bool has_packages; /* else all CPUs are on one socket, because nothing says where they are
			    */
	unsigned n_sockets;
	unsigned n_cpus;    /* length of the arrays: highest CPU number + 1 */
	int *socket_of_cpu; /* or TOPOLOGY_OFFLINE; TOPOLOGY_NOWHERE: online, but on no known socket
			     */
	int *die_of_cpu; /* machine-wide number; one per socket where hwloc sees no dies; or -1 */
	uint32_t *package_of_socket; /* the kernel's physical_package_id */
};

/* Reads the machine below @root ("/": the running one). -ENODEV: no CPU found; -EINVAL: a variable
 * of the environment gives hwloc another machine than the running one; hwloc's errno. */
int topology_load(const char *root, struct topology *ret, struct fault *fault);

/*
 * Renumbers the sockets: socket i gets package packages[i]. The @n @packages are all different, and
 * include all packages of the machine. A package that the machine does not have becomes a socket
 * without a CPU. -ENOMEM.
 */
int topology_renumber(struct topology *topology, const uint32_t *packages, unsigned n);

/* Is a CPU of @socket online? */
bool topology_has_cpu(const struct topology *topology, unsigned socket);

void topology_done(struct topology *topology);
