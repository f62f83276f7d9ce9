/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/records/parse.h"
#include "common/macro.h"

static int add_object(const struct json_value *object, struct record_list *list,
	char ret_why[JSON_READER_WHY_MAX])
{
	_cleanup_(record_done) struct record record = { .host = "" };
	int r = record_parse_object(object, &record, ret_why);

	if (r < 0)
		return r;
	r = record_list_add(list, &record);
	if (r < 0)
		snprintf(ret_why, JSON_READER_WHY_MAX, "has no room: %s", strerror(-r));
	return r;
}

/* Other JSON may be in files beside records, but not in a list of records. */
static int add_element(const struct json_value *element, size_t i, struct record_list *list,
	char ret_why[JSON_READER_WHY_MAX])
{
	char why[JSON_READER_WHY_MAX];
	int r = add_object(element, list, why);

	if (r < 0)
		snprintf(ret_why, JSON_READER_WHY_MAX, "is an array whose element %zu %.*s", i,
			JSON_READER_WHY_MAX - 64, why);
	return r == -ENOMSG && i ? -EBADMSG : r;
}

static int add_array(
	const struct json_value *array, struct record_list *list, char ret_why[JSON_READER_WHY_MAX])
{
	const struct json_value *element = array + 1;
	const uint32_t n_before = list->n;
	int r = 0;

	if (!array->n_inside) {
		snprintf(ret_why, JSON_READER_WHY_MAX, "is an array without records");
		return -ENOMSG;
	}
	for (uint32_t i = 0; i < array->n_inside && r == 0; i++) {
		r = add_element(element, i, list, ret_why);
		element = json_value_after(element);
	}
	if (r < 0)
		record_list_cut(list, n_before);
	return r;
}

int record_list_parse(char *text, struct record_list *list, char ret_why[JSON_READER_WHY_MAX])
{
	_cleanup_(json_text_done) struct json_text json;
	int r = record_parse_json(text, &json, ret_why);

	if (r < 0)
		return r;
	return json_value_kind(json.values) == JSON_LIST ? add_array(json.values, list, ret_why)
							 : add_object(json.values, list, ret_why);
}

/* --- from files --- */

int record_read_fd(int fd, size_t most_bytes, char **ret_text)
{
	_cleanup_free_ char *text = NULL;
	size_t size_bytes = 0, used = 0;
	struct stat status;
	ssize_t n;

	if (fstat(fd, &status) < 0)
		return -errno;
	do {
		if (used + 1 >= size_bytes) {
			char *larger;

			size_bytes = size_bytes ? 2 * size_bytes : (size_t)status.st_size + 4096;
			larger = realloc(text, size_bytes);
			if (!larger)
				return -ENOMEM;
			text = larger;
		}
		n = read(fd, text + used, size_bytes - used - 1);
		if (n < 0)
			return -errno;
		used += (size_t)n;
		if (used > most_bytes)
			return -EFBIG;
	} while (n);
	text[used] = '\0';
	for (size_t i = strlen(text); i < used; i += strlen(text + i))
		text[i] = '?'; /* a NUL would hide what follows */
	*ret_text = take_ptr(text);
	return 0;
}

/* Neither a FIFO nor a terminal may make the command wait. */
int record_read_text(const char *path, char **ret_text)
{
	_cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0)
		return -errno;
	if (S_ISDIR(status.st_mode))
		return -EISDIR;
	return record_read_fd(fd, RECORD_FILE_MOST_BYTES, ret_text);
}
