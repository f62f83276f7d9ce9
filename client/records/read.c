/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "client/records/parse.h"
#include "common/macro.h"

int record_read_fd(int fd, size_t most_bytes, char **ret_text)
{
	_cleanup_free_ char *text = NULL;
	size_t size_bytes = 0, used = 0;
	ssize_t n;

	do {
		if (used + 1 >= size_bytes) {
			char *larger;

			size_bytes = size_bytes ? 2 * size_bytes : 65536;
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
	for (size_t i = 0; i < used; i++)
		if (!text[i])
			text[i] = '?'; /* a NUL would hide what follows */
	text[used] = '\0';
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

int record_read(const char *path, struct record_list *list, char ret_why[JSON_READER_WHY_MAX])
{
	_cleanup_free_ char *text = NULL;
	int r = record_read_text(path, &text);

	if (r < 0) {
		snprintf(ret_why, JSON_READER_WHY_MAX, "cannot be read: %s", strerror(-r));
		return r;
	}
	return record_list_parse(text, list, ret_why);
}
