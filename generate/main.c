/* SPDX-License-Identifier: BSD-3-Clause */
/* generate page, or generate bash|zsh|fish PROGRAM */
#include <string.h>

#include "generate/generate.h"

static const struct {
	const char *name;
	void (*write)(const struct option_table *program);
} shells[] = {
	{ "bash", bash_write },
	{ "zsh", zsh_write },
	{ "fish", fish_write },
};

static bool generate_completions(const char *shell, const char *name)
{
	const struct option_table *program;
	size_t i = 0, n = 0;

	while (i < sizeof shells / sizeof *shells && strcmp(shells[i].name, shell) != 0)
		i++;
	while ((program = program_nth(n)) && strcmp(program->command, name) != 0)
		n++;
	if (i == sizeof shells / sizeof *shells || !program)
		return false;
	shells[i].write(program);
	return true;
}

int main(int argc, char **argv)
{
	bool good = argc == 3   ? generate_completions(argv[1], argv[2])
		    : argc == 2 ? strcmp(argv[1], "page") == 0 && man_page_write()
				: false;

	return good && fflush(stdout) == 0 ? 0 : 1;
}
