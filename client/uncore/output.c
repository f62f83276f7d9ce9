/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/uncore/output.h"

#include <errno.h>
#include <string.h>

int output_check(FILE *out, const char *command, const char *name)
{
	int error = 0;

	if (fflush(out) == EOF)
		error = errno;
	else if (ferror(out)) /* of an earlier write, whose errno is gone */
		error = EIO;
	if (!error)
		return 0;
	fprintf(stderr, "%s: cannot write to %s: %s.\n", command, name, strerror(error));
	clearerr(out);
	return -1;
}
