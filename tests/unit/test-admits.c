/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program that reads for others is told of them. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "client/uncore.h"
#include "tests/test.h"
#include "tests/unit/fake-daemon.h"

enum { ALICE = 1000, STAFF = 50, GROUPS = 250 }; /* more than go into two messages */

struct link {
	struct fake_daemon daemon;
	struct uncore *handle;
};

static void link_open(struct link *link, const struct fake_options *options)
{
	fake_daemon_start(&link->daemon, options, 1);
	assert_int_equal(uncore_open(link->daemon.path, &link->handle), 0);
}

static void link_close(struct link *link)
{
	uncore_close(link->handle);
	fake_daemon_stop(&link->daemon);
	fake_daemon_done(&link->daemon);
}

static int ask_about(const struct link *link, const uint32_t groups[], uint32_t n_groups)
{
	const struct uncore_user alice = { ALICE, ALICE, n_groups, groups };

	return uncore_admits(link->handle, &alice);
}

static void one_of_many_groups_is_enough(void **state)
{
	const struct fake_options options = { .admitted_group = STAFF };
	uint32_t groups[GROUPS];
	struct link link;

	(void)state;
	for (uint32_t i = 0; i < GROUPS; i++)
		groups[i] = 3000 + i;
	link_open(&link, &options);
	assert_int_equal(ask_about(&link, groups, GROUPS), -EACCES);
	groups[0] = STAFF;
	assert_int_equal(ask_about(&link, groups, GROUPS), 0);
	groups[GROUPS - 1] = STAFF;
	groups[0] = 3000;
	assert_int_equal(ask_about(&link, groups, GROUPS), 0);
	link_close(&link);
}

static void a_refused_user_gets_the_sentence(void **state)
{
	const uint32_t group = STAFF;
	struct link link;

	(void)state;
	link_open(&link, NULL);
	assert_int_equal(ask_about(&link, &group, 1), -EACCES);
	assert_non_null(strstr(uncore_error_text(), "refuses: because user 1000 is in none of 1"));
	assert_non_null(strstr(uncore_error_text(), link.daemon.path));
	assert_int_equal(ask_about(&link, NULL, 0), -EACCES);
	link_close(&link);
}

static void an_older_uncored_cannot_tell(void **state)
{
	const struct fake_options options = { .is_0_1 = true };
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct link link;

	(void)state;
	link_open(&link, &options);
	assert_int_equal(ask_about(&link, NULL, 0), -EOPNOTSUPP);
	assert_int_equal(uncore_read(link.handle, 0, UNCORE_FRESH, &sample), 0);
	link_close(&link);
}

static void a_late_answer_is_never_taken_for_that_to_the_next_question(void **state)
{
	const struct fake_options options = { .admitted_group = STAFF };
	const uint32_t group = STAFF;
	struct link link;

	(void)state;
	link_open(&link, &options);
	link.daemon.options.delay_ms = 100;
	uncore_set_timeout(link.handle, 1000000);
	assert_int_equal(ask_about(&link, &group, 1), -ETIMEDOUT);
	link.daemon.options.delay_ms = 0;
	uncore_set_timeout(link.handle, 30000000000);
	usleep(300000);
	assert_int_equal(ask_about(&link, NULL, 0), -ENOTCONN);
	link_close(&link);
}

static void what_cannot_be_asked_is_said(void **state)
{
	const struct uncore_user no_list = { .uid = ALICE, .n_groups = 1 };
	struct link link;

	(void)state;
	link_open(&link, NULL);
	assert_int_equal(uncore_admits(NULL, &no_list), -EINVAL);
	assert_int_equal(uncore_admits(link.handle, NULL), -EINVAL);
	assert_int_equal(uncore_admits(link.handle, &no_list), -EINVAL);
	assert_non_null(strstr(uncore_error_text(), "not told which user"));
	link_close(&link);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE("one of many groups is enough", one_of_many_groups_is_enough),
		CASE("a refused user gets the sentence", a_refused_user_gets_the_sentence),
		CASE("an older uncored cannot tell", an_older_uncored_cannot_tell),
		CASE("a late answer is never taken for that to the next question",
			a_late_answer_is_never_taken_for_that_to_the_next_question),
		CASE("what cannot be asked is said", what_cannot_be_asked_is_said),
	};

	return cmocka_run_group_tests_name("admits", cases, NULL, NULL);
}
