/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flood N MIB living|ended: asks for N tables of teams that no other process has, and fills MIB
 * mebibytes of each. It holds a lock on those that live, and lets those that ended go at once.
 * Prints what each request gave, 0 or a negative errno, and then waits for the end of its input.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/team-call.h"
#include "tests/harness/program.h"

enum { LAYOUT = 7, TABLES_MOST = 1000, MIB = 1 << 20 };

static void fill(const struct team_table *table, uint64_t mib)
{
	int r = mib ? posix_fallocate(table->fd, 0, (off_t)mib * MIB) : 0;

	if (r)
		errx(1, "Cannot fill a table: %s", strerror(r));
}

static int ask(uint64_t number, uint64_t mib, bool lives)
{
	char name[TEAM_NAME_BYTES];
	const struct team_wish wish = { .name = name, .layout = LAYOUT, .bytes = TEAM_BYTES_MAX };
	struct flock lock = { .l_type = F_WRLCK, .l_len = 1 };
	struct team_table table;
	int r;

	snprintf(name, sizeof name, "flood-%d-%llu", getpid(), (unsigned long long)number);
	r = team_join(NULL, &wish, &table);
	if (r < 0)
		return r;
	fill(&table, mib);
	if (lives && fcntl(table.fd, F_SETLK, &lock) < 0)
		err(1, "Cannot lock a table");
	if (!lives)
		team_table_done(&table);
	return 0;
}

int main(int argc, char *argv[])
{
	if (argc != 4 || (strcmp(argv[3], "living") != 0 && strcmp(argv[3], "ended") != 0))
		errx(2, "flood N MIB living|ended");
	for (uint64_t i = 0; i < program_number(argv[1], TABLES_MOST); i++) {
		printf("%d\n", ask(i, program_number(argv[2], 160), *argv[3] == 'l'));
		fflush(stdout);
	}
	while (getchar() != EOF)
		;
	return 0;
}
