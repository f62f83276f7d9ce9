// SPDX-License-Identifier: GPL-2.0
/* Makes a PMU from its definition. */
#include <linux/cpumask.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "test_pmu.h"

/* --- files in sysfs --- */

struct text_file {
	struct device_attribute attribute;
	const char *text;
	bool newline;
};

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

void test_pmu_free(struct test_pmu *p)
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
int define(char *definition)
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
