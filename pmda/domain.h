/* SPDX-License-Identifier: BSD-3-Clause */
/* PCP's number for this agent, from the range for sites: the same on every machine. */
#define UNCORE 470
