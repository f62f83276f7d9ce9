/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * replay FOLDER: gives every file of a corpus to the fuzz target that it is linked with. A fault in
 * a target ends the process, and the last line names the file.
 */
#include <dirent.h>
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "common/macro.h"
#include "tests/fuzz/target.h"

static int is_input(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void replay(const char *path)
{
	_cleanup_file_ FILE *file = fopen(path, "r");
	_cleanup_free_ uint8_t *data = NULL;
	struct stat status;

	if (!file || fstat(fileno(file), &status) < 0)
		err(1, "Cannot open %s", path);
	/*
	 * the memory is exactly as large as the input, so that a sanitizer sees a read past its end
	 */
	data = malloc(status.st_size > 0 ? (size_t)status.st_size : 1);
	if (!data || fread(data, 1, (size_t)status.st_size, file) != (size_t)status.st_size)
		errx(1, "Cannot read %s.", path);
	printf("# %s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(data, (size_t)status.st_size);
}

int main(int argc, char *argv[])
{
	struct dirent **entries = NULL;
	int n;

	if (argc != 2)
		errx(2, "Usage: replay FOLDER");
	n = scandir(argv[1], &entries, is_input, alphasort);
	if (n < 0)
		err(1, "Cannot list %s", argv[1]);
	for (int i = 0; i < n; i++) {
		char path[4096];

		snprintf(path, sizeof path, "%s/%s", argv[1], entries[i]->d_name);
		replay(path);
		printf("ok %d - %s\n", i + 1, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	printf("1..%d\n", n);
	return n == 0;
}
