// SPDX-License-Identifier: GPL-2.0
/* Carries out commands; main.c lists them. */
#include <linux/glob.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "test_pmu.h"

enum { ALL_PACKAGES = -1, MAX_NUMBERS = 4 };

struct order {
	const char *pattern; /* of the names of PMUs */
	int package;
	unsigned int n;
	u64 numbers[MAX_NUMBERS];
};

/* Each does its work on one of: boxes, PMUs, the shared memory. */
struct verb {
	const char *name;
	unsigned int least, most; /* numbers behind the names of PMU and package */
	int (*on_box)(const struct test_pmu *p, struct box *box, const struct order *order);
	void (*on_pmu)(struct test_pmu *p, const struct order *order);
	int (*on_words)(const struct order *order);
};

static int add(const struct test_pmu *p, struct box *box, const struct order *order)
{
	return box_add(box, order->numbers[0] & p->config_mask, order->numbers[1]);
}

static int rate(const struct test_pmu *p, struct box *box, const struct order *order)
{
	return box_rate(box, order->numbers[0] & p->config_mask, order->numbers[1]);
}

static int wire(const struct test_pmu *p, struct box *box, const struct order *order)
{
	bool scaled = order->n == MAX_NUMBERS;
	struct wire new = {
		.byte = order->numbers[1],
		.numerator = scaled ? order->numbers[2] : 1,
		.denominator = scaled ? order->numbers[3] : 1,
	};
	int r = words_check(order->numbers[1]);

	if (r)
		return r;
	if (order->n == MAX_NUMBERS - 1 || new.denominator == 0 ||
		(scaled && max(order->numbers[2], order->numbers[3]) > U16_MAX))
		return -EINVAL;
	return box_wire(box, order->numbers[0] & p->config_mask, &new);
}

static int unwire(const struct test_pmu *p, struct box *box, const struct order *order)
{
	box_unwire(box);
	return 0;
}

static void fail(struct test_pmu *p, const struct order *order)
{
	p->fail_errno = order->numbers[0];
	p->n_fail = order->numbers[1];
}

static void counters(struct test_pmu *p, const struct order *order)
{
	p->counters = order->numbers[0];
}

static int poke(const struct order *order)
{
	int r = words_check(order->numbers[0]);

	if (!r)
		words_write(order->numbers[0], order->numbers[1]);
	return r;
}

static const struct verb verbs[] = {
	{ "add", 2, 2, .on_box = add },
	{ "rate", 2, 2, .on_box = rate },
	{ "wire", 2, MAX_NUMBERS, .on_box = wire },
	{ "unwire", 0, 0, .on_box = unwire },
	{ "fail", 2, 2, .on_pmu = fail },
	{ "counters", 1, 1, .on_pmu = counters },
	{ "poke", 2, 2, .on_words = poke },
};

static const struct verb *verb_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(verbs[i].name, name))
			return &verbs[i];
	return NULL;
}

/* Words end with NULL. The first number of a command on boxes is a CONFIG, hexadecimal. */
static int order_parse(const struct verb *verb, char **words, struct order *ret)
{
	int r;

	*ret = (struct order){ .package = ALL_PACKAGES };
	if (!verb->on_words && *words)
		ret->pattern = *words++;
	if (verb->on_box && *words) {
		if (strcmp(*words, "*") && kstrtoint(*words, 10, &ret->package))
			return -EINVAL;
		words++;
	}
	for (; *words && ret->n < verb->most; words++, ret->n++) {
		r = kstrtou64(*words, verb->on_box && ret->n == 0 ? 16 : 10, &ret->numbers[ret->n]);
		if (r)
			return r;
	}
	return *words || ret->n < verb->least || (!verb->on_words && !ret->pattern) ? -EINVAL : 0;
}

static int run_on_boxes(const struct verb *verb, struct test_pmu *p, const struct order *order)
{
	int package, r;

	for_each_set_bit(package, &p->packages, MAX_PACKAGES)
	{
		if (order->package != ALL_PACKAGES && order->package != package)
			continue;
		r = verb->on_box(p, &p->boxes[package], order);
		if (r)
			return r;
	}
	return 0;
}

/* A pattern that matches no PMU is an error: otherwise a test would wait in vain. */
static int run(const struct verb *verb, const struct order *order)
{
	struct test_pmu *p;
	int r = -ENOENT;

	if (verb->on_words)
		return verb->on_words(order);
	list_for_each_entry(p, &pmus, list)
	{
		if (!glob_match(order->pattern, p->name))
			continue;
		r = 0;
		if (verb->on_box)
			r = run_on_boxes(verb, p, order);
		else
			verb->on_pmu(p, order);
		if (r)
			return r;
	}
	return r;
}

/* The caller holds pmus_lock. */
static int command(const char *line)
{
	char **words = argv_split(GFP_KERNEL, line, NULL);
	const struct verb *verb;
	struct order order;
	int r = -EINVAL;

	if (!words)
		return -ENOMEM;
	verb = *words ? verb_find(*words) : NULL;
	if (verb)
		r = order_parse(verb, words + 1, &order);
	if (verb && !r)
		r = run(verb, &order);
	argv_free(words);
	if (r)
		pr_err("test_pmu: \"%s\" failed with error %d\n", line, r);
	return r;
}

int control(char *text)
{
	char *line;
	int r = 0;

	mutex_lock(&pmus_lock);
	while (!r && (line = strsep(&text, "\n")))
		r = *line ? command(line) : 0;
	mutex_unlock(&pmus_lock);
	return r;
}
