/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which system calls uncored gives up once its counters are open (seccomp(2)): those that only its
 * start needs, and those that would be of use to somebody who has taken it over.
 */
#pragma once

/*
 * Gives them up in every thread of the process, and in those that it will start. What is refused
 * from then on fails with -EPERM, another family of socket than AF_UNIX with -EAFNOSUPPORT, and
 * what this list does not know with -ENOSYS. -ENOSYS, -EINVAL: the kernel has no such filters;
 * -EPERM: the unit or container does not let it make one; -EOPNOTSUPP: there is none for this
 * architecture.
 */
int call_filter_set(void);
