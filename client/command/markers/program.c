/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/markers/program.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/macro.h"

extern char **environ;

/* --- in the command line --- */

static bool is_launcher(const char *word)
{
	static const char *const names[] = { "aprun", "chrt", "env", "flux", "hwloc-bind", "ibrun",
		"jsrun", "mpiexec", "mpiexec.hydra", "mpiexec.mpich", "mpiexec.openmpi", "mpirun",
		"mpirun.mpich", "mpirun.openmpi", "nice", "numactl", "orterun", "prterun", "prun",
		"setsid", "srun", "stdbuf", "taskset", "time", "timeout" };
	const char *slash = strrchr(word, '/');

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (strcmp(slash ? slash + 1 : word, names[i]) == 0)
			return true;
	return false;
}

/* As execvp(3) does; launchers also look into the working folder, after all others. */
static bool find_in_path(const char *word, char ret_path[PATH_MAX])
{
	const char *folder = strchr(word, '/') ? "" : getenv("PATH");

	for (size_t n; folder && *folder; folder += n + (folder[n] == ':')) {
		n = strcspn(folder, ":");
		snprintf(ret_path, PATH_MAX, "%.*s/%s", (int)n, folder, word);
		if (access(ret_path, X_OK) == 0)
			return true;
	}
	snprintf(ret_path, PATH_MAX, "%s", word);
	return access(ret_path, X_OK) == 0;
}

int program_find(char **command, char ret_path[PATH_MAX], struct elf_file *ret)
{
	const bool is_launched = is_launcher(*command);
	int r = -ENOENT;

	for (command += is_launched; *command; command++) {
		if (is_launcher(*command))
			continue;
		r = find_in_path(*command, ret_path) ? elf_file_open(ret_path, ret) : -ENOENT;
		if (r == 0 || !is_launched)
			return r;
	}
	return -ENOENT;
}

/* --- what another program prints --- */

static pid_t program_start(char *const command[], int out)
{
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int r;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	r = posix_spawnp(&pid, *command, &actions, NULL, command, environ);
	posix_spawn_file_actions_destroy(&actions);
	return r ? -1 : pid;
}

void program_each_line(
	char *const command[], void (*take)(char *line, void *argument), void *argument)
{
	_cleanup_file_ FILE *in = NULL;
	_cleanup_free_ char *line = NULL;
	size_t size_bytes = 0;
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return;
	pid = program_start(command, ends[1]);
	close(ends[1]);
	in = fdopen(ends[0], "r");
	while (in && getline(&line, &size_bytes, in) >= 0)
		take(line, argument);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* --- its libraries, as ldd(1) shows them --- */

struct libraries {
	void (*take)(const char *name, const char *path, void *argument);
	void *argument;
};

/* A line is "NAME => PATH (ADDRESS)", "NAME => not found" or "PATH (ADDRESS)". */
static void program_take_line(char *line, void *argument)
{
	const struct libraries *libraries = argument;
	char *name = line + strspn(line, " \t"), *arrow = strstr(line, " => "), *path, *end;

	path = arrow ? arrow + strlen(" => ") : name;
	end = strstr(path, " (");
	if (end)
		*end = '\0';
	if (arrow)
		*arrow = '\0';
	libraries->take(name, end && *path == '/' ? path : NULL, libraries->argument);
}

/* Without running it: "ld.so --list PROGRAM". The C libraries of glibc and musl know that. */
void program_each_library(const char *program, const char *loader,
	void (*take)(const char *name, const char *path, void *argument), void *argument)
{
	struct libraries libraries = { take, argument };

	program_each_line((char *[]){ (char *)loader, (char *)"--list", (char *)program, NULL },
		program_take_line, &libraries);
}
