/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Everything a platform file may say is in the tables of keys below; what the keys mean together is
 * checked where their section is read.
 */
#include "daemon/plan/platform-file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "common/number.h"
#include "daemon/base/inifile.h"

#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define UPPER  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"
#define KINDS  "known alternatives are sysfs:NAME, raw:FIELD=NUMBER,... and pfm:NAME"

/* --- values --- */

static int parse_list(
	const struct inifile_key *key, const char *value, void *ret, struct fault *why)
{
	if (!machine_is_list(value))
		return fault_set(why, -EINVAL,
			"must be numbers or ranges separated by spaces, like 6, 0x6a 0x6c or 0-4");
	return inifile_text(key, value, ret, why);
}

static int parse_channel(
	const struct inifile_key *key, const char *value, void *ret, struct fault *why)
{
	if (value[strspn(value, LOWER)])
		return fault_set(why, -EINVAL, "must be 1 to 15 letters a to z");
	return inifile_text(key, value, ret, why);
}

static int parse_pmu(const struct inifile_key *key, const char *value, void *ret, struct fault *why)
{
	const char *glob = value;

	for (;;) {
		size_t length = strcspn(glob, " |/\t");

		if (!length)
			break;
		glob += length;
		if (!*glob)
			return inifile_text(key, value, ret, why);
		if (strncmp(glob, " | ", 3))
			break;
		glob += 3;
	}
	return fault_set(
		why, -EINVAL, "must be a glob over PMU names, or several separated by \" | \"");
}

static int parse_glob(
	const struct inifile_key *key, const char *value, void *ret, struct fault *why)
{
	if (value[strcspn(value, " |/\t")])
		return fault_set(why, -EINVAL, "must be a glob over PMU names");
	return inifile_text(key, value, ret, why);
}

/* "{n}" is the box's number; braces mean nothing else. */
static bool braces_pair(const char *text)
{
	for (; *text; text++) {
		if (!strncmp(text, "{n}", 3))
			text += 2;
		else if (*text == '{' || *text == '}')
			return false;
	}
	return true;
}

static bool is_alias(const char *text)
{
	return *text && !text[strspn(text, UPPER LOWER DIGITS "_.-{}")] && braces_pair(text);
}

/* What follows a number such as "0x35"; NULL: it is none. */
static const char *skip_number(const char *text)
{
	uint64_t number;

	return number_parse(text, 0, UINT64_MAX, &number);
}

/*
 * "event=0x35,umask=0xcc47ff01", and "edge" for "edge=1". Which fields there are, only the format/
 * of the machine can say.
 */
static bool is_raw(const char *text)
{
	for (;;) {
		size_t length = strspn(text, LOWER UPPER DIGITS "_");

		text += length;
		if (length && *text == '=')
			text = skip_number(text + 1);
		if (!length || !text || (*text && *text != ','))
			return false;
		if (!*text++)
			return true;
	}
}

static bool is_pfm(const char *text)
{
	return *text && !text[strcspn(text, " \t")] && braces_pair(text);
}

static const struct {
	const char *prefix;
	bool (*is_valid)(const char *text);
} kinds[] = {
	[EVENT_SYSFS] = { "sysfs:", is_alias },
	[EVENT_RAW] = { "raw:", is_raw },
	[EVENT_PFM] = { "pfm:", is_pfm },
};

static int parse_choice(const char *text, struct event_choice *ret, struct fault *why)
{
	for (unsigned i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t length = strlen(kinds[i].prefix);

		if (strncmp(text, kinds[i].prefix, length))
			continue;
		if (!kinds[i].is_valid(text + length) || strlen(text + length) >= sizeof ret->text)
			return fault_set(why, -EINVAL, "\"%s\" is not well formed; " KINDS, text);
		ret->kind = i;
		strcpy(ret->text, text + length);
		return 0;
	}
	return fault_set(why, -EINVAL, "\"%s\" is of no known kind; " KINDS, text);
}

static int parse_choices(
	const struct inifile_key *key, const char *value, void *ret, struct fault *why)
{
	struct event_choices choices = {};
	char text[INIFILE_BUFFER_MAX], *rest = text, *one;

	(void)key;
	snprintf(text, sizeof text, "%s", value);
	while ((one = strsep(&rest, "|"))) {
		int r;

		one += strspn(one, " \t");
		while (*one && strchr(" \t", one[strlen(one) - 1]))
			one[strlen(one) - 1] = '\0';
		if (choices.n == PLATFORM_CHOICES_MAX)
			return fault_set(why, -EINVAL, "must be at most %d alternatives",
				PLATFORM_CHOICES_MAX);
		r = parse_choice(one, &choices.choice[choices.n++], why);
		if (r < 0)
			return r;
	}
	*(struct event_choices *)ret = choices;
	return 0;
}

/* --- keys --- */

#define ROW(name, parse, type, field, most, what)                                                  \
	{                                                                                          \
		NULL, name, parse, offsetof(struct type, field), 1, most, NULL, what               \
	}
#define ROW_TEXT(name, parse, type, field, what)                                                   \
	ROW(name, parse, type, field, sizeof((struct type *)NULL)->field - 1, what)
#define ROW_FACT(name, parse, fact)                                                                \
	ROW_TEXT(name, parse, machine_pattern, facts[fact], "compared with /proc/cpuinfo")

static const struct inifile_key platform_keys[] = {
	ROW_TEXT("title", inifile_text, platform, title, "what a person calls the machine"),
	ROW("standin", inifile_bool, platform, standin, 0, NULL),
	ROW("sweep_every_s", inifile_number, platform, sweep_every_s, 86400, "seconds"),
	ROW_TEXT("unsupported", inifile_text, platform, unsupported, "why nothing is counted"),
};

static const struct inifile_key pattern_keys[] = {
	ROW_FACT("vendor", inifile_text, MACHINE_VENDOR),
	ROW_FACT("family", parse_list, MACHINE_FAMILY),
	ROW_FACT("model", parse_list, MACHINE_MODEL),
	ROW_FACT("stepping", parse_list, MACHINE_STEPPING),
	ROW_FACT("cpu", inifile_text, MACHINE_CPU),
	ROW_FACT("implementer", parse_list, MACHINE_IMPLEMENTER),
	ROW_FACT("part", parse_list, MACHINE_PART),
	ROW("cpuless_node", inifile_bool, machine_pattern, cpuless_node, 0, NULL),
	ROW_FACT("cpuless_gib", parse_list, MACHINE_CPULESS_GIB),
	ROW_TEXT("with_pmu", parse_glob, machine_pattern, with_pmu, "glob over PMU names"),
	ROW_TEXT("without_pmu", parse_glob, machine_pattern, without_pmu, "glob over PMU names"),
};

static const struct inifile_key term_keys[] = {
	ROW_TEXT("pmu", parse_pmu, platform_term, pmu, "glob over PMU names"),
	ROW("event", parse_choices, platform_term, event, 0, NULL),
	ROW("bytes", inifile_number, platform_term, bytes, PLATFORM_BYTES_MAX, "bytes per count"),
	ROW_TEXT("channel", parse_channel, platform_term, channel, "name of a memory channel"),
	ROW("clock", parse_choices, platform_term, clock, 0, NULL),
	ROW("clock_ms", inifile_number, platform_term, clock_ms, 10000, "milliseconds"),
};

static const struct inifile_key further_keys[] = {
	ROW("subtract", inifile_bool, platform_term, subtract, 0, NULL),
	ROW_TEXT("optional", inifile_text, platform_term, optional,
		"what is not counted without such a PMU"),
};

static const struct inifile_key metric_keys[] = {
	ROW_TEXT("absent", inifile_text, platform_metric, absent, "why the platform has it not"),
	ROW_TEXT("partial", inifile_text, platform_metric, partial, "what is not counted"),
	ROW_TEXT("source", inifile_text, platform_metric, source, "where this is known from"),
	ROW_TEXT("measured", inifile_text, platform_metric, measured,
		"who compared it with a known traffic"),
	ROW("confidence", inifile_word, platform_metric, confidence, 0, "high|medium|low"),
	ROW("uncalibrated", inifile_bool, platform_metric, uncalibrated, 0, NULL),
	ROW("unit", inifile_word, platform_metric, unit, 0, "bytes|ns"),
};

/* --- one file --- */

static int require(const struct inifile *ini, const struct inifile_section *section,
	const char *const required[], struct fault *fault)
{
	for (; *required; required++)
		if (!inifile_entry(ini, section, *required))
			return inifile_fault(ini, section->line, fault, "[%s] lacks the key %s.",
				section->name, *required);
	return 0;
}

/* Of two keys that only make sense together, is one alone? */
static int require_both(const struct inifile *ini, const struct inifile_section *section,
	const char *one, const char *other, struct fault *fault)
{
	bool has_one = inifile_entry(ini, section, one),
	     has_other = inifile_entry(ini, section, other);

	if (has_one == has_other)
		return 0;
	return inifile_fault(ini, section->line, fault, "[%s] has %s without %s.", section->name,
		has_one ? one : other, has_one ? other : one);
}

static int read_header(const struct inifile *ini, const struct inifile_section *section,
	struct platform *platform, struct machine_pattern *pattern, struct fault *fault)
{
	static const char *const required[] = { "title", NULL };
	const struct inifile_group groups[] = {
		{ platform_keys, ARRAY_SIZE(platform_keys), platform },
		{ pattern_keys, ARRAY_SIZE(pattern_keys), pattern },
	};
	int r = inifile_bind(ini, section, groups, ARRAY_SIZE(groups), fault);

	if (r < 0)
		return r;
	r = require(ini, section, required, fault);
	if (r < 0)
		return r;
	pattern->asks_cpuless_node = inifile_entry(ini, section, "cpuless_node");
	for (int i = 0; i <= MACHINE_PART; i++)
		if (*pattern->facts[i])
			return 0;
	return inifile_fault(ini, section->line, fault,
		"[platform] lacks a key to recognise the machine by: "
		"vendor, family, model, stepping, cpu, implementer or part.");
}

static int read_further_term(const struct inifile *ini, const struct inifile_section *section,
	struct platform_metric *metric, struct fault *fault)
{
	static const char *const required[] = { "pmu", "event", "bytes", NULL };
	struct platform_term *term = &metric->terms[metric->n_terms];
	const struct inifile_group groups[] = {
		{ term_keys, ARRAY_SIZE(term_keys), term },
		{ further_keys, ARRAY_SIZE(further_keys), term },
	};
	int r;

	if (*metric->absent)
		return inifile_fault(ini, section->line, fault,
			"[%s] is a term of [%s], which is absent.", section->name, metric->name);
	if (metric->n_terms == PLATFORM_TERMS_MAX)
		return inifile_fault(ini, section->line, fault,
			"[%s] is one term too many: %s can have %d.", section->name, metric->name,
			PLATFORM_TERMS_MAX);
	metric->n_terms++;
	r = inifile_bind(ini, section, groups, ARRAY_SIZE(groups), fault);
	if (r < 0)
		return r;
	r = require(ini, section, required, fault);
	if (r < 0)
		return r;
	if (term->subtract && *term->optional)
		return inifile_fault(ini, section->line, fault,
			"[%s] is subtracted, so it cannot be optional: the rest would be too much.",
			section->name);
	if (term->subtract && *term->channel)
		return inifile_fault(ini, section->line, fault,
			"[%s] is subtracted, so its boxes cannot be channels.", section->name);
	return require_both(ini, section, "clock", "clock_ms", fault);
}

static int read_metric(const struct inifile *ini, const struct inifile_section *section,
	struct platform_metric *metric, struct fault *fault)
{
	static const char *const required[] = { "pmu", "event", "bytes", "source", "confidence",
		NULL };
	const struct inifile_group groups[] = {
		{ term_keys, ARRAY_SIZE(term_keys), &metric->terms[0] },
		{ metric_keys, ARRAY_SIZE(metric_keys), metric },
	};
	int r = inifile_bind(ini, section, groups, ARRAY_SIZE(groups), fault);

	if (r < 0)
		return r;
	if (*metric->absent && section->n > 1)
		return inifile_fault(ini, section->line, fault,
			"[%s] is absent, so it can have no other key.", section->name);
	if (*metric->absent)
		return 0;
	metric->n_terms = 1;
	r = require(ini, section, required, fault);
	if (r < 0)
		return r;
	return require_both(ini, section, "clock", "clock_ms", fault);
}

/* Does @text consist of @first, then any of @rest, and nothing up to @length? */
static bool is_word(const char *text, size_t length, const char *first, const char *rest)
{
	return length && strchr(first, *text) && 1 + strspn(text + 1, rest) >= length;
}

/* [a-z][a-z0-9]*(\.[a-z0-9]+)* */
static bool is_metric_name(const char *name)
{
	size_t length = strcspn(name, ".");

	if (!is_word(name, length, LOWER, LOWER DIGITS))
		return false;
	while (name[length]) {
		name += length + 1;
		length = strcspn(name, ".");
		if (!is_word(name, length, LOWER DIGITS, LOWER DIGITS))
			return false;
	}
	return true;
}

static struct platform_metric *find_metric(struct platform *platform, const char *name)
{
	for (unsigned i = 0; i < platform->n_metrics; i++)
		if (!strcmp(platform->metrics[i].name, name))
			return &platform->metrics[i];
	return NULL;
}

static int add_metric(const struct inifile *ini, const struct inifile_section *section,
	const char *name, struct platform *platform, struct fault *fault)
{
	struct platform_metric *metric = &platform->metrics[platform->n_metrics];

	if (platform->n_metrics == PAGE_METRICS_MAX)
		return inifile_fault(ini, section->line, fault,
			"[%s] is one metric too many: %d fit.", section->name, PAGE_METRICS_MAX);
	platform->n_metrics++;
	strcpy(metric->name, name);
	strcpy(metric->unit, "bytes");
	return read_metric(ini, section, metric, fault);
}

/* [name] begins a metric, [name/term] adds to one. */
static int read_section(const struct inifile *ini, const struct inifile_section *section,
	struct platform *platform, struct fault *fault)
{
	char name[INIFILE_NAME_MAX];
	const char *term = strchr(section->name, '/');
	struct platform_metric *metric;

	strcpy(name, section->name);
	name[strcspn(name, "/")] = '\0';
	if (!is_metric_name(name) || strlen(name) >= PAGE_NAME_MAX)
		return inifile_fault(ini, section->line, fault,
			"[%s] is neither [platform] nor a metric: names are like dram.read, "
			"of at most %d bytes.",
			section->name, PAGE_NAME_MAX - 1);
	if (!term)
		return add_metric(ini, section, name, platform, fault);
	if (!term[1] || term[1 + strspn(term + 1, LOWER DIGITS "-")])
		return inifile_fault(ini, section->line, fault,
			"[%s]: what follows the slash must be letters, digits and -.",
			section->name);
	metric = find_metric(platform, name);
	if (!metric)
		return inifile_fault(ini, section->line, fault,
			"[%s] is a further term: [%s] must come before it.", section->name, name);
	return read_further_term(ini, section, metric, fault);
}

/* [check.NAME] counts what [NAME] counts. */
static int require_checked(const struct inifile *ini, struct platform *platform,
	const struct platform_metric *metric, struct fault *fault)
{
	const char *name = metric->name + strlen(PLATFORM_CHECK);
	const struct platform_metric *checked;

	if (strncmp(metric->name, PLATFORM_CHECK, strlen(PLATFORM_CHECK)))
		return 0;
	checked = find_metric(platform, name);
	if (checked && !*checked->absent && !strcmp(checked->unit, metric->unit) &&
		strncmp(name, PLATFORM_CHECK, strlen(PLATFORM_CHECK)))
		return 0;
	return inifile_fault(ini, inifile_section(ini, metric->name)->line, fault,
		"[%s] is to be compared with [%s], which is not there, absent, itself a check, "
		"or of another unit.",
		metric->name, name);
}

static int read_sections(const struct inifile *ini, struct platform *platform,
	struct machine_pattern *pattern, struct fault *fault)
{
	const struct inifile_section *header = inifile_section(ini, "platform");
	int r;

	if (!header)
		return inifile_fault(ini, 0, fault, "there is no section [platform].");
	r = read_header(ini, header, platform, pattern, fault);
	for (unsigned i = 0; !r && i < ini->n_sections; i++)
		if (&ini->sections[i] != header)
			r = read_section(ini, &ini->sections[i], platform, fault);
	for (unsigned i = 0; !r && i < platform->n_metrics; i++)
		r = require_checked(ini, platform, &platform->metrics[i], fault);
	if (r < 0)
		return r;
	if (*platform->unsupported && platform->n_metrics)
		return inifile_fault(
			ini, header->line, fault, "an unsupported platform can have no metric.");
	if (!*platform->unsupported && !platform->n_metrics)
		return inifile_fault(ini, 0, fault, "there is no metric, for example [dram.read].");
	return 0;
}

int platform_file_load(const char *path, const char *name, struct platform **ret,
	struct machine_pattern *ret_pattern, struct fault *fault)
{
	_cleanup_(inifile_done) struct inifile ini = {};
	_cleanup_free_ struct platform *platform = NULL;
	struct machine_pattern pattern = {};
	int r = inifile_load(path, &ini, fault);

	if (r < 0)
		return r;
	platform = calloc(1, sizeof *platform);
	if (!platform)
		return fault_set(fault, -ENOMEM, "%s: out of memory.", path);
	strcpy(platform->name, name);
	strcpy(platform->path, ini.path);
	r = read_sections(&ini, platform, &pattern, fault);
	if (r < 0)
		return r;
	*ret = take_ptr(platform);
	*ret_pattern = pattern;
	return 0;
}
