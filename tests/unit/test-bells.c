/* SPDX-License-Identifier: BSD-3-Clause */
/* Who shares the bells with whom, for how long, and that nobody who gets them can write them. */
#include "daemon/bells.h"
#include "tests/test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum { ALICE = 1000, BOB = 1001, SOCKETS = 2 };

static void each_user_has_bells_of_its_own(void **state)
{
	struct bells *list = NULL, *first, *second, *others;

	(void)state;
	assert_int_equal(bells_ref(&list, ALICE, SOCKETS, &first), 0);
	assert_int_equal(bells_ref(&list, BOB, SOCKETS, &others), 0);
	assert_int_equal(bells_ref(&list, ALICE, SOCKETS, &second), 0);
	assert_ptr_equal(first, second);
	assert_ptr_not_equal(first, others);
	assert_ptr_not_equal(first->of_sockets, others->of_sockets);
	assert_null(bells_unref(&list, others));
	assert_null(bells_unref(&list, second));
	/* The last client of a user takes them along. */
	assert_ptr_equal(list, first);
	assert_null(bells_unref(&list, first));
	assert_null(list);
	assert_null(bells_unref(&list, NULL));
}

static void any_order_of_leaving_will_do(void **state)
{
	struct bells *list = NULL, *bells[3];

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(bells_ref(&list, ALICE + i, SOCKETS, &bells[i]), 0);
	bells_unref(&list, bells[1]);
	bells_unref(&list, bells[0]);
	assert_ptr_equal(list, bells[2]);
	bells_unref(&list, bells[2]);
	assert_null(list);
}

static void what_clients_get_cannot_be_written(void **state)
{
	struct bells *list = NULL, *bells;
	const struct page_bell *seen;
	struct stat st;

	(void)state;
	assert_int_equal(bells_ref(&list, ALICE, SOCKETS, &bells), 0);
	assert_int_equal(fcntl(bells->read_fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_int_equal(fstat(bells->read_fd, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0444);
	assert_int_equal(st.st_size, SOCKETS * sizeof *seen);
	assert_int_equal(
		fcntl(bells->read_fd, F_GET_SEALS), F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW);
	assert_true(mmap(NULL, sizeof *seen, PROT_READ | PROT_WRITE, MAP_SHARED, bells->read_fd,
			    0) == MAP_FAILED);
	assert_int_equal(errno, EACCES);
	/* What is rung in the daemon shows there. */
	seen = mmap(NULL, SOCKETS * sizeof *seen, PROT_READ, MAP_SHARED, bells->read_fd, 0);
	assert_true(seen != MAP_FAILED);
	page_bell_ring(&bells->of_sockets[1]);
	assert_int_equal(seen[0].n_rung, 0);
	assert_int_equal(seen[1].n_rung, 1);
	munmap((void *)seen, SOCKETS * sizeof *seen);
	bells_unref(&list, bells);
}

static void without_descriptors_nothing_is_kept(void **state)
{
	struct bells *list = NULL, *bells;
	struct rlimit limit, none;
	int r;

	(void)state;
	getrlimit(RLIMIT_NOFILE, &limit);
	none = (struct rlimit){ .rlim_cur = 3, .rlim_max = limit.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	r = bells_ref(&list, ALICE, SOCKETS, &bells);
	setrlimit(RLIMIT_NOFILE, &limit);
	assert_int_equal(r, -EMFILE);
	assert_null(list);
}

int main(void)
{
	const struct CMUnitTest cases[] = {
		CASE("each user has bells of its own, for as long as it has clients",
			each_user_has_bells_of_its_own),
		CASE("users leave in any order", any_order_of_leaving_will_do),
		CASE("what clients get cannot be written", what_clients_get_cannot_be_written),
		CASE("without descriptors nothing is kept", without_descriptors_nothing_is_kept),
	};

	return cmocka_run_group_tests_name("bells", cases, NULL, NULL);
}
