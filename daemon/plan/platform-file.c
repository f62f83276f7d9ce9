/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys that depend on each other are checked here, where their section is read. */
#include "daemon/plan/platform-file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "common/unit.h"

#define LOWER  "abcdefghijklmnopqrstuvwxyz"
#define DIGITS "0123456789"

static int require(const struct inifile *ini, const struct inifile_section *section,
	const char *const required[], struct fault *fault)
{
	for (; *required; required++)
		if (!inifile_entry(ini, section, *required))
			return inifile_fault(ini, section->line, fault, "[%s] lacks the key %s.",
				section->name, *required);
	return 0;
}

/* Refuses a section that has only one of two keys that belong together. */
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

/* What every term needs. `bytes` is the older name of `scale`. */
static int require_term(
	const struct inifile *ini, const struct inifile_section *section, struct fault *fault)
{
	static const char *const required[] = { "pmu", "event", NULL };
	bool has_bytes = inifile_entry(ini, section, "bytes");
	int r = require(ini, section, required, fault);

	if (r < 0)
		return r;
	if (has_bytes == !!inifile_entry(ini, section, "scale"))
		return inifile_fault(ini, section->line, fault,
			has_bytes ? "[%s] has both keys bytes and scale: one is enough."
				  : "[%s] lacks the key bytes, or scale.",
			section->name);
	return require_both(ini, section, "clock", "clock_ms", fault);
}

static int platform_file_read_header(const struct inifile *ini,
	const struct inifile_section *section, struct platform *platform, struct fault *fault)
{
	static const char *const required[] = { "title", NULL };
	struct machine_pattern *pattern = &platform->pattern;
	int r = inifile_bind(ini, section, &platform_keys_of_header, platform, fault);

	if (r >= 0)
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
	struct platform_term *term = &metric->terms[metric->n_terms];
	int r;

	if (*metric->absent)
		return inifile_fault(ini, section->line, fault,
			"[%s] is a term of [%s], which is absent.", section->name, metric->name);
	if (metric->n_terms == PLATFORM_TERMS_MAX)
		return inifile_fault(ini, section->line, fault,
			"[%s] is one term too many: %s can have %d.", section->name, metric->name,
			PLATFORM_TERMS_MAX);
	metric->n_terms++;
	r = inifile_bind(ini, section, &platform_keys_of_term, term, fault);
	if (r < 0)
		return r;
	if (term->subtract && *term->optional)
		return inifile_fault(ini, section->line, fault,
			"[%s] is subtracted, so it cannot be optional: the rest would be too much.",
			section->name);
	if (term->subtract && *term->channel)
		return inifile_fault(ini, section->line, fault,
			"[%s] is subtracted, so its boxes cannot be channels.", section->name);
	return require_term(ini, section, fault);
}

static int platform_file_read_metric(const struct inifile *ini,
	const struct inifile_section *section, struct platform_metric *metric, struct fault *fault)
{
	static const char *const required[] = { "source", "confidence", NULL };
	unsigned n_allowed; /* keys of an absent metric: it is the same on all nodes */
	int r = inifile_bind(ini, section, &platform_keys_of_metric, metric, fault);

	if (r < 0)
		return r;
	n_allowed = 1 + !!metric->pmid + !!inifile_entry(ini, section, "unit");
	if (*metric->absent && section->n > n_allowed)
		return inifile_fault(ini, section->line, fault,
			"[%s] is absent, so it can have no other key than unit and pmid.",
			section->name);
	if (*metric->absent)
		return 0;
	metric->n_terms = 1;
	r = require(ini, section, required, fault);
	return r < 0 ? r : require_term(ini, section, fault);
}

/* Are the first @length bytes of @text one character of @first and then only characters of
 * @rest? */
static bool platform_file_is_word(
	const char *text, size_t length, const char *first, const char *rest)
{
	return length && strchr(first, *text) && 1 + strspn(text + 1, rest) >= length;
}

/* [a-z][a-z0-9]*(\.[a-z0-9]+)* */
static bool is_metric_name(const char *name)
{
	size_t length = strcspn(name, ".");

	if (!platform_file_is_word(name, length, LOWER, LOWER DIGITS))
		return false;
	while (name[length]) {
		name += length + 1;
		length = strcspn(name, ".");
		if (!platform_file_is_word(name, length, LOWER DIGITS, LOWER DIGITS))
			return false;
	}
	return true;
}

static int platform_file_add_metric(const struct inifile *ini,
	const struct inifile_section *section, const char *name, struct platform *platform,
	struct fault *fault)
{
	struct platform_metric *metric = &platform->metrics[platform->n_metrics];

	if (platform->n_metrics == PLATFORM_METRICS_MAX)
		return inifile_fault(ini, section->line, fault,
			"[%s] is one metric too many: a file can have %d.", section->name,
			PLATFORM_METRICS_MAX);
	platform->n_metrics++;
	strcpy(metric->name, name);
	strcpy(metric->unit, UNIT_BYTES);
	return platform_file_read_metric(ini, section, metric, fault);
}

/* [name] begins a metric, [name/term] adds a term to it. */
static int platform_file_read_section(const struct inifile *ini,
	const struct inifile_section *section, struct platform *platform, struct fault *fault)
{
	char name[INIFILE_NAME_MAX];
	const char *term = strchr(section->name, '/');
	int found;

	strcpy(name, section->name);
	name[strcspn(name, "/")] = '\0';
	if (!is_metric_name(name) || strlen(name) >= PAGE_NAME_MAX)
		return inifile_fault(ini, section->line, fault,
			"[%s] is neither [platform] nor a metric: names are like dram.read, "
			"of at most %d bytes.",
			section->name, PAGE_NAME_MAX - 1);
	if (!term)
		return platform_file_add_metric(ini, section, name, platform, fault);
	if (!term[1] || term[1 + strspn(term + 1, LOWER DIGITS "-")])
		return inifile_fault(ini, section->line, fault,
			"[%s]: what follows the slash must be letters, digits and -.",
			section->name);
	found = platform_find_metric(platform, name);
	if (found < 0)
		return inifile_fault(ini, section->line, fault,
			"[%s] is a further term: [%s] must come before it.", section->name, name);
	return read_further_term(ini, section, &platform->metrics[found], fault);
}

/* [check.NAME] counts the same as [NAME]. */
static int require_checked(const struct inifile *ini, const struct platform *platform,
	const struct platform_metric *metric, struct fault *fault)
{
	const char *name = metric->name + strlen(PLATFORM_CHECK);
	const struct platform_metric *checked;
	int found;

	if (strncmp(metric->name, PLATFORM_CHECK, strlen(PLATFORM_CHECK)))
		return 0;
	found = platform_find_metric(platform, name);
	checked = found < 0 ? NULL : &platform->metrics[found];
	if (checked && !*checked->absent && !strcmp(checked->unit, metric->unit) &&
		strncmp(name, PLATFORM_CHECK, strlen(PLATFORM_CHECK)))
		return 0;
	return inifile_fault(ini, inifile_section(ini, metric->name)->line, fault,
		"[%s] is a check of [%s], but that metric does not exist, is absent, is itself a "
		"check, or has another unit.",
		metric->name, name);
}

static int require_own_pmid(const struct inifile *ini, const struct platform *platform,
	const struct platform_metric *metric, struct fault *fault)
{
	for (const struct platform_metric *other = platform->metrics; other < metric; other++)
		if (metric->pmid && other->pmid == metric->pmid)
			return inifile_fault(ini, inifile_section(ini, metric->name)->line, fault,
				"[%s] has pmid = %u as [%s] has: each metric needs a number of "
				"its own, on all nodes.",
				metric->name, metric->pmid, other->name);
	return 0;
}

static int read_sections(const struct inifile *ini, struct platform *platform, struct fault *fault)
{
	const struct inifile_section *header = inifile_section(ini, "platform");
	int r;

	if (!header)
		return inifile_fault(ini, 0, fault, "there is no section [platform].");
	r = platform_file_read_header(ini, header, platform, fault);
	for (unsigned i = 0; !r && i < ini->n_sections; i++)
		if (&ini->sections[i] != header)
			r = platform_file_read_section(ini, &ini->sections[i], platform, fault);
	for (unsigned i = 0; !r && i < platform->n_metrics; i++)
		r = require_checked(ini, platform, &platform->metrics[i], fault);
	for (unsigned i = 0; !r && i < platform->n_metrics; i++)
		r = require_own_pmid(ini, platform, &platform->metrics[i], fault);
	if (r < 0)
		return r;
	if (*platform->unsupported && platform->n_metrics)
		return inifile_fault(
			ini, header->line, fault, "an unsupported platform can have no metric.");
	if (!*platform->unsupported && !platform->n_metrics)
		return inifile_fault(ini, 0, fault, "there is no metric, for example [dram.read].");
	return 0;
}

int platform_file_load(
	const char *path, const char *name, struct platform **ret, struct fault *fault)
{
	_cleanup_(inifile_done) struct inifile ini = {};
	_cleanup_free_ struct platform *platform = NULL;
	int r = inifile_load(path, &ini, fault);

	if (r < 0)
		return r;
	platform = calloc(1, sizeof *platform);
	if (!platform)
		return fault_set(fault, -ENOMEM, "%s: out of memory.", path);
	strcpy(platform->name, name);
	strcpy(platform->path, ini.path);
	r = read_sections(&ini, platform, fault);
	if (r < 0)
		return r;
	*ret = take_ptr(platform);
	return 0;
}
