/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a report goes: which report it replaces, and that processes that write at once lose none.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/report/report-head.h"
#include "client/report/report-place.h"
#include "common/macro.h"
#include "tests/harness/test.h"

enum { NOBODY = 65534 };
static const uint64_t SECOND_NS = 1000000000;

/* In place of libc's: a file system may have no links. */
static bool has_links = true;

int link(const char *from, const char *to)
{
	if (has_links)
		return (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
	errno = EPERM;
	return -1;
}

static char folder[] = "/tmp/uncore-test-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
	strcpy(folder, "/tmp/uncore-test-XXXXXX");
	if (!mkdtemp(folder) || chmod(folder, 0777) < 0)
		return -1;
	snprintf(path, sizeof path, "%s/report.json", folder);
	return remember_descriptors(state);
}

/* Removes all files; there must be @n. */
static void clear(unsigned n)
{
	DIR *directory = opendir(folder);
	struct dirent *entry;
	char name[512];
	unsigned found = 0;

	assert_non_null(directory);
	while ((entry = readdir(directory)))
		if (*entry->d_name != '.' || strlen(entry->d_name) > 2) {
			snprintf(name, sizeof name, "%s/%s", folder, entry->d_name);
			unlink(name);
			found++;
		}
	closedir(directory);
	assert_int_equal(found, n);
}

static int remove_folder(void **state)
{
	clear(0);
	return rmdir(folder) < 0 ? -1 : compare_descriptors(state);
}

#define IN_FOLDER(sentence) CASE_WITHIN(sentence, make_folder, remove_folder)

/* --- reports --- */

struct shape {
	const char *host, *step; /* step NULL: none */
	unsigned run, pid;       /* pid 0: of a team */
	uint64_t begun_s, ended_s;
};

static char *text_of(const struct shape *shape, unsigned mark)
{
	char times[128], step[64] = "null", pid[16] = "null";
	char *text;

	if (shape->step)
		snprintf(step, sizeof step, "\"%s\"", shape->step);
	if (shape->pid)
		snprintf(pid, sizeof pid, "%u", shape->pid);
	snprintf(times, sizeof times,
		"\n  \"begun_ns\":%llu000000000,\n  \"ended_ns\":%llu000000000",
		(unsigned long long)shape->begun_s, (unsigned long long)shape->ended_s);
	assert_true(asprintf(&text,
			    "{\n  \"schema\":1,\n  \"note\":\"a \\\"quoted\\\" \\n  {[\",\n"
			    "  \"nested\":{\n    \"step\":\"wrong\",\n    \"uid\":1\n  },\n"
			    "  \"pid\":%s,\n  \"host\":\"%s\",\n  \"step\":%s,\n  \"run\":%u,%s,\n"
			    "  \"mark\":%u\n}",
			    pid, shape->host, step, shape->run, times, mark) > 0);
	return text;
}

/* Returns which name it got: 1 is the first. */
static unsigned place_since(const struct shape *shape, unsigned mark, uint64_t since_ns)
{
	_cleanup_free_ char *text = text_of(shape, mark), *elsewhere = NULL;

	assert_int_equal(report_place(path, text, since_ns, &elsewhere), 0);
	if (!elsewhere)
		return 1;
	assert_memory_equal(elsewhere, path, strlen(path));
	assert_int_equal(elsewhere[strlen(path)], '.');
	return (unsigned)strtoul(elsewhere + strlen(path) + 1, NULL, 10);
}

static unsigned place(const struct shape *shape, unsigned mark)
{
	return place_since(shape, mark, UINT64_MAX);
}

/* Which report has the @n-th name. */
static unsigned mark_at(unsigned n)
{
	char name[128], text[1024];
	const char *mark;
	FILE *file;

	snprintf(name, sizeof name, n > 1 ? "%s.%u" : "%s", path, n);
	file = fopen(name, "re");
	assert_non_null(file);
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	mark = strstr(text, "\"mark\":");
	assert_non_null(mark);
	return (unsigned)strtoul(mark + strlen("\"mark\":"), NULL, 10);
}

/* --- which is replaced --- */

static const struct shape team = { "n1", "own/a", 1, 0, 100, 200 };

static const struct {
	const char *what;
	struct shape first, second;
	bool is_replaced;
} cases[] = {
	{ "an earlier run of the team", { "n1", "own/a", 1, 0, 100, 200 },
		{ "n1", "own/a", 2, 0, 201, 300 }, true },
	{ "run 1 again, because the tables were lost", { "n1", "own/a", 1, 0, 100, 200 },
		{ "n1", "own/a", 1, 0, 201, 300 }, true },
	{ "the same run so far", { "n1", "own/a", 1, 0, 100, 200 },
		{ "n1", "own/a", 1, 0, 100, 300 }, true },
	{ "the same process so far", { "n1", NULL, 0, 7, 100, 200 }, { "n1", NULL, 0, 7, 100, 300 },
		true },
	{ "an earlier process", { "n1", NULL, 0, 7, 100, 200 }, { "n1", NULL, 0, 8, 201, 300 },
		true },
	{ "an earlier process, of a team", { "n1", NULL, 0, 7, 100, 200 },
		{ "n1", "own/a", 1, 0, 201, 300 }, true },
	{ "an earlier run without a name", { "n1", "own/run-1-2", 1, 0, 100, 200 },
		{ "n1", "own/run-3-4", 1, 0, 201, 300 }, true },
	{ "a process of the step that is alone", { "n1", "own/a", 0, 7, 150, 160 },
		{ "n1", "own/a", 1, 0, 100, 200 }, false },
	{ "two of them", { "n1", "own/a", 0, 7, 100, 200 }, { "n1", "own/a", 0, 8, 100, 200 },
		false },
	{ "the team of a process that is alone", { "n1", "own/a", 1, 0, 100, 200 },
		{ "n1", "own/a", 0, 7, 200, 300 }, false },
	{ "run 1 twice at once, because the tables were lost", { "n1", "own/a", 1, 0, 100, 200 },
		{ "n1", "own/a", 1, 0, 150, 300 }, false },
	{ "two processes at once", { "n1", NULL, 0, 7, 100, 200 }, { "n1", NULL, 0, 8, 150, 300 },
		false },
	{ "two runs without a name at once", { "n1", "own/run-1-2", 1, 0, 100, 200 },
		{ "n1", "own/run-3-4", 1, 0, 150, 300 }, false },
	{ "another team", { "n1", "slurm/7.0", 1, 0, 100, 200 },
		{ "n1", "slurm/7.1", 1, 0, 201, 300 }, false },
	{ "a team, of a process", { "n1", "own/a", 1, 0, 100, 200 }, { "n1", NULL, 0, 7, 201, 300 },
		false },
	{ "another host", { "n1", "own/a", 1, 0, 100, 200 }, { "n2", "own/a", 1, 0, 201, 300 },
		false },
	{ "a clock that was set back", { "n1", "own/a", 1, 0, 100, 200 },
		{ "n1", "own/a", 2, 0, 50, 60 }, false },
};

IN_FOLDER("only an earlier run of the same step is replaced")
{
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const unsigned expected = cases[i].is_replaced ? 1 : 2;
		unsigned n;

		assert_int_equal(place(&cases[i].first, 1), 1);
		n = place(&cases[i].second, 2);
		if (n != expected)
			fail_msg("%s: name %u", cases[i].what, n);
		assert_int_equal(mark_at(n), 2);
		assert_int_equal(mark_at(1), cases[i].is_replaced ? 2 : 1);
		clear(expected);
	}
}

/* Then its team was there when the process that is alone was. */
IN_FOLDER("a program is there before its first region")
{
	const struct shape alone = { "n1", "own/a", 0, 7, 10, 20 };

	assert_int_equal(place(&alone, 1), 1);
	assert_int_equal(place_since(&team, 2, 15 * SECOND_NS), 2);
	assert_int_equal(place_since(&team, 3, 20 * SECOND_NS + 1), 1);
	clear(2);
}

IN_FOLDER("the next free name is taken")
{
	const struct shape later = { "n1", "own/a", 2, 0, 300, 400 };

	for (unsigned i = 1; i <= 12; i++) {
		const struct shape alone = { "n1", "own/a", 0, i, 100, 200 };

		assert_int_equal(place(&alone, i), i);
	}
	assert_int_equal(place(&later, 13), 1);
	for (unsigned i = 2; i <= 12; i++)
		assert_int_equal(mark_at(i), i);
	clear(12);
}

/* --- what else is there --- */

static void write_text(const char *name, const char *text)
{
	FILE *file = fopen(name, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	fclose(file);
}

IN_FOLDER("a file of something else stays")
{
	static const char *const texts[] = { "data", "[]", "{}", "{\"schema\":", "{\"schema\":1",
		"{\"schema\":1}", "[{\"schema\":1,\"begun_s\":1,\"ended_s\":2}]", "\"", "{\"\\",
		"{\n  \"schema\":1,\n  \"host\":\"n1\",\n  \"ended_ns\":2,\n  \"uid\":1000\n}" };
	/* The last one is of a job. */

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		write_text(path, texts[i]);
		if (place(&team, 1) != 2)
			fail_msg("%s is replaced", texts[i]);
		clear(2);
	}
}

/* As mktemp(1) makes it. One that is made now may be another process's. */
IN_FOLDER("an empty file from before is filled")
{
	struct shape now = team;
	struct stat status;

	write_text(path, "");
	assert_int_equal(place(&team, 1), 2);
	now.begun_s = (uint64_t)time(NULL) + 10;
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(place(&now, 2), 1);
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	clear(2);
}

IN_FOLDER("a link stays, and its file has the report")
{
	char target[64];
	struct stat status;

	snprintf(target, sizeof target, "%s/target", folder);
	assert_int_equal(symlink(target, path), 0);
	assert_int_equal(place(&team, 1), 1); /* the file is not there yet */
	assert_int_equal(place(&team, 2), 1);
	assert_int_equal(mark_at(1), 2);
	assert_true(lstat(path, &status) == 0 && S_ISLNK(status.st_mode));
	clear(2);
}

IN_FOLDER("what is not a file is written into")
{
	_cleanup_free_ char *text = text_of(&team, 1), *elsewhere = NULL;
	char told[1024] = "";
	int fd;

	assert_int_equal(report_place("/dev/null", text, 0, &elsewhere), 0);
	assert_null(elsewhere);
	assert_int_equal(report_place("/dev/full", text, 0, &elsewhere), -ENOSPC);
	assert_int_equal(report_place(folder, text, 0, &elsewhere), -EISDIR);
	assert_int_equal(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_int_equal(report_place(path, text, 0, &elsewhere), 0);
	assert_int_equal(read(fd, told, sizeof told), strlen(text) + 1);
	assert_memory_equal(told, text, strlen(text));
	close(fd);
	clear(1);
}

static void place_in_a_closed_folder(void)
{
	const struct shape later = { "n1", "own/a", 2, 0, 300, 400 };
	_cleanup_free_ char *text = text_of(&team, 2), *elsewhere = NULL;
	char other[64];

	if (geteuid() == 0)
		assert_int_equal(setuid(NOBODY), 0);
	assert_int_equal(report_place(path, text, 0, &elsewhere), -EEXIST);
	assert_int_equal(mark_at(1), 1);
	assert_int_equal(place(&later, 3), 1);
	assert_int_equal(mark_at(1), 3);
	snprintf(other, sizeof other, "%s/other", folder);
	assert_int_equal(report_place(other, text, 0, &elsewhere), -EACCES);
	_exit(0);
}

static void wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

IN_FOLDER("a file in a closed folder is replaced by the same rule")
{
	const struct shape before = { "n1", "own/a", 0, 7, 150, 160 };
	pid_t pid;

	assert_int_equal(place(&before, 1), 1);
	assert_int_equal(chmod(path, 0666), 0);
	assert_int_equal(chmod(folder, 0555), 0);
	pid = fork();
	if (pid == 0)
		place_in_a_closed_folder();
	wait_for(pid);
	assert_int_equal(chmod(folder, 0777), 0);
	clear(1);
}

/* --- at once --- */

enum { WRITERS = 12, ROUNDS = 20 };

/* All are of one step, and there is a report of an earlier run. */
static void write_at_once(void)
{
	const struct shape earlier = { "n1", "own/a", 1, 0, 10, 20 };
	unsigned seen = 0;
	pid_t pids[WRITERS];
	int gate[2];
	char byte;

	place(&earlier, WRITERS);
	assert_int_equal(pipe2(gate, O_CLOEXEC), 0);
	for (unsigned i = 0; i < WRITERS; i++) {
		const struct shape alone = { "n1", "own/a", 0, i + 1, 100, 200 };

		pids[i] = fork();
		if (pids[i] == 0) {
			close(gate[1]);
			if (read(gate[0], &byte, 1) == 0)
				place(&alone, i);
			_exit(0);
		}
	}
	close(gate[0]);
	close(gate[1]);
	for (unsigned i = 0; i < WRITERS; i++)
		wait_for(pids[i]);
	for (unsigned i = 1; i <= WRITERS; i++)
		seen |= 1U << mark_at(i);
	assert_int_equal(seen, (1U << WRITERS) - 1);
	clear(WRITERS);
}

IN_FOLDER("processes that write at once lose none")
{
	for (int i = 0; i < ROUNDS; i++)
		write_at_once();
}

IN_FOLDER("nor do they where there are no links")
{
	has_links = false;
	for (int i = 0; i < ROUNDS; i++)
		write_at_once();
	has_links = true;
}
