/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any page: page_check() must look at nothing beyond it, and whatever page it lets through can be
 * read as the library reads it. The page is on the heap, so that a sanitizer knows where it ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/internal.h"
#include "tests/fuzz/handle.h"
#include "tests/fuzz/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	_cleanup_free_ struct page_header *page = malloc(size_bytes ? size_bytes : 1);
	struct uncore_mark mark = { .ours = 1 };
	struct uncore handle = { .mark = &mark, .connection = -1, .timeout_ns = 1 };
	_cleanup_free_ struct page_header *tables = NULL;
	int r;

	if (!page)
		abort();
	if (size_bytes)
		memcpy(page, data, size_bytes);
	r = page_check(page, size_bytes);
	if (r != 0 && r != -EBADMSG && r != -EPROTONOSUPPORT)
		abort();
	if (page_copy_tables(page, size_bytes, &tables) != r)
		abort();
	if (r < 0)
		return 0;
	handle.shared = page;
	handle.tables = tables;
	handle.n_doorbells = tables->n_sockets;
	handle_use(&handle, 0);
	return 0;
}
