/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Accesses of POWER, little-endian: accesses.h. The POWER9 guest's suite `traffic` says what each
 * of them should move (tests/guests/power9/traffic.py).
 *
 * There was a second thread. Since then QEMU makes the code that it makes for several CPUs, where
 * some instructions take another way.
 */
#include "tests/traffic/accesses.h"

#include <err.h>
#include <pthread.h>
#include <stddef.h>

enum {
	BLOCK = 128, /* that dcbz clears */
	VECTOR_ACROSS = LINE - 7,
};

/* Runs an instruction, or some, with the address in %0. */
#define ACCESS(instructions, address)                                                              \
	__asm__ volatile(instructions : : "b"(address) : "memory", "cr0", "r6", "r7", "vs34")

static void load_across_lines(void)
{
	for (size_t i = 0; i < BYTES; i += 2 * LINE)
		ACCESS("lxvx 34,0,%0", memory + i + VECTOR_ACROSS);
}

static void store_across_lines(void)
{
	for (size_t i = 0; i < BYTES; i += 2 * LINE)
		ACCESS("stxvx 34,0,%0", memory + i + VECTOR_ACROSS);
}

static void load_vectors(void)
{
	for (size_t i = 0; i < BYTES; i += 16)
		ACCESS("lxv 34,0(%0)", memory + i);
}

static void store_vectors(void)
{
	for (size_t i = 0; i < BYTES; i += 16)
		ACCESS("stxv 34,0(%0)", memory + i);
}

/* 11 bytes: the length is in the upper byte of a register. */
static void load_length_across_lines(void)
{
	for (size_t i = 0; i < BYTES; i += 2 * LINE)
		ACCESS("li 7,11; sldi 7,7,56; lxvl 34,%0,7", memory + i + VECTOR_ACROSS);
}

static void store_length_across_lines(void)
{
	for (size_t i = 0; i < BYTES; i += 2 * LINE)
		ACCESS("li 7,11; sldi 7,7,56; stxvl 34,%0,7", memory + i + VECTOR_ACROSS);
}

static void load_quad(void)
{
	for (size_t i = 0; i < BYTES; i += LINE)
		ACCESS("lq 6,0(%0)", memory + i);
}

static void store_quad(void)
{
	for (size_t i = 0; i < BYTES; i += LINE)
		ACCESS("stq 6,0(%0)", memory + i);
}

static void load_reserved(void)
{
	for (size_t i = 0; i < BYTES; i += LINE)
		ACCESS("ldarx 6,0,%0", memory + i);
}

static void store_conditional(void)
{
	for (size_t i = 0; i < BYTES; i += LINE)
		ACCESS("ldarx 6,0,%0; stdcx. 6,0,%0", memory + i);
}

/* --- blocks that are cleared --- */

static void clear(void)
{
	for (size_t i = 0; i < BYTES; i += BLOCK)
		ACCESS("dcbz 0,%0", memory + i);
}

/* The address is a sum, and in the middle of the block. */
static void clear_by_sum(void)
{
	for (size_t i = 0; i < BYTES; i += BLOCK)
		__asm__ volatile("dcbz %0,%1" : : "b"(memory + 72), "r"(i) : "memory");
}

static void clear_and_load(void)
{
	clear();
	load_vectors();
}

static void load_and_clear(void)
{
	load_vectors();
	clear();
}

/* dcbz is the last instruction of its page, where QEMU ends a piece of translated code. */
void clear_at_end_of_page(char *block);
__asm__(".section .text.end_of_page,\"ax\",@progbits\n"
	".balign 65536\n"
	".skip 65536 - 4\n"
	".globl clear_at_end_of_page\n"
	".type clear_at_end_of_page,@function\n"
	"clear_at_end_of_page:\n"
	"dcbz 0,3\n"
	"blr\n"
	".size clear_at_end_of_page,.-clear_at_end_of_page\n"
	".previous\n");

static void clear_at_end(void)
{
	for (size_t i = 0; i < BYTES; i += BLOCK)
		clear_at_end_of_page(memory + i);
}

const struct access_case access_cases[] = {
	{ ACCESS_CASE(load_across_lines) },
	{ ACCESS_CASE(store_across_lines) },
	{ ACCESS_CASE(load_vectors) },
	{ ACCESS_CASE(store_vectors) },
	{ ACCESS_CASE(load_length_across_lines) },
	{ ACCESS_CASE(store_length_across_lines) },
	{ ACCESS_CASE(load_quad) },
	{ ACCESS_CASE(store_quad) },
	{ ACCESS_CASE(load_reserved) },
	{ ACCESS_CASE(store_conditional) },
	{ ACCESS_CASE(clear) },
	{ ACCESS_CASE(clear_by_sum) },
	{ ACCESS_CASE(clear_and_load) },
	{ ACCESS_CASE(load_and_clear) },
	{ ACCESS_CASE(clear_at_end) },
	{},
};

static void *do_nothing(void *unused)
{
	return unused;
}

static __attribute__((constructor)) void run_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, do_nothing, NULL) || pthread_join(thread, NULL))
		errx(1, "There is no thread.");
}
