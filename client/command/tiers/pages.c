/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/tiers/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "common/number.h"

enum { TIMES_LONGER = 100 }; /* from reading to reading, than one takes */

int pages_init(struct pages *ret, const char *root, const uint64_t pids[], unsigned n)
{
	*ret = (struct pages){ .root = root, .n = n, .all = calloc(n + 1, sizeof *ret->all) };
	for (unsigned i = 0; ret->all && i < n; i++)
		ret->all[i].pid = (pid_t)pids[i];
	return ret->all ? 0 : -ENOMEM;
}

void pages_done(struct pages *pages)
{
	free(take_ptr(pages->all));
}

/* How many pages @word, "N0=12", tells of. False: it is another word. */
static bool read_word(const char *word, uint64_t *ret_node, uint64_t *ret_n)
{
	const char *rest =
		*word == 'N' ? number_parse(word + 1, 10, NODE_NUMBERS - 1, ret_node) : NULL;

	return rest && *rest == '=' && number_parse_whole(rest + 1, 10, UINT32_MAX, ret_n);
}

/*
 * "7f00 default file=/lib/x mapped=3 N0=1 N1=2 kernelpagesize_kB=4". Names of files have neither
 * blanks nor newlines, since the kernel writes them as \040 and \012.
 */
static void pages_take_line(struct process *process, char *line)
{
	static const char SIZE[] = " kernelpagesize_kB=";
	const char *size = strstr(line, SIZE);
	uint64_t node, n, kib = 0;
	char *rest;

	if (!size || !number_parse(size + strlen(SIZE), 10, UINT32_MAX, &kib))
		return; /* it has no pages */
	for (char *word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
		if (!read_word(word, &node, &n))
			continue;
		process->bytes[node] += n * kib * 1024;
		if (kib * 1024 > (uint64_t)sysconf(_SC_PAGESIZE))
			process->huge_bytes += n * kib * 1024;
	}
}

static int pages_read_lines(FILE *file, struct process *process)
{
	_cleanup_free_ char *line = NULL;
	size_t size = 0;
	unsigned n = 0;

	for (errno = 0; getline(&line, &size, file) >= 0; n++)
		pages_take_line(process, line);
	return n ? 0 : errno ? -errno : -ESRCH; /* a zombie's is empty */
}

static bool pages_is_there(const char *root, const struct process *process)
{
	_cleanup_file_ FILE *file = node_open(root, "/proc/%d/stat", process->pid);

	return file;
}

static int read_maps(const char *root, struct process *process)
{
	_cleanup_file_ FILE *file = node_open(root, "/proc/%d/numa_maps", process->pid);
	int r = file ? 0 : -errno;

	if (r == -ENOENT) /* a kernel without NUMA has processes, but no such file */
		return pages_is_there(root, process) ? -ENOSYS : -ESRCH;
	memset(process->bytes, 0, sizeof process->bytes);
	process->huge_bytes = 0;
	return r == 0 ? pages_read_lines(file, process) : r;
}

bool pages_look(struct pages *pages, uint64_t now_ns)
{
	const uint64_t begun_ns = clock_now_ns();
	const bool is_due =
		!pages->read_ns || now_ns - pages->read_ns >= TIMES_LONGER * pages->took_ns;

	for (unsigned i = 0; i < pages->n; i++) {
		struct process *process = &pages->all[i];

		if (is_due && process->error != -ESRCH)
			process->error = read_maps(pages->root, process);
		else if (!pages_is_there(pages->root, process))
			process->error = -ESRCH;
	}
	if (!is_due)
		return false;
	pages->read_ns = now_ns;
	pages->took_ns = clock_now_ns() - begun_ns;
	return true;
}

bool pages_are_gone(const struct pages *pages)
{
	for (unsigned i = 0; i < pages->n; i++)
		if (!pages->all[i].error)
			return false;
	return pages->n;
}

void process_why(const struct process *process, char ret_text[PROCESS_WHY_MAX])
{
	const int error = process->error;

	snprintf(ret_text, PROCESS_WHY_MAX, "The pages of process %d cannot be read: %s.",
		process->pid,
		error == -ESRCH    ? "it has ended, or there is no such process here"
		: error == -EACCES ? "it belongs to another user, and only root may look"
		: error == -ENOSYS ? "this kernel was built without NUMA"
				   : strerror(-error));
}
