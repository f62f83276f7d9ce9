/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/inifile.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/array.h"
#include "common/macro.h"
#include "common/number.h"
#include "common/text.h"
#include "daemon/base/text-file.h"

#define BLANKS " \t\r\f\v"

enum {
	FILE_MAX_BYTES = 1 << 20,
	SHOWN_BYTES = 100 /* of a wrong value: the reason must fit, too */
};

/* A file that is being read. */
struct file_reading {
	struct inifile *ini;
	unsigned line;
	struct fault *fault;
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

/* Cuts off the blanks at both ends of @text. */
static char *strip(char *text)
{
	size_t length;

	text += strspn(text, BLANKS);
	length = strlen(text);
	while (length && strchr(BLANKS, text[length - 1]))
		length--;
	text[length] = '\0';
	return text;
}

static int check_bytes(const struct file_reading *reading, const char *line)
{
	for (const char *c = line; *c; c++)
		if (iscntrl((unsigned char)*c) && !isspace((unsigned char)*c))
			return inifile_fault(reading->ini, reading->line, reading->fault,
				"byte 0x%02x: this is not a text file.", (unsigned char)*c);
	return 0;
}

static int add_section(const struct file_reading *reading, const char *name)
{
	struct inifile *ini = reading->ini;
	const struct inifile_section *twin = inifile_section(ini, name);

	if (twin)
		return inifile_fault(ini, reading->line, reading->fault,
			"second section [%s], the first is on line %u.", name, twin->line);
	if (array_room(&ini->sections, ini->n_sections, sizeof *ini->sections) < 0)
		return fault_set(reading->fault, -ENOMEM, "%s: out of memory.", ini->path);
	ini->sections[ini->n_sections++] = (struct inifile_section){
		.line = reading->line, .name = name, .first = ini->n_entries
	};
	return 0;
}

/* "[name]" */
static int inifile_read_section(const struct file_reading *reading, char *line)
{
	size_t length = strcspn(line, "]");

	if (!line[length] || line[length + 1])
		return inifile_fault(reading->ini, reading->line, reading->fault,
			"a section is a line that holds [name] and nothing else.");
	if (length < 2 || length > INIFILE_NAME_MAX)
		return inifile_fault(reading->ini, reading->line, reading->fault,
			"the name of a section must be 1 to %d bytes.", INIFILE_NAME_MAX - 1);
	line[length] = '\0';
	return add_section(reading, line + 1);
}

static int inifile_add_entry(const struct file_reading *reading, const char *key, const char *value)
{
	struct inifile *ini = reading->ini;
	struct inifile_section *section = &ini->sections[ini->n_sections - 1];
	const struct inifile_entry *twin = inifile_entry(ini, section, key);

	if (twin)
		return inifile_fault(ini, reading->line, reading->fault,
			"second %s in [%s], the first is on line %u.", key, section->name,
			twin->line);
	if (array_room(&ini->entries, ini->n_entries, sizeof *ini->entries) < 0)
		return fault_set(reading->fault, -ENOMEM, "%s: out of memory.", ini->path);
	ini->entries[ini->n_entries++] = (struct inifile_entry){ reading->line, key, value };
	section->n++;
	return 0;
}

/* "key = value" */
static int inifile_read_entry(const struct file_reading *reading, char *line)
{
	char *equals = strchr(line, '=');
	const char *key;

	if (!equals)
		return inifile_fault(reading->ini, reading->line, reading->fault,
			"neither [section] nor key = value.");
	*equals = '\0';
	key = strip(line);
	if (!*key || strlen(key) >= INIFILE_NAME_MAX)
		return inifile_fault(reading->ini, reading->line, reading->fault,
			"the name of a key must be 1 to %d bytes.", INIFILE_NAME_MAX - 1);
	if (!reading->ini->n_sections)
		return inifile_fault(reading->ini, reading->line, reading->fault,
			"%s stands before any section: put it below a [section].", key);
	return inifile_add_entry(reading, key, strip(equals + 1));
}

static int inifile_read_line(const struct file_reading *reading, char *line)
{
	int r = check_bytes(reading, line);

	line = strip(line);
	if (r < 0 || !*line || *line == '#' || *line == ';')
		return r;
	return *line == '[' ? inifile_read_section(reading, line)
			    : inifile_read_entry(reading, line);
}

/* --- the file --- */

static int inifile_open_file(const char *path, FILE **ret, struct fault *fault)
{
	_cleanup_close_ int fd = text_file_open(AT_FDCWD, path);
	struct stat st;

	if (fd == -EINVAL)
		return fault_set(fault, fd, "%s cannot be read.", path);
	if (fd < 0)
		return fault_set(fault, fd, "Cannot open %s: %s.", path, strerror(-fd));
	if (fstat(fd, &st) < 0)
		return fault_set(fault, -errno, "Cannot open %s: %m.", path);
	if (st.st_size > FILE_MAX_BYTES)
		return fault_set(fault, -EINVAL,
			"%s has more than %d bytes, too many for such a file.", path,
			FILE_MAX_BYTES);
	*ret = fdopen(fd, "r");
	if (!*ret)
		return fault_set(fault, -errno, "Cannot open %s: %m.", path);
	take_fd(&fd);
	return 0;
}

/* Reads all of the file, up to the first NUL, which no text has. */
static int inifile_read_text(FILE *file, const struct file_reading *reading)
{
	struct inifile *ini = reading->ini;
	size_t size = 0;
	ssize_t n;

	errno = 0;
	n = getdelim(&ini->text, &size, '\0', file);
	if (n < 0 && errno)
		return fault_set(reading->fault, -errno, "Cannot read %s: %m.", ini->path);
	if (n > 0 && !ini->text[n - 1])
		return inifile_fault(ini, 0, reading->fault, "byte 0x00: this is not a text file.");
	return n < 0 ? 0 : 1;
}

int inifile_load(const char *path, struct inifile *ret, struct fault *fault)
{
	_cleanup_(inifile_done) struct inifile ini = {};
	_cleanup_file_ FILE *file = NULL;
	struct file_reading reading = { .ini = &ini, .fault = fault };
	char *rest, *line;
	int r;

	if (strlen(path) >= sizeof ini.path)
		return fault_set(fault, -ENAMETOOLONG,
			"The path of a file must be below %zu bytes: %s.", sizeof ini.path, path);
	strcpy(ini.path, path);
	r = inifile_open_file(path, &file, fault);
	if (r >= 0)
		r = inifile_read_text(file, &reading);
	rest = r > 0 ? ini.text : NULL;
	while (r >= 0 && (line = strsep(&rest, "\n"))) {
		reading.line++;
		r = inifile_read_line(&reading, line);
	}
	if (r < 0)
		return r;
	*ret = ini;
	ini = (struct inifile){};
	return 0;
}

void inifile_done(struct inifile *ini)
{
	free(take_ptr(ini->sections));
	free(take_ptr(ini->entries));
	free(take_ptr(ini->text));
	ini->n_sections = ini->n_entries = 0;
}

/* --- binding --- */

static bool applies(const struct inifile_key *key, const struct inifile_section *section)
{
	return !key->section || !strcmp(key->section, section->name);
}

/* A section, and the keys that it may have. */
struct binding {
	const struct inifile *ini;
	const struct inifile_section *section;
	const struct inifile_table *table;
};

static const struct inifile_key *find_key(const struct binding *b, const char *name)
{
	for (unsigned i = 0; i < b->table->n_keys; i++)
		if (applies(&b->table->keys[i], b->section) &&
			!strcmp(b->table->keys[i].name, name))
			return &b->table->keys[i];
	return NULL;
}

static int unknown_key(
	const struct binding *b, const struct inifile_entry *entry, struct fault *fault)
{
	char known[256] = "";

	for (unsigned i = 0; i < b->table->n_keys; i++)
		if (applies(&b->table->keys[i], b->section))
			text_append(known, sizeof known, "%s%s", *known ? ", " : "",
				b->table->keys[i].name);
	return inifile_fault(b->ini, entry->line, fault, "unknown key %s in [%s]; known are %s.",
		entry->key, b->section->name, known);
}

static int bind_entry(const struct binding *b, const struct inifile_entry *entry, char *object,
	struct fault *fault)
{
	const struct inifile_key *key = find_key(b, entry->key);
	struct fault why;

	if (!key)
		return unknown_key(b, entry, fault);
	if (key->parse(key, entry->value, object + key->offset, &why) < 0)
		return inifile_fault(b->ini, entry->line, fault, "%s = %.*s%s: %s.", entry->key,
			SHOWN_BYTES, entry->value, strlen(entry->value) > SHOWN_BYTES ? " ..." : "",
			why.text);
	return 0;
}

int inifile_bind(const struct inifile *ini, const struct inifile_section *section,
	const struct inifile_table *table, void *object, struct fault *fault)
{
	const struct binding b = { ini, section, table };

	for (unsigned i = 0; i < section->n; i++) {
		int r = bind_entry(&b, &ini->entries[section->first + i], object, fault);

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

static int inifile_take_number(
	const struct inifile_key *key, const char *value, int base, void *ret_u32)
{
	uint64_t number;

	if (!number_parse_whole(value, base, key->maximum, &number) || number < key->minimum)
		return -EINVAL;
	*(uint32_t *)ret_u32 = (uint32_t)number;
	return 0;
}

int inifile_number(
	const struct inifile_key *key, const char *value, void *ret_u32, struct fault *why)
{
	if (inifile_take_number(key, value, 10, ret_u32) == 0)
		return 0;
	return fault_set(why, -EINVAL, "must be %u to %u (%s)%s", key->minimum, key->maximum,
		key->what,
		isdigit((unsigned char)*value) && value[strspn(value, "0123456789")]
			? ", a number without a unit"
			: "");
}

int inifile_octal(
	const struct inifile_key *key, const char *value, void *ret_u32, struct fault *why)
{
	if (inifile_take_number(key, value, 8, ret_u32) == 0)
		return 0;
	return fault_set(why, -EINVAL, "must be %#o to %#o in octal (%s)", key->minimum,
		key->maximum, key->what);
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
