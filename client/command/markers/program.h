/* SPDX-License-Identifier: BSD-3-Clause */
/* Which program a command runs, and which libraries ld.so loads for it. */
#pragma once

#include <limits.h>

#include "common/elf-file.h"

/*
 * The program of @command: the first word or, behind mpirun and others that launch programs, the
 * first one that is a program and launches none. -ENOENT: there is none; -ENOEXEC: it is a script,
 * or made for another machine. *@ret is for elf_file_done().
 */
int program_find(char **command, char ret_path[PATH_MAX], struct elf_file *ret);

/* Calls @take for each library that the program needs, also those that others need. @path: NULL if
 * it was not found. */
void program_each_library(const char *program, const char *loader,
	void (*take)(const char *name, const char *path, void *argument), void *argument);

/* Starts @command and takes each line that it prints to stdout. Without it there are none. */
void program_each_line(
	char *const command[], void (*take)(char *line, void *argument), void *argument);
