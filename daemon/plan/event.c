/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An event is a list of terms "field=value". format/ says which bits of which config word a field
 * owns ("config:8-15,32-57"): the bits of the value go there from the lowest up, as perf(1) does
 * it (kernel 6.12, tools/perf/util/pmu.c, pmu_format_value()). Whatever the source of an event,
 * it ends as such terms or is compared with the union of all fields.
 */
#include "daemon/plan/event.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <perfmon/pfmlib.h>
#include <stdbool.h>
#include <string.h>

#include "common/macro.h"
#include "common/number.h"
#include "daemon/base/fault.h"
#include "daemon/base/text-file.h"

enum { WORDS = 3, NAME_MAX_BYTES = 64, TEXT_MAX_BYTES = 128 };

static const char *const word_names[WORDS] = { "config", "config1", "config2" };

struct field {
	unsigned word;
	uint64_t mask;
	bool whole; /* "config=0x135": a word as it is, not a value to be placed */
};

struct encoding {
	uint64_t word[WORDS];
	uint64_t taken[WORDS]; /* bits owned by the fields given so far */
};

static void close_directory(DIR **directory)
{
	if (*directory)
		closedir(*directory);
}

/* --- format/ --- */

/* "0-7,32-57" */
static bool parse_ranges(const char *text, uint64_t *ret_mask)
{
	uint64_t mask = 0;
	uint64_t first = 0, last;

	for (;;) {
		text = number_parse(text, 10, 63, &first);
		last = first;
		if (text && *text == '-')
			text = number_parse(text + 1, 10, 63, &last);
		if (!text || first > last)
			return false;
		mask |= (~0ULL << first) & (~0ULL >> (63 - last));
		if (*text == '\0')
			break;
		if (*text++ != ',')
			return false;
	}
	*ret_mask = mask;
	return true;
}

static int word_named(const char *name, size_t length)
{
	for (int i = 0; i < WORDS; i++)
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

/* Adds every field of format/ to @union_of. What cannot be parsed covers nothing. */
static int unite_fields(const struct pmu *pmu, uint64_t union_of[WORDS], struct fault *fault)
{
	int fd = openat(pmu->directory_fd, "format", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	_cleanup_(close_directory) DIR *directory = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	char text[PMU_VALUE_MAX];
	struct field field;
	int error = errno;

	if (!directory) {
		close_fd(&fd);
		return fault_set(fault, -error, "format/ cannot be read: %s", strerror(error));
	}
	while ((entry = readdir(directory)))
		if (entry->d_name[0] != '.' &&
			text_file_read(fd, entry->d_name, text, sizeof text) == 0 &&
			parse_field(text, &field))
			union_of[field.word] |= field.mask;
	return 0;
}

static bool is_file_name(const char *name)
{
	return name[0] && name[0] != '.' && !strchr(name, '/');
}

static int load_field(
	const struct pmu *pmu, const char *name, struct field *ret, struct fault *fault)
{
	uint64_t union_of[WORDS] = { 0 };
	char path[NAME_MAX_BYTES], text[PMU_VALUE_MAX];
	int word = word_named(name, strlen(name));
	int r;

	if (word >= 0) {
		r = unite_fields(pmu, union_of, fault);
		if (r < 0)
			return r;
		*ret = (struct field){ .word = word, .mask = union_of[word], .whole = true };
		return 0;
	}
	if (!is_file_name(name) ||
		snprintf(path, sizeof path, "format/%s", name) >= (int)sizeof path)
		return fault_set(fault, -EINVAL, "\"%.32s\" is no name of a field", name);
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

/* --- terms --- */

/* The lowest bit of @value to the lowest bit of @mask, and so on. */
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
			"%.32s has the value \"%.24s\", which is no number", term, equals + 1);
	r = load_field(pmu, term, &field, fault);
	return r < 0 ? r : place(encoding, &field, term, value, fault);
}

static int encode_terms(
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

/* --- sysfs: the kernel's aliases --- */

static const struct {
	const char *name;
	double bytes;
} units[] = {
	{ "Bytes", 1 },
	{ "B", 1 },
	{ "KiB", 1 << 10 },
	{ "MiB", 1 << 20 },
	{ "GiB", 1 << 30 },
	{ "KB", 1e3 },
	{ "MB", 1e6 },
	{ "GB", 1e9 },
};

/* 0: *ret is the file's text; or there is no such file, and *ret is "". */
static int read_beside(const struct pmu *pmu, const char *alias, const char *suffix,
	char ret[NAME_MAX_BYTES], struct fault *fault)
{
	char path[2 * TEXT_MAX_BYTES];
	int r;

	ret[0] = '\0';
	snprintf(path, sizeof path, "events/%s.%s", alias, suffix);
	r = text_file_read(pmu->directory_fd, path, ret, NAME_MAX_BYTES);
	if (r == -ENOENT || r == -ENODATA)
		return 0;
	return r < 0 ? fault_set(fault, r, "its .%s cannot be read: %s", suffix, strerror(-r)) : 0;
}

/*
 * Without a unit the scale is a mere factor, such as the 256 by which the POWER9 nest divides what
 * it counts in MCS units: bytes per count must be a multiple of it. "1" states nothing.
 */
static bool agrees(double scale, const char *unit, uint32_t bytes, struct fault *fault)
{
	if (!unit[0]) {
		if (scale >= 1 && scale <= bytes && bytes % (uint32_t)scale == 0 &&
			(uint32_t)scale == scale)
			return true;
		fault_set(fault, 0, "its .scale %g, without a .unit, does not divide %u bytes",
			scale, bytes);
		return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		double stated = scale * units[i].bytes;

		if (strcmp(unit, units[i].name) != 0)
			continue;
		if (stated > bytes * 0.999 && stated < bytes * 1.001)
			return true;
		fault_set(fault, 0, "its .scale and .unit say %g bytes, the platform file %u",
			stated, bytes);
		return false;
	}
	fault_set(fault, 0, "its .unit \"%.24s\" is none of bytes", unit);
	return false;
}

static int check_scale(
	const struct pmu *pmu, const char *alias, uint32_t bytes, struct fault *fault)
{
	char scale_text[NAME_MAX_BYTES], unit[NAME_MAX_BYTES], *end;
	double scale = 1;
	int r = read_beside(pmu, alias, "scale", scale_text, fault);

	if (r >= 0)
		r = read_beside(pmu, alias, "unit", unit, fault);
	if (r < 0)
		return r;
	if (scale_text[0]) {
		scale = strtod(scale_text, &end);
		if (*end || !(scale > 0))
			return fault_set(
				fault, -EDOM, "its .scale \"%.24s\" is no factor", scale_text);
	}
	return agrees(scale, unit, bytes, fault) ? 0 : -EDOM;
}

static int encode_alias(const struct pmu *pmu, const char *name, uint32_t bytes,
	struct encoding *encoding, struct fault *fault)
{
	char path[2 * TEXT_MAX_BYTES], text[PMU_VALUE_MAX];
	int r;

	if (!is_file_name(name))
		return fault_set(fault, -EINVAL, "that is no name of an event");
	snprintf(path, sizeof path, "events/%s", name);
	r = text_file_read(pmu->directory_fd, path, text, sizeof text);
	if (r == -ENOENT)
		return fault_set(fault, r, "the PMU has no such event");
	if (r < 0)
		return fault_set(fault, r, "it cannot be read: %s", strerror(-r));
	if (bytes) {
		r = check_scale(pmu, name, bytes, fault);
		if (r < 0)
			return r;
	}
	return encode_terms(pmu, text, encoding, fault);
}

static int encode_raw(const struct pmu *pmu, const char *text, uint32_t bytes,
	struct encoding *encoding, struct fault *fault)
{
	(void)bytes;
	return encode_terms(pmu, text, encoding, fault);
}

/* --- pfm: libpfm4 --- */

/*
 * Loaded when the first pfm: alternative is reached. Linked in, its event tables would cost every
 * uncored some 2 MiB: they are full of pointers that the loader must relocate (libpfm4 4.13).
 */
static struct {
	bool tried;
	const char *error; /* NULL: usable */
	__typeof__(pfm_initialize) *initialize;
	__typeof__(pfm_get_os_event_encoding) *encode;
	__typeof__(pfm_strerror) *strerror;
} pfm;

static const char *pfm_load(void)
{
	void *library = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return "libpfm.so.4 cannot be loaded";
	pfm.initialize = (__typeof__(pfm.initialize))dlsym(library, "pfm_initialize");
	pfm.encode = (__typeof__(pfm.encode))dlsym(library, "pfm_get_os_event_encoding");
	pfm.strerror = (__typeof__(pfm.strerror))dlsym(library, "pfm_strerror");
	if (!pfm.initialize || !pfm.encode || !pfm.strerror)
		return "libpfm.so.4 lacks a function";
	/* by itself libpfm4 encodes for the PMUs it finds, and it finds no uncore ones */
	if (setenv("LIBPFM_ENCODE_INACTIVE", "1", 1) < 0)
		return "there is no memory for its setting";
	return pfm.initialize() == PFM_SUCCESS ? NULL : "libpfm4 cannot be initialised";
}

static int encode_pfm(const struct pmu *pmu, const char *text, uint32_t bytes,
	struct encoding *encoding, struct fault *fault)
{
	pfm_pmu_encode_arg_t request = { .size = sizeof request };
	_cleanup_free_ uint64_t *codes = NULL;
	struct field field = { .whole = true };
	uint64_t union_of[WORDS] = { 0 };
	int r;

	(void)bytes;
	if (!pfm.tried)
		pfm.error = pfm_load();
	pfm.tried = true;
	if (pfm.error)
		return fault_set(fault, -ENOSYS, "%s", pfm.error);
	r = pfm.encode(text, 0, PFM_OS_NONE, &request);
	codes = request.codes;
	if (r != PFM_SUCCESS)
		return fault_set(fault, -ENOENT, "libpfm4 says \"%s\"", pfm.strerror(r));
	if (request.count > WORDS)
		return fault_set(fault, -E2BIG, "it needs %d registers", request.count);
	r = unite_fields(pmu, union_of, fault);
	for (int i = 0; r >= 0 && i < request.count; i++) {
		field.word = i;
		field.mask = union_of[i];
		r = place(encoding, &field, word_names[i], codes[i], fault);
	}
	return r;
}

/* --- the alternatives --- */

static const struct {
	const char *name;
	int (*encode)(const struct pmu *pmu, const char *text, uint32_t bytes,
		struct encoding *encoding, struct fault *fault);
} kinds[] = {
	[EVENT_SYSFS] = { "sysfs", encode_alias },
	[EVENT_RAW] = { "raw", encode_raw },
	[EVENT_PFM] = { "pfm", encode_pfm },
};

/* Fills in the box's number for every "{n}". */
static int expand(const char *text, int number, char ret[TEXT_MAX_BYTES], struct fault *fault)
{
	char expanded[TEXT_MAX_BYTES];
	size_t length = 0;
	int n;

	while (*text) {
		bool here = strncmp(text, "{n}", 3) == 0;

		if (here && number < 0)
			return fault_set(fault, -EINVAL, "the PMU's name has no number for {n}");
		n = here ? snprintf(expanded + length, sizeof expanded - length, "%d", number)
			 : snprintf(expanded + length, sizeof expanded - length, "%c", *text);
		length += n;
		if (length >= sizeof expanded)
			return fault_set(fault, -EFBIG, "its text is too long");
		text += here ? 3 : 1;
	}
	memcpy(ret, expanded, length);
	ret[length] = '\0';
	return 0;
}

static int encode_choice(const struct pmu *pmu, const struct event_choice *choice, uint32_t bytes,
	struct event_code *ret, struct fault *fault)
{
	struct encoding encoding = { 0 };
	char text[TEXT_MAX_BYTES];
	int r = expand(choice->text, pmu->number, text, fault);

	if (r >= 0)
		r = kinds[choice->kind].encode(pmu, text, bytes, &encoding, fault);
	if (r < 0)
		return r;
	*ret = (struct event_code){
		.config = encoding.word[0],
		.config1 = encoding.word[1],
		.config2 = encoding.word[2],
	};
	snprintf(ret->via, sizeof ret->via, "%s:%.116s", kinds[choice->kind].name, text);
	return 0;
}

int event_encode(const struct pmu *pmu, const struct event_choices *choices, uint32_t bytes,
	struct event_code *ret, char why[PAGE_TEXT_MAX])
{
	char reasons[PAGE_TEXT_MAX] = "";
	struct fault fault;
	size_t length = 0;
	int r = -ENOENT;

	/* Where kernel and platform file disagree on the bytes, no other name makes them right. */
	for (unsigned i = 0; i < choices->n && r != -EDOM; i++) {
		const struct event_choice *choice = &choices->choice[i];

		r = encode_choice(pmu, choice, bytes, ret, &fault);
		if (r == 0) {
			memcpy(ret->tried, reasons, sizeof reasons);
			return 0;
		}
		if (length < sizeof reasons)
			length += snprintf(reasons + length, sizeof reasons - length, "%s%s:%s: %s",
				i ? "; " : "", kinds[choice->kind].name, choice->text, fault.text);
	}
	snprintf(why, PAGE_TEXT_MAX, "%s", choices->n ? reasons : "no event is given");
	return r == -EDOM ? r : -ENOENT;
}
