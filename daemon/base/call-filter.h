/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls that uncored gives up once its counters are open (seccomp(2)): calls that only its
 * start needs, and calls that would be of use to an attacker who has taken it over.
 */
#pragma once

/*
 * Gives these calls up in every thread of the process, and in those that it will start. From then
 * on a refused call fails with -EPERM, a socket of a family other than AF_UNIX with -EAFNOSUPPORT,
 * and a call that this list does not know with -ENOSYS. Returns 0; -ENOSYS, -EINVAL: the kernel has
 * no such filters; -EPERM: the unit or container does not let uncored make one; -EOPNOTSUPP: there
 * is none for this architecture.
 */
int call_filter_set(void);
