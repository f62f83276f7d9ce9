// SPDX-License-Identifier: GPL-2.0
/*
 * The memory that the guest shares with a program outside: BAR 2 of the device ivshmem-plain (QEMU,
 * docs/specs/ivshmem-spec.txt). Without the device there are no words.
 */
#include <linux/debugfs.h>
#include <linux/io.h>
#include <linux/pci.h>

#include "test_pmu.h"

#define IVSHMEM_DEVICE 0x1110
#define IVSHMEM_BAR    2

static struct pci_dev *device;
static struct debugfs_blob_wrapper words;

void words_map(struct dentry *folder)
{
	device = pci_get_device(PCI_VENDOR_ID_REDHAT_QUMRANET, IVSHMEM_DEVICE, NULL);
	if (!device)
		return;
	if (pci_enable_device(device)) {
		pr_err("test_pmu: %s cannot be enabled, so there are no words\n", pci_name(device));
		return;
	}
	words.size = pci_resource_len(device, IVSHMEM_BAR);
	words.data = memremap(pci_resource_start(device, IVSHMEM_BAR), words.size, MEMREMAP_WB);
	if (!words.data)
		pr_err("test_pmu: BAR 2 of %s cannot be mapped, so there are no words\n",
			pci_name(device));
	else
		debugfs_create_blob("words", 0444, folder, &words);
}

/* The device stays enabled: the next load of the module finds it so. */
void words_unmap(void)
{
	if (words.data)
		memunmap(words.data);
	pci_dev_put(device);
}

int words_check(size_t byte)
{
	if (!words.data)
		return -ENODEV;
	if (byte % sizeof(u64))
		return -EINVAL;
	return byte < words.size ? 0 : -ERANGE;
}

static u64 *word_at(size_t byte)
{
	return (u64 *)((char *)words.data + byte);
}

u64 words_read(size_t byte)
{
	return READ_ONCE(*word_at(byte));
}

void words_write(size_t byte, u64 value)
{
	WRITE_ONCE(*word_at(byte), value);
}
