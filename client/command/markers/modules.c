/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/markers/modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/command/frame/command.h"
#include "client/command/markers/program.h"
#include "common/macro.h"

bool module_find(const char *name, char ret_path[PATH_MAX])
{
	static const char *const folders[] = { "markers", "heap", UNCORE_MODULES };
	char own[PATH_MAX / 2];
	ssize_t n = readlink("/proc/self/exe", own, sizeof own);

	while (n > 0 && own[n - 1] != '/')
		n--;
	for (size_t i = 0; n > 0 && i < ARRAY_SIZE(folders); i++) {
		snprintf(ret_path, PATH_MAX, "%.*s%s/libuncore-%s.so", (int)n, own, folders[i],
			name);
		if (access(ret_path, R_OK) == 0)
			return true;
	}
	return false;
}

void module_preload(const char *path)
{
	_cleanup_free_ char *all = NULL;
	const char *before = getenv("LD_PRELOAD");

	if (before && *before && asprintf(&all, "%s:%s", path, before) < 0)
		all = NULL;
	setenv("LD_PRELOAD", all ? all : path, 1);
}

int module_prepare_heap(char **command)
{
	char module[PATH_MAX], path[PATH_MAX];
	struct elf_file program;

	if (!module_find("heap", module)) {
		fprintf(stderr, "uncore run: --heap needs libuncore-heap.so, which is not "
				"installed. The job was not run.\n");
		return EXIT_FAILED;
	}
	if (program_find(command, path, &program) == 0) {
		if (!elf_file_loader(&program))
			fprintf(stderr,
				"uncore run: %s is a static program, which loads no module: "
				"--heap cannot see its arrays.\n",
				path);
		elf_file_done(&program);
	}
	module_preload(module);
	return -1;
}
