/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the variables that load modules. With -DCALL it also calls this function of a library. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#ifdef CALL
int CALL(const char *name);
#endif
#ifdef TEXT
const char *volatile text = TEXT;
#endif

extern char **environ;

int main(void)
{
	/* The names themselves would be seen as what the program carries. */
	for (char **entry = environ; *entry; entry++)
		if (strstr(*entry, "libuncore-") || strncmp(*entry, "UNCORE_M", 8) == 0)
			puts(*entry);
#ifdef CALL
	return CALL("a");
#else
	return 0;
#endif
}
