/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libinih as Debian builds it tells its handler no line numbers, splits a line of 200 bytes into
 * two, joins an indented line to the key above, and takes " ;" for the start of a comment. So each
 * line passes check_line() before libinih sees it; sections are noted there too, because libinih
 * reports none that are empty or come twice.
 */
#include "daemon/base/inifile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "common/number.h"
#include "daemon/base/text-file.h"

struct inifile_stream {
	FILE *file;
	struct inifile *ini;
	struct fault *fault;
	unsigned line;
	int error; /* once set, no further line is read */
};

int inifile_fault(
	const struct inifile *ini, unsigned line, struct fault *fault, const char *format, ...)
{
	char sentence[sizeof fault->text];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof sentence, format, args);
	va_end(args);
	if (!line)
		return fault_set(fault, -EINVAL, "%s: %s", ini->path, sentence);
	return fault_set(fault, -EINVAL, "%s:%u: %s", ini->path, line, sentence);
}

const struct inifile_section *inifile_section(const struct inifile *ini, const char *name)
{
	for (unsigned i = 0; i < ini->n_sections; i++)
		if (!strcmp(ini->sections[i].name, name))
			return &ini->sections[i];
	return NULL;
}

const struct inifile_entry *inifile_entry(
	const struct inifile *ini, const struct inifile_section *section, const char *key)
{
	for (unsigned i = 0; i < section->n; i++)
		if (!strcmp(ini->entries[section->first + i].key, key))
			return &ini->entries[section->first + i];
	return NULL;
}

/* --- lines --- */

static int add_section(struct inifile_stream *s, const char *name)
{
	const struct inifile_section *twin = inifile_section(s->ini, name);
	struct inifile_section *grown;

	if (twin)
		return inifile_fault(s->ini, s->line, s->fault,
			"second section [%s], the first is on line %u.", name, twin->line);

	grown = reallocarray(s->ini->sections, s->ini->n_sections + 1, sizeof *grown);
	if (!grown)
		return fault_set(s->fault, -ENOMEM, "%s: out of memory.", s->ini->path);
	s->ini->sections = grown;
	grown += s->ini->n_sections++;
	*grown = (struct inifile_section){ .line = s->line, .first = s->ini->n_entries };
	snprintf(grown->name, sizeof grown->name, "%s", name);
	return 0;
}

static int check_section(struct inifile_stream *s, const char *text)
{
	char name[INIFILE_NAME_MAX];
	size_t length = strcspn(text + 1, "]");
	const char *end = text + 1 + length;

	if (*end != ']' || end[1 + strspn(end + 1, " \t\r")])
		return inifile_fault(s->ini, s->line, s->fault,
			"a section is a line that holds [name] and nothing else.");
	if (!length || length >= sizeof name)
		return inifile_fault(s->ini, s->line, s->fault,
			"the name of a section must be 1 to %zu bytes.", sizeof name - 1);
	memcpy(name, text + 1, length);
	name[length] = '\0';
	return add_section(s, name);
}

static bool has_inline_comment(const char *line)
{
	for (const char *c = strchr(line, ';'); c; c = strchr(c + 1, ';'))
		if (c > line && isspace((unsigned char)c[-1]))
			return true;
	return false;
}

static int check_line(struct inifile_stream *s, const char *line)
{
	const char *start = line + strspn(line, " \t\r\f\v");

	if (!*start || *start == '#' || *start == ';')
		return 0;
	if (start > line)
		return inifile_fault(s->ini, s->line, s->fault,
			"indented: a value is one line, and a line starts in its first column.");
	if (has_inline_comment(line))
		return inifile_fault(s->ini, s->line, s->fault,
			"\" ;\" would start a comment: give the comment a line of its own.");
	if (*line == '[')
		return check_section(s, line);
	if (!strchr(line, '='))
		return inifile_fault(
			s->ini, s->line, s->fault, "neither [section] nor key = value.");
	return 0;
}

/* 1: *ret_line holds the next line without its newline; 0: end of file; negative: fault is set. */
static int read_line(struct inifile_stream *s, char *ret_line, int size)
{
	int c, n = 0;

	s->line++;
	while ((c = getc(s->file)) != EOF && c != '\n') {
		if (iscntrl(c) && !isspace(c))
			return inifile_fault(s->ini, s->line, s->fault,
				"byte 0x%02x: this is not a text file.", (unsigned)c);
		if (n == size - 1)
			return inifile_fault(s->ini, s->line, s->fault,
				"line of more than %d bytes: shorten it.", size - 1);
		ret_line[n++] = c;
	}
	if (ferror(s->file))
		return fault_set(s->fault, -errno, "Cannot read %s: %m.", s->ini->path);
	ret_line[n] = '\0';
	return c != EOF || n;
}

static char *next_line(char *buffer, int size, void *stream)
{
	struct inifile_stream *s = stream;
	int r = s->error;

	if (!r)
		r = read_line(s, buffer, size);
	if (r <= 0) {
		s->error = r;
		return NULL;
	}
	s->error = check_line(s, buffer);
	return s->error ? NULL : buffer;
}

/* --- entries --- */

static int check_entry(const struct inifile_stream *s, const char *key, const char *value)
{
	const struct inifile *ini = s->ini;
	const struct inifile_section *section;
	const struct inifile_entry *twin;

	if (!ini->n_sections)
		return inifile_fault(ini, s->line, s->fault,
			"%s stands before any section: put it below a [section].", key);
	if (!*key || strlen(key) >= INIFILE_NAME_MAX || strlen(value) >= INIFILE_BUFFER_MAX)
		return inifile_fault(ini, s->line, s->fault,
			"the name of a key must be 1 to %d bytes.", INIFILE_NAME_MAX - 1);
	section = &ini->sections[ini->n_sections - 1];
	twin = inifile_entry(ini, section, key);
	if (twin)
		return inifile_fault(ini, s->line, s->fault,
			"second %s in [%s], the first is on line %u.", key, section->name,
			twin->line);
	return 0;
}

/* Called by libinih after next_line() returned the line; 1: go on, 0: wrong. */
static int add_entry(void *stream, const char *section, const char *key, const char *value)
{
	struct inifile_stream *s = stream;
	struct inifile_entry *grown;

	(void)section; /* cut by libinih; ours is the last of the sections */
	s->error = check_entry(s, key, value);
	if (s->error)
		return 0;
	grown = reallocarray(s->ini->entries, s->ini->n_entries + 1, sizeof *grown);
	if (!grown) {
		s->error = fault_set(s->fault, -ENOMEM, "%s: out of memory.", s->ini->path);
		return 0;
	}
	s->ini->entries = grown;
	grown += s->ini->n_entries++;
	*grown = (struct inifile_entry){ .line = s->line };
	snprintf(grown->key, sizeof grown->key, "%s", key);
	snprintf(grown->value, sizeof grown->value, "%s", value);
	s->ini->sections[s->ini->n_sections - 1].n++;
	return 1;
}

int inifile_load(const char *path, struct inifile *ret, struct fault *fault)
{
	_cleanup_(inifile_done) struct inifile ini = {};
	_cleanup_close_ int fd = -1;
	_cleanup_file_ FILE *file = NULL;
	struct inifile_stream stream = { .ini = &ini, .fault = fault };
	int r;

	if (strlen(path) >= sizeof ini.path)
		return fault_set(fault, -ENAMETOOLONG,
			"The path of a file must be below %zu bytes: %s.", sizeof ini.path, path);
	strcpy(ini.path, path);
	fd = text_file_open(AT_FDCWD, path);
	if (fd == -EINVAL)
		return fault_set(fault, fd, "%s is no file that can be read.", path);
	if (fd < 0)
		return fault_set(fault, fd, "Cannot open %s: %s.", path, strerror(-fd));
	file = fdopen(fd, "r");
	if (!file)
		return fault_set(fault, -errno, "Cannot open %s: %m.", path);
	take_fd(&fd);
	stream.file = file;
	r = ini_parse_stream(next_line, &stream, add_entry, &stream);
	if (stream.error)
		return stream.error;
	if (r) /* check_line() lets nothing through that libinih dislikes; should it, say so */
		return inifile_fault(
			&ini, r > 0 ? r : 0, fault, "neither [section] nor key = value.");
	*ret = ini;
	ini.sections = NULL;
	ini.entries = NULL;
	return 0;
}

void inifile_done(struct inifile *ini)
{
	free(take_ptr(ini->sections));
	free(take_ptr(ini->entries));
	ini->n_sections = ini->n_entries = 0;
}

/* --- binding --- */

static bool applies(const struct inifile_key *key, const struct inifile_section *section)
{
	return !key->section || !strcmp(key->section, section->name);
}

static const struct inifile_key *find_key(
	const struct inifile_group *group, const struct inifile_section *section, const char *name)
{
	for (unsigned i = 0; i < group->n_keys; i++)
		if (applies(&group->keys[i], section) && !strcmp(group->keys[i].name, name))
			return &group->keys[i];
	return NULL;
}

static int unknown_key(const struct inifile *ini, const struct inifile_section *section,
	const struct inifile_entry *entry, const struct inifile_group groups[], unsigned n_groups,
	struct fault *fault)
{
	char known[256] = "";
	size_t length = 0;

	for (unsigned g = 0; g < n_groups; g++)
		for (unsigned i = 0; i < groups[g].n_keys; i++)
			if (applies(&groups[g].keys[i], section) && length < sizeof known)
				length += snprintf(known + length, sizeof known - length, "%s%s",
					length ? ", " : "", groups[g].keys[i].name);
	return inifile_fault(ini, entry->line, fault, "unknown key %s in [%s]; known are %s.",
		entry->key, section->name, known);
}

static int bind_entry(const struct inifile *ini, const struct inifile_section *section,
	const struct inifile_entry *entry, const struct inifile_group groups[], unsigned n_groups,
	struct fault *fault)
{
	struct fault why;

	for (unsigned g = 0; g < n_groups; g++) {
		const struct inifile_key *key = find_key(&groups[g], section, entry->key);

		if (!key)
			continue;
		if (key->parse(key, entry->value, (char *)groups[g].object + key->offset, &why) < 0)
			return inifile_fault(ini, entry->line, fault, "%s = %s: %s.", entry->key,
				entry->value, why.text);
		return 0;
	}
	return unknown_key(ini, section, entry, groups, n_groups, fault);
}

int inifile_bind(const struct inifile *ini, const struct inifile_section *section,
	const struct inifile_group groups[], unsigned n_groups, struct fault *fault)
{
	for (unsigned i = 0; i < section->n; i++) {
		const struct inifile_entry *entry = &ini->entries[section->first + i];
		int r = bind_entry(ini, section, entry, groups, n_groups, fault);

		if (r < 0)
			return r;
	}
	return 0;
}

/* --- values --- */

int inifile_text(
	const struct inifile_key *key, const char *value, void *ret_chars, struct fault *why)
{
	size_t length = strlen(value);

	if (length < key->minimum || length > key->maximum)
		return fault_set(why, -EINVAL, "must be %u to %u bytes (%s)", key->minimum,
			key->maximum, key->what);
	memcpy(ret_chars, value, length + 1);
	return 0;
}

int inifile_word(
	const struct inifile_key *key, const char *value, void *ret_chars, struct fault *why)
{
	size_t length = strlen(value);

	for (const char *word = key->what; word; word = strchr(word, '|')) {
		word += *word == '|';
		if (length && strcspn(word, "|") == length && !memcmp(word, value, length)) {
			memcpy(ret_chars, value, length + 1);
			return 0;
		}
	}
	return fault_set(why, -EINVAL, "must be one of %s", key->what);
}

static int parse_number(const char *value, int base, uint32_t *ret)
{
	uint64_t number;

	if (!number_parse_whole(value, base, UINT32_MAX, &number))
		return -EINVAL;
	*ret = (uint32_t)number;
	return 0;
}

int inifile_number(
	const struct inifile_key *key, const char *value, void *ret_u32, struct fault *why)
{
	uint32_t number;

	if (parse_number(value, 10, &number) < 0 || number < key->minimum || number > key->maximum)
		return fault_set(why, -EINVAL, "must be %u to %u (%s)", key->minimum, key->maximum,
			key->what);
	*(uint32_t *)ret_u32 = number;
	return 0;
}

int inifile_octal(
	const struct inifile_key *key, const char *value, void *ret_u32, struct fault *why)
{
	uint32_t number;

	if (parse_number(value, 8, &number) < 0 || number < key->minimum || number > key->maximum)
		return fault_set(why, -EINVAL, "must be %#o to %#o in octal (%s)", key->minimum,
			key->maximum, key->what);
	*(uint32_t *)ret_u32 = number;
	return 0;
}

int inifile_bool(
	const struct inifile_key *key, const char *value, void *ret_bool, struct fault *why)
{
	(void)key;
	if (strcmp(value, "yes") && strcmp(value, "no"))
		return fault_set(why, -EINVAL, "must be yes or no");
	*(bool *)ret_bool = !strcmp(value, "yes");
	return 0;
}
