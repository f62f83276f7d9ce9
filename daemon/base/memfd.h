/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory of a fixed size, as the page, the wake-ups and the ledger are. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* A memfd of zeros that can neither shrink nor grow: mapped memory never becomes a SIGBUS. The
 * descriptor is the caller's; or errno of memfd_create(2), ftruncate(2), fchmod(2), fcntl(2). */
int memfd_new(const char *name, size_t size_bytes, mode_t mode);

/* An empty one that grows where it is written to and cannot shrink: for reading it by pread(2).
 * Likewise. */
int memfd_new_growing(const char *name, mode_t mode);

/* How many bytes a descriptor from elsewhere has; 0: none, or nobody knows. */
size_t memfd_bytes(int fd);

/* Maps it for reading and writing; for munmap(2). NULL: errno says why. */
void *memfd_map(int fd, size_t size_bytes);

/* Another descriptor of the same memory, for those who may only read: neither mmap(2) nor
 * mprotect(2) will write through it. The caller's; or errno of open(2). */
int memfd_reopen_read_only(int fd);
