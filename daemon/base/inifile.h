/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * INI files: sections, and lines "key = value" below them. A line that begins with # or ; is a
 * comment; blanks at both ends of a line, of a key and of a value are ignored.
 *
 * A file is read completely into sections and entries, each with its line, and then bound to a
 * struct by a table of keys. Errors, reported with file and line, are: a section or key that occurs
 * twice, a key before any section, a line that is neither a section nor a key.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "daemon/base/fault.h"

enum { INIFILE_NAME_MAX = 50 }; /* bytes of a section or key name, with its NUL */

/* The strings point into inifile.text. */
struct inifile_entry {
	unsigned line;
	const char *key, *value;
};

struct inifile_section {
	unsigned line;
	const char *name;
	unsigned first, n; /* its entries */
};

struct inifile {
	char path[256];
	char *text; /* the whole file, cut into strings; owned */
	unsigned n_sections, n_entries;
	struct inifile_section *sections;
	struct inifile_entry *entries;
};

/* One row of a table of keys. */
struct inifile_key {
	const char *section; /* NULL: any */
	const char *name;
	/* Writes the field, or sets @why to "must be ..." and returns -EINVAL. */
	int (*parse)(
		const struct inifile_key *key, const char *value, void *ret, struct fault *why);
	size_t offset;             /* of the field */
	uint32_t minimum, maximum; /* of a number; of the length of a text */
	const char *fallback;      /* the value if the file has none; NULL: field is unchanged */
	const char *what;          /* "percent of one CPU"; inifile_word: "high|medium|low" */
};

/* The keys that a section may have. */
struct inifile_table {
	const struct inifile_key *keys;
	unsigned n_keys;
};

/* 0; errno of fopen(3) and read; -EINVAL. The caller owns *ret, for inifile_done(). */
int inifile_load(const char *path, struct inifile *ret, struct fault *fault);

void inifile_done(struct inifile *ini);

/* NULL: there is none. */
const struct inifile_section *inifile_section(const struct inifile *ini, const char *name);
const struct inifile_entry *inifile_entry(
	const struct inifile *ini, const struct inifile_section *section, const char *key);

/* Writes every entry of @section to its field of @object; a key that is not in @table is an error.
 * 0, -EINVAL. */
int inifile_bind(const struct inifile *ini, const struct inifile_section *section,
	const struct inifile_table *table, void *object, struct fault *fault);

/* Sets "FILE:LINE: sentence" (line 0: "FILE: sentence"). Returns -EINVAL. */
int inifile_fault(const struct inifile *ini, unsigned line, struct fault *fault, const char *format,
	...) __attribute__((format(printf, 4, 5)));

/* The usual kinds of value, for inifile_key.parse. */
int inifile_text(
	const struct inifile_key *key, const char *value, void *ret_chars, struct fault *why);
int inifile_word(
	const struct inifile_key *key, const char *value, void *ret_chars, struct fault *why);
int inifile_number(
	const struct inifile_key *key, const char *value, void *ret_u32, struct fault *why);
int inifile_octal(
	const struct inifile_key *key, const char *value, void *ret_u32, struct fault *why);
int inifile_bool(
	const struct inifile_key *key, const char *value, void *ret_bool, struct fault *why);
