/* SPDX-License-Identifier: BSD-3-Clause */
/* PCP's number for this agent, of the numbers free for sites: the same on every machine. */
#define UNCORE 470
