/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/plan/format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/macro.h"
#include "common/number.h"
#include "daemon/base/text-file.h"

static const char *const word_names[FORMAT_WORDS] = { "config", "config1", "config2" };

struct field {
	unsigned word;
	uint64_t mask;
	bool whole; /* "config=0x135": a whole word, not a value to be placed */
};

/* "0-7,32-57" */
static bool parse_ranges(const char *text, uint64_t *ret_mask)
{
	uint64_t mask = 0, first, last;

	do {
		text = number_parse_range(text, 63, &first, &last);
		if (!text)
			return false;
		mask |= (~0ULL << first) & (~0ULL >> (63 - last));
	} while (*text++ == ',');
	*ret_mask = mask;
	return !text[-1];
}

static int word_named(const char *name, size_t length)
{
	for (int i = 0; i < FORMAT_WORDS; i++)
		if (strlen(word_names[i]) == length && !memcmp(word_names[i], name, length))
			return i;
	return -1;
}

static bool parse_field(const char *text, struct field *ret)
{
	const char *colon = strchr(text, ':');
	int word = colon ? word_named(text, colon - text) : -1;
	uint64_t mask;

	if (word < 0 || !parse_ranges(colon + 1, &mask))
		return false;
	*ret = (struct field){ .word = word, .mask = mask };
	return true;
}

/* Adds every field of format/ to @union_of. A field that cannot be parsed covers nothing. */
static int unite_fields(const struct pmu *pmu, uint64_t union_of[FORMAT_WORDS], struct fault *fault)
{
	_cleanup_(directory_close) DIR *folder = NULL;
	const struct dirent *entry;
	char text[PMU_VALUE_MAX];
	struct field field;
	int r = directory_open(pmu->directory_fd, "format", &folder);

	if (r < 0)
		return fault_set(fault, r, "format/ cannot be read: %s", strerror(-r));
	while ((entry = readdir(folder)))
		if (entry->d_name[0] != '.' &&
			text_file_read(dirfd(folder), entry->d_name, text, sizeof text) == 0 &&
			parse_field(text, &field))
			union_of[field.word] |= field.mask;
	return 0;
}

bool format_is_file_name(const char *name)
{
	return name[0] && name[0] != '.' && !strchr(name, '/');
}

static int load_field(
	const struct pmu *pmu, const char *name, struct field *ret, struct fault *fault)
{
	uint64_t union_of[FORMAT_WORDS] = { 0 };
	char path[FORMAT_NAME_MAX], text[PMU_VALUE_MAX];
	int word = word_named(name, strlen(name));
	int r;

	if (word >= 0) {
		r = unite_fields(pmu, union_of, fault);
		if (r < 0)
			return r;
		*ret = (struct field){ .word = word, .mask = union_of[word], .whole = true };
		return 0;
	}
	if (!format_is_file_name(name) ||
		snprintf(path, sizeof path, "format/%s", name) >= (int)sizeof path)
		return fault_set(fault, -EINVAL, "\"%.32s\" is not the name of a field", name);
	r = text_file_read(pmu->directory_fd, path, text, sizeof text);
	if (r == -ENOENT)
		return fault_set(fault, r, "the PMU has no field \"%.32s\"", name);
	if (r < 0)
		return fault_set(fault, r, "%s cannot be read: %s", path, strerror(-r));
	if (!parse_field(text, ret))
		return fault_set(
			fault, -EINVAL, "%s says \"%.32s\", which is not understood", path, text);
	return 0;
}

/* Moves the lowest bit of @value to the lowest bit of @mask, and so on. */
static uint64_t scatter(uint64_t value, uint64_t mask)
{
	uint64_t bits = 0;

	for (; mask; mask &= mask - 1, value >>= 1)
		if (value & 1)
			bits |= mask & -mask;
	return bits;
}

static int place(struct encoding *encoding, const struct field *field, const char *name,
	uint64_t value, struct fault *fault)
{
	int width = __builtin_popcountll(field->mask);

	if (field->whole && (value & ~field->mask))
		return fault_set(fault, -ERANGE,
			"%s=0x%llx sets bits 0x%llx that no field of format/ covers", name,
			(unsigned long long)value, (unsigned long long)(value & ~field->mask));
	if (!field->whole && width < 64 && value >> width)
		return fault_set(fault, -ERANGE, "%s=0x%llx does not fit its %d bits", name,
			(unsigned long long)value, width);
	if (encoding->taken[field->word] & field->mask)
		return fault_set(
			fault, -EINVAL, "%s overlaps a field that was given before it", name);
	encoding->taken[field->word] |= field->mask;
	encoding->word[field->word] |= field->whole ? value : scatter(value, field->mask);
	return 0;
}

/* "umask=0x0f", or "edge", which is short for "edge=1". Cuts @term in two. */
static int encode_term(
	const struct pmu *pmu, char *term, struct encoding *encoding, struct fault *fault)
{
	char *equals = strchr(term, '=');
	uint64_t value = 1;
	struct field field;
	int r;

	if (equals)
		*equals = '\0';
	if (equals && !number_parse_whole(equals + 1, 0, UINT64_MAX, &value))
		return fault_set(fault, -EINVAL,
			"%.32s has the value \"%.24s\", which is not a number", term, equals + 1);
	r = load_field(pmu, term, &field, fault);
	return r < 0 ? r : place(encoding, &field, term, value, fault);
}

int format_encode(
	const struct pmu *pmu, const char *text, struct encoding *encoding, struct fault *fault)
{
	char copy[PMU_VALUE_MAX], *rest = copy, *term;
	int r = 0;

	if (snprintf(copy, sizeof copy, "%s", text) >= (int)sizeof copy)
		return fault_set(fault, -EFBIG, "its text is too long");
	while (r >= 0 && (term = strsep(&rest, ",")))
		r = encode_term(pmu, term, encoding, fault);
	return r;
}

int format_encode_words(const struct pmu *pmu, const uint64_t words[], unsigned n,
	struct encoding *encoding, struct fault *fault)
{
	struct field field = { .whole = true };
	uint64_t union_of[FORMAT_WORDS] = { 0 };
	int r;

	if (n > FORMAT_WORDS)
		return fault_set(fault, -E2BIG, "it needs %u registers", n);
	r = unite_fields(pmu, union_of, fault);
	for (unsigned i = 0; r >= 0 && i < n; i++) {
		field.word = i;
		field.mask = union_of[i];
		r = place(encoding, &field, word_names[i], words[i], fault);
	}
	return r;
}
