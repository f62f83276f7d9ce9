/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The owners of uids, by the passwd and subuid of this computer; but a case sets how long lookups
 * wait.
 */
#include "daemon/admit/owners.h"

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "tests/harness/test.h"

/* Uids from here on are in nobody's passwd or subuid: above all ranges that tools give away. */
enum { STRANGER = 3000000000U, PATIENCE_S = 30 };

static struct owners *owners;

static uint64_t block_of(uint32_t uid)
{
	return UINT64_C(1) << 32 | uid >> 16;
}

/* --- a directory service that can be held --- */

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool held;
	unsigned n_let;    /* lookups that may go on although it is held */
	unsigned n_inside; /* lookups that wait */
	unsigned n_made;   /* lookups that are over */
	uint32_t last;     /* of the last lookup that began */
} directory = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

/* The C library's getpwuid_r(), which waits while the directory is held. */
int getpwuid_r(
	uid_t uid, struct passwd *passwd, char *buffer, size_t size_bytes, struct passwd **ret)
{
	int (*real)(uid_t, struct passwd *, char *, size_t, struct passwd **) =
		dlsym(RTLD_NEXT, "getpwuid_r");

	pthread_mutex_lock(&directory.lock);
	directory.last = uid;
	directory.n_inside++;
	while (directory.held && !directory.n_let)
		pthread_cond_wait(&directory.changed, &directory.lock);
	directory.n_let -= directory.held;
	directory.n_inside--;
	directory.n_made++;
	pthread_mutex_unlock(&directory.lock);
	return real(uid, passwd, buffer, size_bytes, ret);
}

static void hold_directory(bool held)
{
	pthread_mutex_lock(&directory.lock);
	directory.held = held;
	pthread_cond_broadcast(&directory.changed);
	pthread_mutex_unlock(&directory.lock);
}

static void let_one_lookup_go_on(void)
{
	pthread_mutex_lock(&directory.lock);
	directory.n_let++;
	pthread_cond_signal(&directory.changed);
	pthread_mutex_unlock(&directory.lock);
}

static uint32_t last_lookup(void)
{
	uint32_t uid;

	pthread_mutex_lock(&directory.lock);
	uid = directory.last;
	pthread_mutex_unlock(&directory.lock);
	return uid;
}

static unsigned count_lookups(void)
{
	unsigned n;

	pthread_mutex_lock(&directory.lock);
	n = directory.n_inside;
	pthread_mutex_unlock(&directory.lock);
	return n;
}

static void wait_for_lookups(unsigned n)
{
	uint64_t deadline_ns = clock_deadline_ns(PATIENCE_S * UINT64_C(1000000000));

	while (count_lookups() != n && clock_now_ns() < deadline_ns)
		usleep(1000);
	assert_int_equal(count_lookups(), n);
}

/* --- cases --- */

/* A lookup may still be going on; the last lookup closes the descriptors. */
static void end(long n_descriptors)
{
	uint64_t deadline_ns = clock_deadline_ns(PATIENCE_S * UINT64_C(1000000000));

	owners = owners_free(owners);
	while (count_open_descriptors() != n_descriptors && clock_now_ns() < deadline_ns)
		usleep(1000);
}

static int set_up(void **state)
{
	struct fdstore nothing = {};

	remember_descriptors(state);
	return owners_new(&nothing, &owners);
}

static int tear_down(void **state)
{
	hold_directory(false);
	end((long)*state);
	return compare_descriptors(state);
}

#define OWNERS_CASE(sentence) CASE_WITHIN(sentence, set_up, tear_down)

/* Waits until there is an answer. */
static uint32_t take_answer(void)
{
	struct pollfd poll_fd = { .fd = owners_fd(owners), .events = POLLIN };
	eventfd_t count;
	uint32_t uid;

	while (!owners_take_answer(owners, &uid)) {
		assert_int_equal(poll(&poll_fd, 1, PATIENCE_S * 1000), 1);
		eventfd_read(owners_fd(owners), &count);
	}
	return uid;
}

OWNERS_CASE("root is its own owner, without a lookup")
{
	uint32_t uid;

	assert_int_equal(owners_account_of(owners, 0), 0);
	usleep(10000);
	assert_false(owners_take_answer(owners, &uid));
}

OWNERS_CASE("a user of passwd is its own owner, as soon as that is known")
{
	struct passwd *passwd;
	uint32_t uid;

	setpwent();
	while ((passwd = getpwent()) && !passwd->pw_uid)
		;
	assert_non_null(passwd); /* each system has "nobody", at least */
	uid = passwd->pw_uid;
	endpwent();
	assert_int_equal(owners_account_of(owners, uid), block_of(uid));
	assert_int_equal(take_answer(), uid);
	assert_int_equal(owners_account_of(owners, uid), uid);
}

OWNERS_CASE("a uid that nobody knows is its block's")
{
	assert_int_equal(owners_account_of(owners, STRANGER), block_of(STRANGER));
	assert_int_equal(take_answer(), STRANGER);
	assert_int_equal(owners_account_of(owners, STRANGER), block_of(STRANGER));
	assert_int_equal(block_of(STRANGER), block_of(STRANGER + 1));
	assert_int_not_equal(block_of(STRANGER), block_of(STRANGER + 65536));
}

OWNERS_CASE("a known uid is not asked again")
{
	uint32_t uid;

	owners_account_of(owners, STRANGER);
	owners_account_of(owners, STRANGER);
	take_answer();
	owners_account_of(owners, STRANGER);
	usleep(10000);
	assert_false(owners_take_answer(owners, &uid));
}

OWNERS_CASE("few threads look up many uids")
{
	hold_directory(true);
	for (unsigned i = 0; i < 200; i++)
		owners_account_of(owners, STRANGER + i);
	wait_for_lookups(OWNERS_LOOKUPS_MAX);
	usleep(10000);
	assert_int_equal(count_lookups(), OWNERS_LOOKUPS_MAX);
	hold_directory(false);
	for (unsigned i = 0; i < 200; i++)
		take_answer();
}

OWNERS_CASE("the daemon ends while lookups wait, and they end later")
{
	hold_directory(true);
	owners_account_of(owners, STRANGER);
	owners_account_of(owners, STRANGER + 1);
	wait_for_lookups(2);
	owners = owners_free(owners);
	assert_int_equal(count_lookups(), 2);
	assert_null(owners_free(NULL));
}

/* Takes @n answers and marks answered[i] for uid STRANGER + i. Each uid must be answered once. */
static void take_answers(bool *answered, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint32_t uid = take_answer();

		assert_false(answered[uid - STRANGER]);
		answered[uid - STRANGER] = true;
	}
}

static void ask_for(unsigned first, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		owners_account_of(owners, STRANGER + first + i);
}

static unsigned count_made(void)
{
	unsigned n;

	pthread_mutex_lock(&directory.lock);
	n = directory.n_made;
	pthread_mutex_unlock(&directory.lock);
	return n;
}

/* Makes as many answers as there is room for, and then asks more questions. */
OWNERS_CASE("no question is forgotten while nobody takes answers")
{
	enum { ROOM = 256, N = ROOM + OWNERS_LOOKUPS_MAX, MORE = 200 };
	uint64_t deadline_ns = clock_deadline_ns(PATIENCE_S * UINT64_C(1000000000));
	unsigned n_before = count_made();
	static bool answered[N + MORE];

	hold_directory(true);
	ask_for(0, OWNERS_LOOKUPS_MAX);
	wait_for_lookups(OWNERS_LOOKUPS_MAX);
	ask_for(OWNERS_LOOKUPS_MAX, ROOM);
	hold_directory(false);
	while (count_made() - n_before < ROOM && clock_now_ns() < deadline_ns)
		usleep(1000);
	usleep(10000);
	ask_for(N, MORE);
	take_answers(answered, N + MORE);
}

/*
 * Asking again must bring an answer for each uid, however few questions there is room for at a
 * time.
 */
OWNERS_CASE("a question that could not be asked is asked the next time")
{
	enum { N = 1000 };
	uint64_t deadline_ns = clock_deadline_ns(PATIENCE_S * UINT64_C(1000000000));
	static bool answered[N];
	unsigned n = 0;
	uint32_t uid;

	while (n < N && clock_now_ns() < deadline_ns) {
		for (unsigned i = 0; i < N; i++)
			owners_account_of(owners, STRANGER + i);
		while (owners_take_answer(owners, &uid)) {
			n += !answered[uid - STRANGER];
			answered[uid - STRANGER] = true;
		}
	}
	assert_int_equal(n, N);
}

static void wait_for_made(unsigned n)
{
	uint64_t deadline_ns = clock_deadline_ns(PATIENCE_S * UINT64_C(1000000000));

	while (count_made() != n && clock_now_ns() < deadline_ns)
		usleep(1000);
	assert_int_equal(count_made(), n);
}

OWNERS_CASE("questions are answered in their order")
{
	enum { N = 20 };
	unsigned n_before = count_made();

	hold_directory(true);
	ask_for(0, OWNERS_LOOKUPS_MAX);
	wait_for_lookups(OWNERS_LOOKUPS_MAX);
	ask_for(OWNERS_LOOKUPS_MAX, N);
	for (unsigned i = 0; i < N; i++) {
		let_one_lookup_go_on();
		wait_for_made(n_before + i + 1);
		wait_for_lookups(OWNERS_LOOKUPS_MAX);
		assert_int_equal(last_lookup(), STRANGER + OWNERS_LOOKUPS_MAX + i);
	}
	hold_directory(false);
	for (unsigned i = 0; i < OWNERS_LOOKUPS_MAX + N; i++)
		take_answer();
}

static void wait_for_answer(void)
{
	struct pollfd poll_fd = { .fd = owners_fd(owners), .events = POLLIN };
	eventfd_t count;

	assert_int_equal(poll(&poll_fd, 1, PATIENCE_S * 1000), 1);
	eventfd_read(owners_fd(owners), &count);
}

/* So the later of two answers about a uid holds. */
OWNERS_CASE("the first answer is told first")
{
	enum { N = 10 };

	for (unsigned i = 0; i < N; i++) {
		ask_for(i, 1);
		wait_for_answer();
	}
	for (unsigned i = 0; i < N; i++)
		assert_int_equal(take_answer(), STRANGER + i);
}

/*
 * Uids that are 4096 apart share their 8 places in the table. The other uids here have other
 * places.
 */
OWNERS_CASE("a question that cannot be asked takes no place")
{
	enum { PLACES = 8, APART = 4096, ROOM = 256 + OWNERS_LOOKUPS_MAX };
	unsigned n_made;

	for (unsigned i = 0; i < PLACES; i++) {
		owners_account_of(owners, STRANGER + i * APART);
		assert_int_equal(take_answer(), STRANGER + i * APART);
	}
	hold_directory(true);
	for (unsigned i = 0; i < ROOM; i++) {
		owners_account_of(owners, STRANGER + APART / 2 + i * APART);
		if (i < OWNERS_LOOKUPS_MAX)
			wait_for_lookups(i + 1);
	}
	owners_account_of(owners, STRANGER + PLACES * APART);
	n_made = count_made();
	hold_directory(false);
	for (unsigned i = 0; i < ROOM; i++)
		take_answer();
	assert_int_equal(count_made() - n_made, ROOM);
	for (unsigned i = 0; i < PLACES; i++)
		owners_account_of(owners, STRANGER + i * APART);
	owners_account_of(owners, STRANGER + 1);
	assert_int_equal(take_answer(), STRANGER + 1);
	assert_int_equal(count_made() - n_made, ROOM + 1);
}

/* Another descriptor of the daemon's table, as the service manager keeps it. */
static int keep_table(void)
{
	char path[64], target[64];

	for (int fd = 3; fd < 1024; fd++) {
		ssize_t n;

		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		n = readlink(path, target, sizeof target - 1);
		target[n > 0 ? n : 0] = '\0';
		if (strstr(target, "memfd:uncored-owners"))
			return dup(fd);
	}
	return -1;
}

static void begin_with(int fd)
{
	struct fdstore_item item = { .fd = fd, .name = (char *)"owners" };
	struct fdstore store = { .n = 1, .items = &item };

	assert_int_equal(owners_new(&store, &owners), 0);
	close_fd(&item.fd);
}

/* A uid of passwd that is not root's: a guest has few. */
static uint32_t some_uid(void)
{
	const struct passwd *passwd;

	setpwent();
	while ((passwd = getpwent()) && !passwd->pw_uid)
		;
	endpwent();
	assert_non_null(passwd);
	return passwd->pw_uid;
}

OWNERS_CASE("the next daemon knows what this one knew")
{
	uint32_t uid = some_uid();
	int fd;

	owners_account_of(owners, uid);
	assert_int_equal(take_answer(), uid);
	fd = keep_table();
	assert_true(fd >= 0);
	end((long)*state + 1);
	begin_with(fd);
	/* It knows it, too, while the directory does not answer. */
	hold_directory(true);
	owners_account_of(owners, STRANGER);
	wait_for_lookups(1);
	assert_int_equal(owners_account_of(owners, uid), uid);
	hold_directory(false);
	assert_int_equal(take_answer(), STRANGER);
	assert_int_equal(owners_account_of(owners, uid), uid);
}

OWNERS_CASE("a descriptor that is not a table is not used")
{
	end((long)*state);
	begin_with(eventfd(0, EFD_CLOEXEC));
	assert_int_equal(owners_account_of(owners, STRANGER), block_of(STRANGER));
	assert_int_equal(take_answer(), STRANGER);
}
