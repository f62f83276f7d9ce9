/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole guest (test_guest.py): loads lines of each of four nodes of 64 MiB, and ends. In 32-bit mode,
 * as a multiboot loader starts it; QEMU is one.
 */
#define MULTIBOOT_MAGIC 0x1badb002
#define MIB             0x100000
#define DIRECTORY       0x200000
#define PAGE            0x83 /* present, writable, of 4 MiB */
#define CR4_PSE         0x10
#define CR0_PG          0x80000000
#define DEBUG_EXIT      0xf4 /* QEMU's isa-debug-exit */

	.code32
	.text
	.globl _start
	.align 4
	.long MULTIBOOT_MAGIC, 0, -MULTIBOOT_MAGIC

/* Loads n lines from an address on, which is written without blanks. */
	.macro load_lines address, n
	movl $\address, %esi
	movl $\n, %ecx
1:	movl (%esi), %eax
	addl $64, %esi
	loop 1b
	.endm

/* In the middle of each node, and the first and the last line of nodes 1 and 2. */
_start:
	load_lines 32*MIB, 1000
	load_lines 64*MIB, 1
	load_lines 96*MIB, 2000
	load_lines 0x7ffffc0, 1
	load_lines 128*MIB, 1
	load_lines 160*MIB, 3000
	load_lines 0xbffffc0, 1
	load_lines 192*MIB, 1
	load_lines 224*MIB, 4000

/* With pages of 4 MiB: a load across pages 1 and 2, which are memory of nodes 1 and 2. */
	movl $PAGE, DIRECTORY
	movl $104*MIB+PAGE, DIRECTORY+4
	movl $168*MIB+PAGE, DIRECTORY+8
	movl $DIRECTORY, %eax
	movl %eax, %cr3
	movl %cr4, %eax
	orl $CR4_PSE, %eax
	movl %eax, %cr4
	movl %cr0, %eax
	orl $CR0_PG, %eax
	movl %eax, %cr0
	movl 8*MIB-2, %eax

	movl $0, %eax
	outl %eax, $DEBUG_EXIT
2:	hlt
	jmp 2b
