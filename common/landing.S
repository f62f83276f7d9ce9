/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Landing pads for the C library's start files, which have none where it was built without
 * control-flow protection. The loader enters a program at its start, and every object at its init
 * and fini functions, by an indirect jump. So the linker makes these here the targets.
 */
#include <cet.h>

	.macro pad name, target
	.globl \name
	.hidden \name
	.type \name, @function
\name:
	_CET_ENDBR
	jmp \target
	.size \name, . - \name
	.endm

	.text
#if defined __PIE__ || !defined __PIC__ /* part of a program, not of a shared object */
	pad landing_start, _start
#endif
	pad landing_init, _init
	pad landing_fini, _fini

	.section .note.GNU-stack, "", @progbits
