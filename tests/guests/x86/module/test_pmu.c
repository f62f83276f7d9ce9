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
 * The module knows no processor. It has three files below test_pmu/ in debugfs.
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
 *	fail PMU ERRNO N             the next N attempts to open an event fail
 *	counters PMU N               that many counters from now on
 *
 * state: the truth, a line for each event that was ever opened or driven.
 *
 *	PMU PACKAGE CPU CONFIG VALUE RUNNING
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/debugfs.h>
#include <linux/glob.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <linux/uaccess.h>

#define MAX_PACKAGES 4
#define MAX_SOURCES  16
#define MAX_FILES    64
#define MAX_TEXT     (64 * 1024)

/* The counts of an event of a box: base, and rate a second since then. */
struct source {
	u64 config;
	u64 base;
	u64 rate;
	u64 since_ns;
	int n_running;
};

struct box {
	raw_spinlock_t lock;
	unsigned int n_used;
	unsigned int n_sources;
	struct source sources[MAX_SOURCES];
};

struct text_file {
	struct device_attribute attribute;
	const char *text;
	bool newline;
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

static LIST_HEAD(pmus);
static DEFINE_MUTEX(pmus_lock);
static int designated[MAX_PACKAGES]; /* the CPU of each package, -1 while it is offline */
static enum cpuhp_state hotplug_state;
static struct dentry *folder;

static u64 source_value(const struct source *source)
{
	u64 elapsed_ns = ktime_get_ns() - source->since_ns;

	return source->base + mul_u64_u64_div_u64(source->rate, elapsed_ns, NSEC_PER_SEC);
}

/*
 * The caller holds the lock. Makes an event that was never opened or driven before, if there is
 * room.
 */
static struct source *box_source(struct box *box, u64 config)
{
	unsigned int i;

	for (i = 0; i < box->n_sources; i++)
		if (box->sources[i].config == config)
			return &box->sources[i];
	if (box->n_sources == MAX_SOURCES)
		return NULL;
	box->sources[box->n_sources] =
		(struct source){ .config = config, .since_ns = ktime_get_ns() };
	return &box->sources[box->n_sources++];
}

/* --- struct pmu --- */

static struct test_pmu *pmu_of(const struct perf_event *event)
{
	return container_of(event->pmu, struct test_pmu, pmu);
}

static u64 width_mask(const struct test_pmu *p)
{
	return GENMASK_ULL(p->width - 1, 0);
}

static unsigned int events_of_group(const struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;
	unsigned int n = 1;

	if (leader == event)
		return 1;
	n += leader->pmu == event->pmu;
	for_each_sibling_event(sibling, leader) n += sibling->pmu == event->pmu;
	return n;
}

static int test_pmu_event_init(struct perf_event *event)
{
	struct test_pmu *p = pmu_of(event);
	struct source *source;
	unsigned long flags;
	struct box *box;
	int package;

	if (event->attr.type != event->pmu->type)
		return -ENOENT;
	if (is_sampling_event(event) || event->cpu < 0)
		return -EINVAL;
	if (p->n_fail > 0) {
		p->n_fail--;
		return -p->fail_errno;
	}
	package = topology_logical_package_id(event->cpu);
	if (package < 0 || package >= MAX_PACKAGES || !test_bit(package, &p->packages))
		return -EINVAL;
	if (designated[package] < 0)
		return -EINVAL;
	if (p->counters > 0 && events_of_group(event) > p->counters)
		return -EINVAL;
	box = &p->boxes[package];
	event->cpu = designated[package];
	event->event_caps |= PERF_EV_CAP_READ_ACTIVE_PKG;
	event->pmu_private = box;
	event->hw.config = event->attr.config & p->config_mask;
	raw_spin_lock_irqsave(&box->lock, flags);
	source = box_source(box, event->hw.config);
	raw_spin_unlock_irqrestore(&box->lock, flags);
	return source ? 0 : -ENOSPC;
}

static u64 counter_read(struct perf_event *event)
{
	struct box *box = event->pmu_private;
	unsigned long flags;
	u64 value;

	raw_spin_lock_irqsave(&box->lock, flags);
	value = source_value(box_source(box, event->hw.config));
	raw_spin_unlock_irqrestore(&box->lock, flags);
	return value & width_mask(pmu_of(event));
}

static void test_pmu_read(struct perf_event *event)
{
	u64 before, now;

	do {
		before = local64_read(&event->hw.prev_count);
		now = counter_read(event);
	} while (local64_cmpxchg(&event->hw.prev_count, before, now) != before);
	local64_add((now - before) & width_mask(pmu_of(event)), &event->count);
}

static void count_running(struct perf_event *event, int change)
{
	struct box *box = event->pmu_private;
	unsigned long flags;

	raw_spin_lock_irqsave(&box->lock, flags);
	box_source(box, event->hw.config)->n_running += change;
	raw_spin_unlock_irqrestore(&box->lock, flags);
}

static void test_pmu_start(struct perf_event *event, int flags)
{
	if (!(event->hw.state & PERF_HES_STOPPED))
		return;
	event->hw.state = 0;
	local64_set(&event->hw.prev_count, counter_read(event));
	count_running(event, 1);
	perf_event_update_userpage(event);
}

static void test_pmu_stop(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		return;
	test_pmu_read(event);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	count_running(event, -1);
}

/* Where all counters are taken, perf lets the events take turns. */
static int test_pmu_add(struct perf_event *event, int flags)
{
	const struct test_pmu *p = pmu_of(event);
	struct box *box = event->pmu_private;
	unsigned long irq;
	bool full;

	raw_spin_lock_irqsave(&box->lock, irq);
	full = p->counters > 0 && box->n_used >= p->counters;
	if (!full)
		box->n_used++;
	raw_spin_unlock_irqrestore(&box->lock, irq);
	if (full)
		return -EINVAL;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		test_pmu_start(event, 0);
	return 0;
}

static void test_pmu_del(struct perf_event *event, int flags)
{
	struct box *box = event->pmu_private;
	unsigned long irq;

	test_pmu_stop(event, PERF_EF_UPDATE);
	raw_spin_lock_irqsave(&box->lock, irq);
	box->n_used--;
	raw_spin_unlock_irqrestore(&box->lock, irq);
}

static const struct pmu pmu_template = {
	.module = THIS_MODULE,
	.task_ctx_nr = perf_invalid_context,
	.capabilities = PERF_PMU_CAP_NO_EXCLUDE,
	.event_init = test_pmu_event_init,
	.add = test_pmu_add,
	.del = test_pmu_del,
	.start = test_pmu_start,
	.stop = test_pmu_stop,
	.read = test_pmu_read,
};

/* --- files in sysfs --- */

static ssize_t text_show(struct device *device, struct device_attribute *attribute, char *page)
{
	const struct text_file *file = container_of(attribute, struct text_file, attribute);

	return sysfs_emit(page, file->newline ? "%s\n" : "%s", file->text);
}

static ssize_t cpumask_show(struct device *device, struct device_attribute *attribute, char *page)
{
	struct test_pmu *p = container_of(dev_get_drvdata(device), struct test_pmu, pmu);
	cpumask_var_t mask;
	ssize_t size;
	int package;

	if (!zalloc_cpumask_var(&mask, GFP_KERNEL))
		return -ENOMEM;
	for_each_set_bit(package, &p->packages, MAX_PACKAGES) if (designated[package] >= 0)
		cpumask_set_cpu(designated[package], mask);
	size = cpumap_print_to_pagebuf(true, page, mask);
	free_cpumask_var(mask);
	return size;
}
static DEVICE_ATTR_RO(cpumask);

static int files_add(struct files *files, char *rest, bool newline)
{
	const char *name = strsep(&rest, " ");
	struct text_file *file;

	if (!rest || files->n == MAX_FILES)
		return -EINVAL;
	file = kzalloc(sizeof(*file), GFP_KERNEL);
	if (!file)
		return -ENOMEM;
	sysfs_attr_init(&file->attribute.attr);
	file->attribute.attr.name = name;
	file->attribute.attr.mode = 0444;
	file->attribute.show = text_show;
	file->text = rest;
	file->newline = newline;
	files->attributes[files->n++] = &file->attribute.attr;
	return 0;
}

static void files_free(struct files *files)
{
	unsigned int i;

	for (i = 0; i < files->n; i++)
		if (files->attributes[i] != &dev_attr_cpumask.attr)
			kfree(container_of(files->attributes[i], struct text_file, attribute.attr));
}

/* A driver without aliases has no folder events/. */
static void collect_groups(struct test_pmu *p)
{
	struct files *all[] = { &p->plain, &p->format, &p->events };
	const char *const names[] = { NULL, "format", "events" };
	unsigned int i, n = 0;

	p->plain.attributes[p->plain.n++] = &dev_attr_cpumask.attr;
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		if (all[i]->n == 0)
			continue;
		all[i]->group.name = names[i];
		all[i]->group.attrs = all[i]->attributes;
		p->groups[n++] = &all[i]->group;
	}
	p->pmu.attr_groups = p->groups;
}

/* --- definitions --- */

static void test_pmu_free(struct test_pmu *p)
{
	files_free(&p->format);
	files_free(&p->events);
	files_free(&p->plain);
	kfree(p->definition);
	kfree(p);
}

static int define_line(struct test_pmu *p, char *line)
{
	const char *key = strsep(&line, " ");

	if (!line)
		return -EINVAL;
	if (!strcmp(key, "pmu")) {
		p->name = line;
		return 0;
	}
	if (!strcmp(key, "packages"))
		return kstrtoul(line, 16, &p->packages);
	if (!strcmp(key, "counters"))
		return kstrtouint(line, 10, &p->counters);
	if (!strcmp(key, "width"))
		return kstrtouint(line, 10, &p->width);
	if (!strcmp(key, "mask"))
		return kstrtou64(line, 16, &p->config_mask);
	if (!strcmp(key, "format"))
		return files_add(&p->format, line, true);
	if (!strcmp(key, "event"))
		return files_add(&p->events, line, false); /* no newline, as in Intel's driver */
	if (!strcmp(key, "file") && p->plain.n < MAX_FILES - 1)
		return files_add(&p->plain, line, true);
	return -EINVAL;
}

static int define_lines(struct test_pmu *p)
{
	char *rest = p->definition, *line;
	int r;

	while ((line = strsep(&rest, "\n"))) {
		if (!*line)
			continue;
		r = define_line(p, line);
		if (r)
			return r;
	}
	return p->name && p->width >= 1 && p->width <= 64 ? 0 : -EINVAL;
}

/* Owns the definition from here on. */
static int define(char *definition)
{
	struct test_pmu *p = kzalloc(sizeof(*p), GFP_KERNEL);
	int i, r;

	if (!p) {
		kfree(definition);
		return -ENOMEM;
	}
	p->definition = definition;
	p->pmu = pmu_template;
	p->packages = GENMASK(MAX_PACKAGES - 1, 0);
	p->width = 48;
	p->config_mask = ~0ULL;
	for (i = 0; i < MAX_PACKAGES; i++)
		raw_spin_lock_init(&p->boxes[i].lock);
	r = define_lines(p);
	if (!r) {
		collect_groups(p);
		r = perf_pmu_register(&p->pmu, p->name, -1);
	}
	if (r) {
		test_pmu_free(p);
		return r;
	}
	mutex_lock(&pmus_lock);
	list_add_tail(&p->list, &pmus);
	mutex_unlock(&pmus_lock);
	return 0;
}

/* --- commands --- */

static int drive(struct box *box, u64 config, bool is_rate, u64 n)
{
	struct source *source;
	unsigned long flags;

	raw_spin_lock_irqsave(&box->lock, flags);
	source = box_source(box, config);
	if (source) {
		source->base = source_value(source) + (is_rate ? 0 : n);
		source->since_ns = ktime_get_ns();
		source->rate = is_rate ? n : source->rate;
	}
	raw_spin_unlock_irqrestore(&box->lock, flags);
	return source ? 0 : -ENOSPC;
}

static int drive_packages(struct test_pmu *p, const char *packages, u64 config, bool is_rate, u64 n)
{
	int package, wanted = -1, r;

	if (strcmp(packages, "*") && kstrtoint(packages, 10, &wanted))
		return -EINVAL;
	for_each_set_bit(package, &p->packages, MAX_PACKAGES)
	{
		if (wanted >= 0 && wanted != package)
			continue;
		r = drive(&p->boxes[package], config & p->config_mask, is_rate, n);
		if (r)
			return r;
	}
	return 0;
}

/*
 * The caller holds pmus_lock. A pattern that matches no PMU is an error: otherwise a test would
 * wait in vain.
 */
static int command(const char *line)
{
	char verb[12], pattern[48], package[12];
	unsigned long long config, n;
	struct test_pmu *p;
	int r = -ENOENT, code;

	list_for_each_entry(p, &pmus, list)
	{
		if (sscanf(line, "%11s %47s", verb, pattern) != 2)
			return -EINVAL;
		if (!glob_match(pattern, p->name))
			continue;
		if (!strcmp(verb, "fail") && sscanf(line, "%*s %*s %d %llu", &code, &n) == 2) {
			p->fail_errno = code;
			p->n_fail = n;
			r = 0;
		} else if (!strcmp(verb, "counters") && sscanf(line, "%*s %*s %llu", &n) == 1) {
			p->counters = n;
			r = 0;
		} else if ((!strcmp(verb, "add") || !strcmp(verb, "rate")) &&
			   sscanf(line, "%*s %*s %11s %llx %llu", package, &config, &n) == 3) {
			r = drive_packages(p, package, config, verb[0] == 'r', n);
		} else {
			return -EINVAL;
		}
		if (r)
			return r;
	}
	return r;
}

static int commands(char *text)
{
	char *line;
	int r = 0;

	mutex_lock(&pmus_lock);
	while (!r && (line = strsep(&text, "\n")))
		r = *line ? command(line) : 0;
	mutex_unlock(&pmus_lock);
	return r;
}

/* --- debugfs --- */

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
	r = commands(text);
	kfree(text);
	return r ?: size;
}

static const struct file_operations control_operations = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = control_write,
};

static void show_box(struct seq_file *file, const char *name, int package, struct box *box)
{
	struct source source;
	unsigned long flags;
	unsigned int i;
	u64 value;

	for (i = 0; i < box->n_sources; i++) {
		raw_spin_lock_irqsave(&box->lock, flags);
		source = box->sources[i];
		value = source_value(&source);
		raw_spin_unlock_irqrestore(&box->lock, flags);
		seq_printf(file, "%s %d %d 0x%llx %llu %d\n", name, package, designated[package],
			source.config, value, source.n_running);
	}
}

static int state_show(struct seq_file *file, void *unused)
{
	struct test_pmu *p;
	int package;

	mutex_lock(&pmus_lock);
	list_for_each_entry(p, &pmus, list) for (package = 0; package < MAX_PACKAGES; package++)
		show_box(file, p->name, package, &p->boxes[package]);
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
}

module_init(test_pmu_init);
module_exit(test_pmu_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("PMUs that count what a test says");
