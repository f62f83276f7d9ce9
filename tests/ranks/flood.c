/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flood N MIB living|ended|late: asks for N tables of teams that no other process has, and fills
 * MIB mebibytes of each. It holds a lock on those that live, and lets those that ended go at once.
 * Late means that they live, and that it fills none before it has all. Prints what each request
 * gave, 0 or a negative errno, and then waits for the end of its input.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/libuncore/team-call.h"
#include "tests/harness/program.h"

enum { LAYOUT = 7, TABLES_MOST = 1000, MIB = 1 << 20 };

static void fill(const struct team_table *table, uint64_t mib)
{
	int r = mib ? posix_fallocate(table->fd, 0, (off_t)mib * MIB) : 0;

	if (r)
		errx(1, "Cannot fill a table: %s", strerror(r));
}

static int ask(uint64_t number, uint64_t mib, bool lives, struct team_table *ret)
{
	char name[TEAM_NAME_BYTES];
	const struct team_wish wish = { .name = name, .layout = LAYOUT, .bytes = TEAM_BYTES_MAX };
	struct flock lock = { .l_type = F_WRLCK, .l_len = 1 };
	int r;

	snprintf(name, sizeof name, "flood-%d-%llu", getpid(), (unsigned long long)number);
	r = team_join(NULL, &wish, ret);
	if (r < 0)
		return r;
	fill(ret, mib);
	if (lives && fcntl(ret->fd, F_SETLK, &lock) < 0)
		err(1, "Cannot lock a table");
	if (!lives)
		team_table_done(ret);
	return 0;
}

int main(int argc, char *argv[])
{
	static struct team_table tables[TABLES_MOST];
	uint64_t n, mib;
	bool late, lives;

	if (argc != 4)
		errx(2, "flood N MIB living|ended|late");
	n = program_number(argv[1], TABLES_MOST);
	mib = program_number(argv[2], 160);
	late = !strcmp(argv[3], "late");
	lives = late || !strcmp(argv[3], "living");
	for (uint64_t i = 0; i < n; i++) {
		printf("%d\n", ask(i, late ? 0 : mib, lives, &tables[i]));
		fflush(stdout);
	}
	for (uint64_t i = 0; late && i < n; i++)
		fill(&tables[i], mib);
	puts("done");
	fflush(stdout);
	while (getchar() != EOF)
		;
	return 0;
}
