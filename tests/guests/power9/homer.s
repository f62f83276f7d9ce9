# SPDX-License-Identifier: BSD-3-Clause
#
# Takes the place of read_pba_bar() in skiboot (hw/homer.c), big-endian ELFv1:
#
#	bool read_pba_bar(struct proc_chip *chip, unsigned int bar, uint64_t *base, uint64_t *size)
#
# It asks the chip where its HOMER is, the memory in which the on-chip controller posts counters. QEMU answers with a
# device of its own that holds no memory. Here every chip's HOMER is plain memory below 2 GiB, where the player
# (player.py) can write. The first word of a struct proc_chip is the chip's number.

	cmpwi	4, 0
	bne	other
	lwz	7, 0(3)
	sldi	7, 7, 25		# 32 MiB apart
	lis	9, 0x7000		# from 0x70000000 on
	add	9, 9, 7
	std	9, 0(5)
	lis	9, 0x0040		# 4 MiB
	std	9, 0(6)
	li	3, 1
	blr

other:	# memory that the controllers of all chips share: where QEMU has it (hw/ppc/pnv.h)
	li	9, 0x203f
	sldi	9, 9, 32
	oris	9, 9, 0xff80
	std	9, 0(5)
	lis	9, 0x0080		# 8 MiB
	std	9, 0(6)
	li	3, 1
	blr
