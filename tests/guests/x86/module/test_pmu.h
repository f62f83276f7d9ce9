/* SPDX-License-Identifier: GPL-2.0 */
/* What the files of the test module share; main.c says what it is. */
#ifndef TEST_PMU_H
#define TEST_PMU_H

#include <linux/device.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/sysfs.h>

#define MAX_PACKAGES 4
#define MAX_SOURCES  16
#define MAX_WIRES    8
#define MAX_FILES    64

/* A word of the shared memory: numerator / denominator of what it has grown by since start. */
struct wire {
	size_t byte;
	u64 start;
	u16 numerator;
	u16 denominator;
};

/* The counts of an event of a box: base, rate a second since then, and what its wires say. */
struct source {
	u64 config;
	u64 base;
	u64 rate;
	u64 since_ns;
	int n_running;
	unsigned int n_wires;
	struct wire wires[MAX_WIRES];
};

struct box {
	raw_spinlock_t lock;
	unsigned int n_used;
	unsigned int n_sources;
	struct source sources[MAX_SOURCES];
};

struct files {
	struct attribute_group group;
	struct attribute *attributes[MAX_FILES + 1];
	unsigned int n;
};

struct test_pmu {
	struct list_head list;
	struct pmu pmu;
	char *definition; /* all names and texts point into it */
	const char *name;
	unsigned long packages;
	unsigned int counters;
	unsigned int width;
	u64 config_mask;
	int fail_errno;
	unsigned int n_fail;
	struct box boxes[MAX_PACKAGES];
	struct files format, events, plain;
	const struct attribute_group *groups[4];
};

/* main.c */
extern struct list_head pmus;
extern struct mutex pmus_lock;
extern int designated[MAX_PACKAGES]; /* the CPU of each package, -1 while it is offline */

/* box.c: what the events of a box have counted. The first two need the lock of the box. */
struct source *box_source(struct box *box, u64 config);
u64 source_value(const struct source *source);
int box_add(struct box *box, u64 config, u64 n);
int box_rate(struct box *box, u64 config, u64 n);
int box_wire(struct box *box, u64 config, const struct wire *wire);
void box_unwire(struct box *box);
void box_show(struct seq_file *file, const char *name, int package, struct box *box);

/* pmu.c: what perf calls. */
extern const struct pmu pmu_template;

/* define.c: makes a PMU; owns the definition, kmalloc'ed, from the call on. */
int define(char *definition);
void test_pmu_free(struct test_pmu *p);

/* control.c: carries out commands, a line each, up to the first that fails. */
int control(char *text);

/* words.c: the memory of an ivshmem device, which others outside the guest share. */
void words_map(struct dentry *folder);
void words_unmap(void);
int words_check(size_t byte); /* 0, or why there is no such word */
u64 words_read(size_t byte);
void words_write(size_t byte, u64 value);

#endif
