/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that gave functions of its own the names of libuncore's inner ones. */
#include <stdio.h>
#include <uncore.h>

static int calls;

int page_copy(void);
int wire_check(void);

int page_copy(void)
{
	return calls++;
}

int wire_check(void)
{
	return calls++;
}

int main(void)
{
	struct uncore *handle;

	uncore_open("/nonexistent/socket", &handle);
	printf("%d calls. %s\n", calls, uncore_error_text());
	return 0;
}
