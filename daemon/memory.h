/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory of a fixed size, as the page and the ledger are. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* A memfd of zeros that can neither shrink nor grow: mapped memory never becomes a SIGBUS. The
 * descriptor is the caller's; or errno of memfd_create(2), ftruncate(2), fchmod(2), fcntl(2). */
int memory_new(const char *name, size_t size_bytes, mode_t mode);

/* Maps it for reading and writing; for munmap(2). 0, errno of mmap(2). */
int memory_map(int fd, size_t size_bytes, void **ret);
