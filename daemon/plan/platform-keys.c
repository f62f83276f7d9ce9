/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/plan/platform-file.h"

#include <errno.h>
#include <string.h>

#include "common/macro.h"
#include "common/number.h"
#include "common/unit.h"

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

static int parse_nodes(
	const struct inifile_key *key, const char *value, void *ret, struct fault *why)
{
	if (value[strspn(value, LOWER DIGITS "- |")] || !strchr(value, '|'))
		return fault_set(why, -EINVAL,
			"must be the channels of each NUMA node of a socket, like imc0 imc1 | "
			"imc2 imc3");
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

/* "{n}" is the box's number; other braces are errors. */
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

/* The text after a number such as "0x35"; NULL: there is no number. */
static const char *skip_number(const char *text)
{
	uint64_t number;

	return number_parse(text, 0, UINT64_MAX, &number);
}

/*
 * "event=0x35,umask=0xcc47ff01", and "edge" for "edge=1". Only format/ of the machine tells which
 * fields exist.
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

/* "rd_bytes_loc", and "rd_bytes_loc,root_port=0x3ff" with fields that the alias leaves open. */
static bool is_alias(const char *text)
{
	size_t length = strspn(text, UPPER LOWER DIGITS "_.-{}");

	if (text[length] && !(text[length] == ',' && is_raw(text + length + 1)))
		return false;
	return length && braces_pair(text);
}

static bool is_pfm(const char *text)
{
	return *text && !text[strcspn(text, " \t")] && braces_pair(text);
}

static bool (*const is_valid[EVENT_KINDS])(const char *text) = {
	[EVENT_SYSFS] = is_alias,
	[EVENT_RAW] = is_raw,
	[EVENT_PFM] = is_pfm,
};

static int parse_choice(const char *text, struct event_choice *ret, struct fault *why)
{
	for (unsigned kind = 0; kind < EVENT_KINDS; kind++) {
		const char *name = event_kind_name(kind), *rest = text + strlen(name) + 1;

		if (strncmp(text, name, strlen(name)) || text[strlen(name)] != ':')
			continue;
		if (!is_valid[kind](rest) || strlen(rest) >= sizeof ret->text)
			return fault_set(
				why, -EINVAL, "\"%.100s\" is not well formed; " KINDS, text);
		ret->kind = kind;
		strcpy(ret->text, rest);
		return 0;
	}
	return fault_set(why, -EINVAL, "\"%.100s\" is of no known kind; " KINDS, text);
}

static int parse_choices(
	const struct inifile_key *key, const char *value, void *ret, struct fault *why)
{
	struct event_choices choices = {};
	_cleanup_free_ char *text = strdup(value);
	char *rest = text, *one;

	(void)key;
	if (!text)
		return fault_set(why, -ENOMEM, "cannot be read: out of memory");
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

static int parse_bytes(
	const struct inifile_key *key, const char *value, void *ret, struct fault *why)
{
	uint32_t bytes = 0;
	int r = inifile_number(key, value, &bytes, why);

	if (r >= 0)
		*(struct scale *)ret = (struct scale){ bytes, 1 };
	return r;
}

static int parse_scale(
	const struct inifile_key *key, const char *value, void *ret, struct fault *why)
{
	int r = scale_parse(value, ret);

	(void)key;
	if (r == -ERANGE)
		return fault_set(why, -EINVAL,
			"must have parts of at most 32 bits when it is in its lowest terms");
	return r < 0 ? fault_set(why, r, "must be a number above 0, or a fraction like 64/9") : 0;
}

/* "yes" and "no" are the older way to say that there is a doubt. */
static int parse_doubt(
	const struct inifile_key *key, const char *value, void *ret, struct fault *why)
{
	if (!strcmp(value, "no"))
		return 0;
	if (!strcmp(value, "yes"))
		value = "Sources disagree on what a count is worth.";
	return inifile_text(key, value, ret, why);
}

/* --- keys --- */

#define ROW(name, parse, type, field, most, what)                                                  \
	{                                                                                          \
		NULL, name, parse, offsetof(struct type, field), 1, most, NULL, what               \
	}
#define ROW_TEXT(name, parse, type, field, what)                                                   \
	ROW(name, parse, type, field, sizeof((struct type *)NULL)->field - 1, what)
#define ROW_FACT(name, parse, fact)                                                                \
	ROW_TEXT(name, parse, platform, pattern.facts[fact], "compared with /proc/cpuinfo")

static const struct inifile_key header_keys[] = {
	ROW_TEXT("title", inifile_text, platform, title, "what a person calls the machine"),
	ROW_TEXT("nodes", parse_nodes, platform, nodes, "channels of each NUMA node"),
	ROW_TEXT("pmu_sockets", parse_pmu, platform, pmu_sockets, "globs over PMU names"),
	ROW_TEXT("pmu_per_socket", parse_pmu, platform, pmu_per_socket, "globs over PMU names"),
	ROW("standin", inifile_bool, platform, standin, 0, NULL),
	ROW("sweep_every_s", inifile_number, platform, sweep_every_s, 86400, "seconds"),
	ROW_TEXT("unsupported", inifile_text, platform, unsupported, "why nothing is counted"),
	ROW_FACT("vendor", inifile_text, MACHINE_VENDOR),
	ROW_FACT("family", parse_list, MACHINE_FAMILY),
	ROW_FACT("model", parse_list, MACHINE_MODEL),
	ROW_FACT("stepping", parse_list, MACHINE_STEPPING),
	ROW_FACT("cpu", inifile_text, MACHINE_CPU),
	ROW_FACT("implementer", parse_list, MACHINE_IMPLEMENTER),
	ROW_FACT("part", parse_list, MACHINE_PART),
	ROW("cpuless_node", inifile_bool, platform, pattern.cpuless_node, 0, NULL),
	ROW_FACT("cpuless_gib", parse_list, MACHINE_CPULESS_GIB),
	ROW_TEXT("with_pmu", parse_glob, platform, pattern.with_pmu, "glob over PMU names"),
	ROW_TEXT("without_pmu", parse_glob, platform, pattern.without_pmu, "glob over PMU names"),
};

/* The keys of every term: of @type, a metric with its first term or a further term. */
#define TERM_ROWS(type, term)                                                                      \
	ROW_TEXT("pmu", parse_pmu, type, term pmu, "glob over PMU names"),                         \
		ROW("event", parse_choices, type, term event, 0, NULL),                            \
		ROW("bytes", parse_bytes, type, term scale, PLATFORM_BYTES_MAX,                    \
			"bytes per count"),                                                        \
		ROW("scale", parse_scale, type, term scale, 0, NULL),                              \
		ROW_TEXT(                                                                          \
			"channel", parse_channel, type, term channel, "name of a memory channel"), \
		ROW("clock", parse_choices, type, term clock, 0, NULL),                            \
		ROW("clock_ms", inifile_number, type, term clock_ms, 10000, "milliseconds")

static const struct inifile_key further_keys[] = {
	TERM_ROWS(platform_term, ),
	ROW("subtract", inifile_bool, platform_term, subtract, 0, NULL),
	ROW_TEXT("optional", inifile_text, platform_term, optional,
		"what is not counted without such a PMU"),
};

static const struct inifile_key metric_keys[] = {
	TERM_ROWS(platform_metric, terms[0].),
	ROW_TEXT("absent", inifile_text, platform_metric, absent,
		"why the platform lacks this metric"),
	ROW_TEXT("partial", inifile_text, platform_metric, partial, "what is not counted"),
	ROW_TEXT("source", inifile_text, platform_metric, source, "where this is known from"),
	ROW_TEXT("measured", inifile_text, platform_metric, measured,
		"who compared it with a known traffic"),
	ROW("confidence", inifile_word, platform_metric, confidence, 0, "high|medium|low"),
	ROW_TEXT("uncalibrated", parse_doubt, platform_metric, uncalibrated, "why it is in doubt"),
	ROW_TEXT("uncalibrated_if_divided", inifile_text, platform_metric, uncalibrated_if_divided,
		"why it is in doubt"),
	ROW("opt_in", inifile_bool, platform_metric, is_opt_in, 0, NULL),
	ROW("unit", inifile_word, platform_metric, unit, 0, unit_names),
	{ NULL, "pmid", inifile_number, offsetof(struct platform_metric, pmid), PAGE_PMID_FIRST,
		PAGE_PMID_LAST, NULL, "the metric's number in PCP" },
};

const struct inifile_table platform_keys_of_header = { header_keys, ARRAY_SIZE(header_keys) };
const struct inifile_table platform_keys_of_metric = { metric_keys, ARRAY_SIZE(metric_keys) };
const struct inifile_table platform_keys_of_term = { further_keys, ARRAY_SIZE(further_keys) };
