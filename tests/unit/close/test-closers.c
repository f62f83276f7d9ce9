/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that close connections and doorbells. A close that hangs is made by a lingering TCP
 * socket in the place of a doorbell: its close(2) waits until the other end is closed.
 */
#include "daemon/base/privilege.h"
#include "daemon/close/closers.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "daemon/admit/accounts.h"
#include "tests/harness/lingering.h"
#include "tests/harness/test.h"

enum { PATIENCE_S = 30, HANGING = 1, OTHER = 2, A_THIRD = 3 };

static const struct closers_client refused, served = { .was_served = true },
					    sent_files = { .was_sent_files = true };

static struct closers *closers;
static int epoll_fd;

static atomic_int later_s;   /* how far the time has gone on by itself */
static uint64_t main_cpu_ns; /* CPU time of the main thread */
static uint64_t wake_ns;     /* of that, what each shutdown(2) takes */

/* The time that goes by stands for the CPU time of the other threads. Linux subtracts what a host
 * takes away from the CPU time, at times all of a short close, and then a close would have no
 * cost. */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	bool is_cpu_time = clock == CLOCK_THREAD_CPUTIME_ID;
	int r = (int)syscall(SYS_clock_gettime, is_cpu_time ? CLOCK_MONOTONIC : clock, ret);

	if (clock == CLOCK_MONOTONIC)
		ret->tv_sec += later_s;
	if (is_cpu_time && gettid() == getpid())
		*ret = (struct timespec){ .tv_nsec = (long)main_cpu_ns };
	return r;
}

int shutdown(int fd, int how)
{
	if (gettid() == getpid())
		main_cpu_ns += wake_ns;
	return (int)syscall(SYS_shutdown, fd, how);
}

static unsigned n_closed_here; /* by the main thread */

/* The C library's close(), which counts. */
int close(int fd)
{
	if (gettid() == getpid())
		n_closed_here++;
	return (int)syscall(SYS_close, fd);
}

static int set_up(void **state)
{
	remember_descriptors(state);
	alarm(4 * PATIENCE_S); /* a hang must not be for ever */
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	return closers_new(&closers);
}

static int tear_down(void **state)
{
	closers = closers_free(closers);
	close_fd(&epoll_fd);
	alarm(0);
	return compare_descriptors(state);
}

#define CLOSERS_CASE(sentence) CASE_WITHIN(sentence, set_up, tear_down)

/* Returns the daemon's end of a connection; *@ret_client is the client's end. */
static int connect_client(int *ret_client)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	*ret_client = pair[1];
	return pair[0];
}

/* Does @fd show that the other end was closed? */
static bool is_over(int fd)
{
	struct pollfd poll_fd = { .fd = fd };

	return poll(&poll_fd, 1, PATIENCE_S * 1000) == 1 && poll_fd.revents & POLLHUP;
}

static int make_doorbell(void)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	assert_int_equal(epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event), 0);
	return fd;
}

static void wait_until_pending(unsigned wanted)
{
	uint64_t deadline_ns = clock_deadline_ns(PATIENCE_S * UINT64_C(1000000000));

	while (closers_pending(closers) != wanted && clock_now_ns() < deadline_ns) {
		closers_settle(closers, NULL);
		usleep(1000);
	}
	assert_int_equal(closers_pending(closers), wanted);
}

/* Makes a close hang until lingering_close(). */
static void hang(unsigned account, struct lingering *ret)
{
	assert_true(lingering_open(ret));
	closers_close_doorbell(closers, account, epoll_fd, &ret->fd);
	assert_int_equal(ret->fd, -1);
}

static void close_connection_of(unsigned account)
{
	int client, fd = connect_client(&client);

	closers_close_connection(closers, account, refused, &fd);
	assert_int_equal(fd, -1);
	assert_true(is_over(client));
	close(client);
}

/*
 * In a process of its own, for it leaves a thread behind. Status 0: it came through. This case is
 * the first, as long as there are no threads to fork beside.
 */
static int end_while_one_hangs(void)
{
	struct lingering lingering;
	int fd, client;

	alarm(PATIENCE_S);
	hang(HANGING, &lingering);
	fd = connect_client(&client);
	closers_close_connection(closers, OTHER, refused, &fd);
	closers_free(closers);
	if (!is_over(client))
		return 1;
	return 0;
}

CASE("the closers end in bounded time although one close hangs")
{
	int status;
	pid_t pid;

	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(closers_new(&closers) < 0 ? 2 : end_while_one_hangs());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

CLOSERS_CASE("a connection is closed, and its client sees that")
{
	int none = -1;

	close_connection_of(OTHER);
	closers_close_connection(closers, OTHER, refused, &none);
	closers_close_doorbell(closers, OTHER, epoll_fd, &none);
	wait_until_pending(0);
}

/* If the daemon only closed the doorbell, edges would go on while the client has its descriptor. */
CLOSERS_CASE("a doorbell is unwatched and closed")
{
	int fd = make_doorbell(), clients = dup(fd);
	struct epoll_event event;

	eventfd_write(clients, 1);
	assert_int_equal(epoll_wait(epoll_fd, &event, 1, 0), 1);
	closers_close_doorbell(closers, OTHER, epoll_fd, &fd);
	assert_int_equal(fd, -1);
	wait_until_pending(0);
	eventfd_write(clients, 1);
	assert_int_equal(epoll_wait(epoll_fd, &event, 1, 0), 0);
	close(clients);
}

/* Each close must be made without a further call, because a daemon at rest makes none. */
CLOSERS_CASE("a close that hangs keeps nobody else's from being made")
{
	struct lingering lingering;

	hang(HANGING, &lingering);
	close_connection_of(OTHER);
	close_connection_of(OTHER + 1);
	wait_until_pending(1);
	lingering_close(&lingering);
	wait_until_pending(0);
}

/* Otherwise the connections of refused clients would pile up, and keep a descriptor each. */
CLOSERS_CASE("connections do not wait behind a doorbell that hangs")
{
	struct lingering lingering;

	hang(HANGING, &lingering);
	close_connection_of(HANGING);
	wait_until_pending(1);
	lingering_close(&lingering);
	wait_until_pending(0);
}

CLOSERS_CASE("doorbells of one account keep one thread")
{
	_cleanup_close_ int other_epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	struct lingering lingering[3];
	int doorbells[100];

	for (unsigned i = 0; i < 3; i++)
		hang(HANGING, &lingering[i]);
	for (unsigned i = 0; i < ARRAY_SIZE(doorbells); i++) {
		doorbells[i] = make_doorbell();
		closers_close_doorbell(
			closers, HANGING, i % 2 ? epoll_fd : other_epoll_fd, &doorbells[i]);
	}
	close_connection_of(OTHER);
	wait_until_pending(3 + ARRAY_SIZE(doorbells));
	for (unsigned i = 0; i < 3; i++)
		lingering_close(&lingering[i]);
	wait_until_pending(0);
}

CLOSERS_CASE("many closes that hang delay no other account")
{
	enum { N = 20 };
	struct lingering lingering[N];

	for (unsigned i = 0; i < N; i++)
		hang(100 + i, &lingering[i]);
	close_connection_of(OTHER);
	wait_until_pending(N);
	for (unsigned i = 0; i < N; i++)
		lingering_close(&lingering[i]);
	wait_until_pending(0);
}

CLOSERS_CASE("after a while the account is named whose close hangs")
{
	uint64_t deadline_ns = clock_deadline_ns(PATIENCE_S * UINT64_C(1000000000));
	struct lingering lingering;

	assert_false(closers_hang(closers, HANGING));
	hang(HANGING, &lingering);
	while (!closers_hang(closers, HANGING) && clock_now_ns() < deadline_ns)
		usleep(10000);
	assert_true(closers_hang(closers, HANGING));
	assert_true(closers_hold(closers, HANGING));
	assert_false(closers_hang(closers, OTHER));
	assert_false(closers_hold(closers, OTHER));
	lingering_close(&lingering);
	wait_until_pending(0);
	assert_false(closers_hang(closers, HANGING));
	assert_false(closers_hold(closers, HANGING));
}

/* Closes of @n doorbells of HANGING wait behind one that hangs. */
static void heap_up(struct lingering *ret, unsigned n)
{
	hang(HANGING, ret);
	for (unsigned i = 1; i < n; i++) {
		int doorbell = make_doorbell();

		closers_close_doorbell(closers, HANGING, epoll_fd, &doorbell);
	}
}

CLOSERS_CASE("an account with many that wait has too many, and no other")
{
	struct lingering lingering;
	int doorbell;

	heap_up(&lingering, CLOSERS_WAITING_MAX - 1);
	assert_false(closers_have_too_many(closers, HANGING, 0, 1000));
	doorbell = make_doorbell();
	closers_close_doorbell(closers, HANGING, epoll_fd, &doorbell);
	assert_true(closers_have_too_many(closers, HANGING, 0, 1000));
	assert_false(closers_have_too_many(closers, OTHER, 0, 1000));
	lingering_close(&lingering);
	wait_until_pending(0);
	assert_false(closers_have_too_many(closers, HANGING, 0, 1000));
}

CLOSERS_CASE("a connection stays open until its client has received what was sent to it")
{
	int client, fd = connect_client(&client);
	struct pollfd poll_fd = { .fd = closers_poll_fd(closers), .events = POLLIN };
	char byte;

	assert_int_equal(write(fd, "a", 1), 1);
	assert_int_equal(write(fd, "b", 1), 1);
	closers_close_connection(closers, OTHER, sent_files, &fd);
	for (unsigned i = 0; i < 2; i++) {
		closers_settle(closers, NULL);
		assert_int_equal(closers_pending(closers), 1);
		assert_int_equal(closers_unread(closers), 1);
		assert_int_equal(poll(&poll_fd, 1, 0), 0);
		assert_int_equal(read(client, &byte, 1), 1);
		assert_int_equal(poll(&poll_fd, 1, PATIENCE_S * 1000), 1);
	}
	closers_settle(closers, NULL);
	assert_true(is_over(client));
	wait_until_pending(0);
	close(client);
}

CLOSERS_CASE("the closers end although nobody receives what was sent")
{
	int client, fd = connect_client(&client);

	assert_int_equal(write(fd, "a", 1), 1);
	closers_close_connection(closers, OTHER, sent_files, &fd);
	closers = closers_free(closers);
	assert_true(is_over(client));
	close(client);
}

/* --- each way in which a descriptor of an account comes to wait --- */

static int connect_and_leave(void)
{
	int client, fd = connect_client(&client);

	close(client);
	return fd;
}

static void ring(void)
{
	int fd = make_doorbell();

	closers_close_doorbell(closers, HANGING, epoll_fd, &fd);
}

static void refuse(void)
{
	int fd = connect_and_leave();

	closers_close_connection(closers, HANGING, refused, &fd);
}

static void serve(void)
{
	int fd = connect_and_leave();

	closers_close_connection(closers, HANGING, served, &fd);
}

static void turn_away(void)
{
	int fd = connect_and_leave();

	closers_turn_away(closers, HANGING, &fd);
}

/* The file that is attached has another owner: its close waits for nothing. */
static void turn_away_full(void)
{
	int client, fd = connect_client(&client);

	assert_true(lingering_send(client, "a", 1, client));
	close(client);
	closers_turn_away(closers, HANGING, &fd);
}

/* The client has a message that it has not received. It still has when it is asked again. */
static int client_of_unread = -1;

static void keep_unread(void)
{
	int fd = connect_client(&client_of_unread);

	assert_int_equal(write(fd, "a", 1), 1);
	closers_close_connection(closers, HANGING, sent_files, &fd);
	assert_int_equal(fd, -1);
	closers_settle(closers, NULL);
}

/*
 * The ranks of a job were served. They leave at once while the next ones come, so they count only
 * together with the open connections. All others count alone, too.
 */
static const struct way {
	const char *name;
	void (*go)(void);
	bool waits, counts_alone;
} ways[] = {
	{ "a doorbell", ring, true, true },
	{ "a connection that was refused", refuse, true, true },
	{ "a client that was served", serve, true, false },
	{ "a connection that is turned away, and holds a file", turn_away_full, true, true },
	{ "a connection that is turned away, and holds nothing", turn_away, false, false },
	{ "a connection whose client has not received all", keep_unread, true, true },
};

/* One goes @way where one fewer waits than may. */
static void count_way(const struct way *way)
{
	enum { OPEN = 10 };
	struct lingering lingering;

	heap_up(&lingering, CLOSERS_WAITING_MAX - 1);
	assert_false(closers_have_too_many(closers, HANGING, OPEN, OPEN));
	way->go();
	assert_int_equal(closers_pending(closers), CLOSERS_WAITING_MAX - !way->waits);
	assert_int_equal(closers_have_too_many(closers, HANGING, 0, OPEN), way->counts_alone);
	assert_int_equal(closers_have_too_many(closers, HANGING, OPEN, OPEN), way->waits);
	assert_false(closers_have_too_many(closers, OTHER, OPEN, OPEN));
	lingering_close(&lingering);
	close_fd(&client_of_unread);
	wait_until_pending(0);
	assert_false(closers_have_too_many(closers, HANGING, OPEN, OPEN));
	assert_false(closers_hold(closers, HANGING));
}

CLOSERS_CASE("each descriptor that waits counts once, whichever way it came, until it is closed")
{
	closers_beware(closers, HANGING);
	for (unsigned i = 0; i < ARRAY_SIZE(ways); i++) {
		print_message("# %s\n", ways[i].name);
		count_way(&ways[i]);
	}
}

CLOSERS_CASE("where no more threads may be, a close waits until one has ended")
{
	struct lingering lingering[CLOSERS_MAX];
	int doorbell;

	for (unsigned i = 0; i < CLOSERS_MAX; i++)
		hang(100 + i, &lingering[i]);
	doorbell = make_doorbell();
	closers_close_doorbell(closers, OTHER, epoll_fd, &doorbell);
	doorbell = make_doorbell();
	closers_close_doorbell(closers, OTHER, epoll_fd, &doorbell);
	close_connection_of(OTHER);
	closers_settle(closers, NULL);
	assert_int_equal(closers_pending(closers), CLOSERS_MAX + 2);
	lingering_close(&lingering[0]);
	wait_until_pending(CLOSERS_MAX - 1);
	for (unsigned i = 1; i < CLOSERS_MAX; i++)
		lingering_close(&lingering[i]);
	wait_until_pending(0);
}

/* Without a thread, which would have to be waited for. */
CLOSERS_CASE("a connection that holds nothing is turned away at once")
{
	int client, fd = connect_client(&client);

	closers_turn_away(closers, OTHER, &fd);
	assert_int_equal(fd, -1);
	assert_int_equal(closers_pending(closers), 0);
	assert_true(is_over(client));
	close(client);
}

/* A descriptor that lingers is attached to its only message. */
static int connect_with_lingering(struct lingering *ret)
{
	int client, fd = connect_client(&client);

	assert_true(lingering_open(ret));
	assert_true(lingering_send(client, "a", 1, ret->fd));
	close_fd(&ret->fd);
	close(client);
	return fd;
}

CLOSERS_CASE("the caller waits for no file that is attached to a message")
{
	struct lingering attached;
	int fd = connect_with_lingering(&attached);

	closers_close_connection(closers, OTHER, refused, &fd);
	assert_int_equal(fd, -1);
	wait_until_pending(0);
	lingering_close(&attached);
}

CLOSERS_CASE("beyond the bound the caller closes connections, and waits for no file")
{
	struct lingering lingering, attached[2];
	int fd;

	heap_up(&lingering, CLOSERS_WAITING_MAX - 1);
	for (unsigned i = 0; i < ARRAY_SIZE(attached); i++) {
		fd = connect_with_lingering(&attached[i]);
		closers_turn_away(closers, HANGING, &fd);
		assert_int_equal(fd, -1);
		closers_settle(closers, NULL);
		assert_true(closers_pending(closers) <= CLOSERS_WAITING_MAX);
	}
	lingering_close(&lingering);
	wait_until_pending(0);
	for (unsigned i = 0; i < ARRAY_SIZE(attached); i++)
		lingering_close(&attached[i]);
}

/* The credit of OTHER when all is closed and charged. A thread may be at the costs, and then they
 * wait for the next call. */
static int64_t charge(struct budget *budget)
{
	uint64_t deadline_ns = clock_deadline_ns(PATIENCE_S * UINT64_C(1000000000));

	while ((closers_pending(closers) || !budget->accounts[OTHER].credit_ns) &&
		clock_now_ns() < deadline_ns)
		closers_settle(closers, budget);
	return budget->accounts[OTHER].credit_ns;
}

CLOSERS_CASE("what a thread has closed is charged once")
{
	const struct budget_rules rules = { .percent = 1, .burst_ms = 10 };
	struct budget budget;
	int64_t left_ns;
	int doorbell = make_doorbell();

	assert_int_equal(budget_init(&budget, &rules, ACCOUNTS_MAX), 0);
	budget.accounts[OTHER].counts = true;
	closers_close_doorbell(closers, OTHER, epoll_fd, &doorbell);
	left_ns = charge(&budget);
	assert_true(left_ns < 0);
	assert_int_equal(budget.total_ns, 0); /* no other account waits */
	closers_settle(closers, &budget);
	assert_int_equal(budget.accounts[OTHER].credit_ns, left_ns);
	budget_done(&budget);
}

/* A client of @account was served and has left. Does the main thread close its connection? */
static bool is_closed_here(unsigned account)
{
	int other, fd = connect_client(&other);
	unsigned before;

	close(other);
	before = n_closed_here;
	closers_close_connection(closers, account, served, &fd);
	return n_closed_here != before;
}

CLOSERS_CASE("an account whose closes are costly has them made by its thread for a minute")
{
	wake_ns = 20000; /* however many there are; twice each, before Linux 6.16 */
	for (unsigned i = 0; i < 600; i++)
		assert_true(is_closed_here(OTHER));
	wake_ns = 300000;
	for (unsigned i = 0; i < 21; i++) /* 250 us more than usual, each */
		assert_false(is_closed_here(OTHER));
	wake_ns = 0;
	assert_false(is_closed_here(OTHER));
	assert_true(is_closed_here(A_THIRD));
	later_s = 61;
	assert_true(is_closed_here(OTHER));
	later_s = 0;
	closers_beware(closers, OTHER);
	assert_false(is_closed_here(OTHER));
	wait_until_pending(0);
	closers_forget(closers, OTHER);
	assert_true(is_closed_here(OTHER));
}

CLOSERS_CASE("what nobody is charged for is closed, too")
{
	struct lingering attached;
	int fd = connect_with_lingering(&attached);

	close_connection_of(ACCOUNTS_NONE);
	closers_close_connection(closers, ACCOUNTS_NONE, refused, &fd);
	assert_int_equal(fd, -1);
	wait_until_pending(0);
	lingering_close(&attached);
}

CLOSERS_CASE("the closers end when all is closed")
{
	int clients[300], fd;

	for (unsigned i = 0; i < ARRAY_SIZE(clients); i++) {
		fd = connect_client(&clients[i]);
		closers_close_connection(closers, i, refused, &fd);
	}
	closers = closers_free(closers);
	for (unsigned i = 0; i < ARRAY_SIZE(clients); i++) {
		assert_true(is_over(clients[i]));
		close(clients[i]);
	}
	assert_null(closers_free(NULL));
}

int main(void)
{
	privilege_raise_file_limit(); /* with 1024 files fewer may wait */
	return run_cases(NULL, NULL);
}
