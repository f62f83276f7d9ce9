/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any page: page_check() must look at nothing beyond it, and every page that it lets through can be
 * read as the library reads it. The page is on the heap, so that a sanitizer knows where it ends.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/libuncore/internal.h"
#include "tests/fuzz/handle.h"
#include "tests/fuzz/target.h"

static void judge(const struct rules *rules)
{
	static const uint32_t groups[] = { 10, 1000 };
	static const struct rules_user users[] = {
		{ 0, 0, NULL, 0 },
		{ 1000, 100, groups, ARRAY_SIZE(groups) },
		{ RULES_NOBODY, RULES_NOBODY, NULL, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(users); i++) {
		enum rule broken = rules_broken(rules, &users[i], RULE_SOCKET);

		if (broken >= RULES || (broken && !*rule_words(broken)))
			abort();
	}
}

/* Uses the rules behind the wake-ups, as any impostor may have written them. */
static void use_rules(const uint8_t *data, size_t size_bytes)
{
	struct page_rules page;
	struct rules rules, again;
	int r;

	if (size_bytes < sizeof page)
		return;
	memcpy(&page, data, sizeof page);
	r = page_rules_copy(&page, &rules);
	if (r != 0 && r != -EAGAIN && r != -EBADMSG)
		abort();
	if (r < 0)
		return;
	if (rules.n_users > RULES_USERS_MAX)
		abort();
	judge(&rules);
	page_rules_write(&page, &rules);
	if (page_rules_copy(&page, &again) != 0 || memcmp(&rules, &again, sizeof rules) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	_cleanup_free_ struct page_header *page = malloc(size_bytes ? size_bytes : 1);
	struct uncore_mark mark = { .ours = 1 };
	const struct page_wakeup wakeups[PAGE_SOCKETS_MAX] = { { 0 } };
	struct uncore handle = {
		.mark = &mark, .wakeups = wakeups, .connection = -1, .timeout_ns = 1
	};
	_cleanup_free_ struct page_header *tables = NULL;
	int r;

	use_rules(data, size_bytes);
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
