/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/frame/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

void output_keep_apart(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	close(fd);
}

int output_check(FILE *out, const char *command, const char *name)
{
	int error = 0;

	if (fflush(out) == EOF)
		error = errno;
	else if (ferror(out)) /* an earlier write failed, and its errno is lost */
		error = EIO;
	if (!error)
		return 0;
	fprintf(stderr, "%s: cannot write to %s: %s.\n", command, name, strerror(error));
	clearerr(out);
	return -1;
}
