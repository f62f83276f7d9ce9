/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory: of a fixed size, for the page, the wake-ups and the ledger; or growing. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* A memfd of zeros that can neither shrink nor grow: access to its mapping never causes SIGBUS.
 * Returns a descriptor that the caller owns; errno of memfd_create(2), ftruncate(2), fchmod(2),
 * fcntl(2). */
int memfd_new(const char *name, size_t size_bytes, mode_t mode);

/* An empty memfd that grows when it is written to and cannot shrink: for readers that use pread(2).
 * Ownership and errno as for memfd_new(). */
int memfd_new_growing(const char *name, mode_t mode);

/* The size of the file of @fd, which may come from another process; 0: empty or unknown. */
size_t memfd_bytes(int fd);

/* Maps @fd for reading and writing; for munmap(2). NULL: errno says why. */
void *memfd_map(int fd, size_t size_bytes);

/* Another open file description of the same memory, for reading and writing. Returns a descriptor
 * that the caller owns; errno of open(2). */
int memfd_reopen(int fd);

/* The same for clients that may only read: neither mmap(2) nor mprotect(2) makes it writable. */
int memfd_reopen_read_only(int fd);
