/* SPDX-License-Identifier: BSD-3-Clause */
/* The main() of programs that have none, because it is in an archive. */
#include "tests/harness/test.h"

int main(void)
{
	return run_cases(NULL, NULL);
}
