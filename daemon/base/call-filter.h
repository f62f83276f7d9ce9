/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls that uncored gives up once its counters are open (seccomp(2)): calls that only its
 * start needs, and calls that would help an attacker who has taken over uncored.
 */
#pragma once

/*
 * Gives these calls up in every thread of the process and in threads that start later. From then on
 * a refused call fails with -EPERM, a socket of a family other than AF_UNIX with -EAFNOSUPPORT, and
 * a call that is newer than this list with -ENOSYS. Returns 0; -ENOSYS, -EINVAL: the kernel has no
 * such filters; -EPERM: the unit or container does not let uncored make one; -EOPNOTSUPP: there is
 * no filter for this architecture.
 */
int call_filter_set(void);
