// SPDX-License-Identifier: GPL-2.0
/*
 * PMUs for a guest that has no memory controllers, for testing only.
 *
 * To perf they look like the PMUs of the kernel's uncore drivers: system-wide, one designated CPU
 * per package, a limited number of counters per box (one PMU in one package), and the same files in
 * sysfs. A test sets their counts, so the counts are known exactly. The model is
 * arch/x86/events/intel/uncore.c of Linux 6.1, also when CPUs go: the events of a CPU move to
 * another CPU of its package; events of a package that goes stay where they are, and stop.
 *
 * The module knows no processor. It has these files below test_pmu/ in debugfs.
 *
 * define: one write makes one PMU. Its lines are
 *
 *	pmu NAME
 *	packages BITS        where it has a box, hexadecimal (all packages)
 *	counters N           of a box; 0: any number of events run at once, as free-running ones
 *	width N              bits of a counter (48)
 *	mask BITS            of config that there are, hexadecimal; others are dropped silently
 *	format FIELD TEXT    files of the PMU in sysfs
 *	event FILE TEXT
 *	file FILE TEXT
 *
 * control: a command a line. PMU is a pattern, PACKAGE a number or *, CONFIG hexadecimal.
 *
 *	add PMU PACKAGE CONFIG N     the event has happened N times more
 *	rate PMU PACKAGE CONFIG N    from now on it happens N times a second
 *	wire PMU PACKAGE CONFIG BYTE [NUMERATOR DENOMINATOR]
 *	                             from now on it happens as often as the word at BYTE of
 *	                             the shared memory grows, or that fraction of it; up to
 *	                             8 words for an event
 *	unwire PMU PACKAGE           no word counts for any event from now on
 *	fail PMU ERRNO N             the next N attempts to open an event fail
 *	counters PMU N               that many counters from now on
 *	poke BYTE N                  the word at BYTE of the shared memory becomes N
 *
 * state: the truth, a line for each event that was ever opened or driven.
 *
 *	PMU PACKAGE CPU CONFIG VALUE RUNNING
 *
 * words: the shared memory, 64-bit words as they are; only where the guest has an ivshmem device,
 * through which a simulation outside says what happened.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/debugfs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <linux/uaccess.h>

#include "test_pmu.h"

#define MAX_TEXT (64 * 1024)

LIST_HEAD(pmus);
DEFINE_MUTEX(pmus_lock);
int designated[MAX_PACKAGES];
static enum cpuhp_state hotplug_state;
static struct dentry *folder;

static ssize_t define_write(struct file *file, const char __user *user, size_t size, loff_t *offset)
{
	char *text = size <= MAX_TEXT ? memdup_user_nul(user, size) : ERR_PTR(-E2BIG);

	return IS_ERR(text) ? PTR_ERR(text) : define(text) ?: size;
}

static const struct file_operations define_operations = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = define_write,
};

static ssize_t control_write(
	struct file *file, const char __user *user, size_t size, loff_t *offset)
{
	char *text = size <= MAX_TEXT ? memdup_user_nul(user, size) : ERR_PTR(-E2BIG);
	int r;

	if (IS_ERR(text))
		return PTR_ERR(text);
	r = control(text);
	kfree(text);
	return r ?: size;
}

static const struct file_operations control_operations = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = control_write,
};

static int state_show(struct seq_file *file, void *unused)
{
	struct test_pmu *p;
	int package;

	mutex_lock(&pmus_lock);
	list_for_each_entry(p, &pmus, list) for (package = 0; package < MAX_PACKAGES; package++)
		box_show(file, p->name, package, &p->boxes[package]);
	mutex_unlock(&pmus_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(state);

/* --- CPUs that come and go --- */

static void change_designated(int package, int cpu)
{
	int before = designated[package];
	struct test_pmu *p;

	mutex_lock(&pmus_lock);
	designated[package] = cpu;
	if (before >= 0 && cpu >= 0)
		list_for_each_entry(p, &pmus, list) perf_pmu_migrate_context(&p->pmu, before, cpu);
	mutex_unlock(&pmus_lock);
}

static int cpu_comes(unsigned int cpu)
{
	int package = topology_logical_package_id(cpu);

	if (package >= 0 && package < MAX_PACKAGES && designated[package] < 0)
		change_designated(package, cpu);
	return 0;
}

static int cpu_goes(unsigned int cpu)
{
	int package = topology_logical_package_id(cpu);
	unsigned int other = cpumask_any_but(topology_core_cpumask(cpu), cpu);

	if (package >= 0 && package < MAX_PACKAGES && designated[package] == (int)cpu)
		change_designated(package, other < nr_cpu_ids ? (int)other : -1);
	return 0;
}

static int __init test_pmu_init(void)
{
	int i, r;

	for (i = 0; i < MAX_PACKAGES; i++)
		designated[i] = -1;
	r = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perf/test_pmu:online", cpu_comes, cpu_goes);
	if (r < 0)
		return r;
	hotplug_state = r;
	folder = debugfs_create_dir("test_pmu", NULL);
	debugfs_create_file("define", 0200, folder, NULL, &define_operations);
	debugfs_create_file("control", 0222, folder, NULL, &control_operations);
	debugfs_create_file("state", 0444, folder, NULL, &state_fops);
	words_map(folder);
	return 0;
}

static void __exit test_pmu_exit(void)
{
	struct test_pmu *p, *next;

	debugfs_remove_recursive(folder);
	cpuhp_remove_state_nocalls(hotplug_state);
	list_for_each_entry_safe(p, next, &pmus, list)
	{
		perf_pmu_unregister(&p->pmu);
		test_pmu_free(p);
	}
	words_unmap();
}

module_init(test_pmu_init);
module_exit(test_pmu_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("PMUs that count what a test says");
