/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Page faults that nobody resolves: a system call that touches such a page sleeps inside the kernel
 * with all locks that it holds there, and so does every other call that needs one of these.
 */
#include "tests/hostile/attack.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "common/wire.h"

enum { HELD_MAX = 256, REFUSED_US = 10000, INSIDE_US = 5000 };
enum { POSITION_US = 500000, END_MS = 3000, DEEDS_AFTER = 20 };

/* --- the attacker's part --- */

struct held {
	void *page;   /* its faults stay open */
	int epoll;    /* epoll_wait(2) of it copies into the page, or ... */
	int doorbell; /* write(2) to it copies from the page */
};

static struct held held[HELD_MAX];
static unsigned n_held;

/*
 * Only root may make a userfaultfd that holds the kernel's own accesses. False: this kernel has
 * none.
 */
static bool hold_faults(void)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE), bytes = HELD_MAX * page_bytes;
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };
	char *pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);

	if (pages == MAP_FAILED || fd < 0 || ioctl(fd, UFFDIO_API, &api) < 0)
		return false;
	range.range.start = (uintptr_t)pages;
	range.range.len = bytes;
	if (ioctl(fd, UFFDIO_REGISTER, &range) < 0)
		return false;
	for (unsigned i = 0; i < HELD_MAX; i++)
		held[i].page = pages + i * page_bytes;
	return true;
}

static void *write_from_page(void *argument)
{
	const struct held *own = argument;

	return write(own->doorbell, own->page, sizeof(uint64_t)) < 0 ? argument : NULL;
}

/* The kernel holds the epoll's mutex while it copies the event into the page. */
static void *wait_into_page(void *argument)
{
	const struct held *own = argument;

	return epoll_wait(own->epoll, own->page, 1, -1) < 0 ? argument : NULL;
}

static void hold_write(int doorbell)
{
	struct held *next = &held[n_held++];

	next->doorbell = dup(doorbell);
	attack_start_threads(1, write_from_page, next, 0);
}

static void hold_epoll(int doorbell)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLOUT };
	struct held *next = &held[n_held++];

	next->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (epoll_ctl(next->epoll, EPOLL_CTL_ADD, doorbell, &event) < 0)
		_exit(93);
	attack_start_threads(1, wait_into_page, next, 0);
}

/* A client with a connection and the descriptors of its welcome. */
struct visit {
	int fd;
	struct wire_packet packet;
};

/*
 * The daemon may now be the last to close the doorbell. If the daemon has ended, this thread is,
 * and waits for ever.
 */
static void *leave(void *argument)
{
	struct visit *visit = argument;

	wire_packet_done(&visit->packet);
	close(visit->fd);
	free(visit);
	attack_did(1);
	return NULL;
}

/*
 * Connects, leaves a system call in the kernel that uses its doorbell, and goes. Does nothing if it
 * is refused.
 */
static void hold_and_leave(void (*hold)(int doorbell))
{
	struct visit *visit = malloc(sizeof *visit);

	if (!visit)
		_exit(91);
	visit->fd = attack_connect();
	if (!attack_hello(visit->fd, &visit->packet)) {
		free(visit);
		usleep(REFUSED_US);
		return;
	}
	attack_ring(visit->packet.fds[1]);
	if (n_held < HELD_MAX)
		hold(visit->packet.fds[1]);
	usleep(INSIDE_US);
	attack_ring(visit->packet.fds[1]);
	attack_start_threads(1, leave, visit, 0);
}

static _Noreturn int go_on(void (*hold)(int doorbell))
{
	if (!hold_faults())
		_exit(92);
	attack_become(ATTACKER);
	attack_is_on();
	for (;;)
		hold_and_leave(hold);
}

static int write_from_held_pages(void *argument)
{
	go_on(hold_write);
}

static int wait_into_held_pages(void *argument)
{
	go_on(hold_epoll);
}

/* --- the cases --- */

CASE("writing to doorbells from a page whose fault is held open")
{
	attack_beside_victim(&(struct attack){
		.name = "doorbells written to from a page whose fault is held open",
		.body = write_from_held_pages,
		.n_processes = 1,
		.begins_as_root = true,
		.deeds = 1,
	});
}

CASE("holding the epoll of a doorbell by a page fault, and leaving")
{
	attack_beside_victim(&(struct attack){
		.name = "epolls of a doorbell held by a page fault",
		.body = wait_into_held_pages,
		.n_processes = 1,
		.begins_as_root = true,
		.deeds = 1,
	});
}

static int attack_that_daemon(void *argument)
{
	the_daemon = *(const struct daemon_process *)argument;
	setpgid(0, 0);
	alarm(60);
	return wait_into_held_pages(NULL);
}

/* How long the process takes to end; END_MS: longer. The caller still has to wait for it. */
static unsigned ms_until_end(pid_t pid)
{
	uint64_t begin_ns = clock_now_ns();
	siginfo_t info = { .si_pid = 0 };
	unsigned ms = 0;

	while (!info.si_pid && ms < END_MS) {
		waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT);
		usleep(1000);
		ms = (unsigned)((clock_now_ns() - begin_ns) / 1000000);
	}
	return ms;
}

/*
 * A client's system call may delay the daemon's end, but not for longer than the client lives; and
 * the next daemon serves beside the killed one while the attack goes on.
 */
CASE("a daemon killed meanwhile ends at the latest with the client, and the next one serves")
{
	struct daemon_process daemon = {};
	uint64_t deeds = attack_deeds();
	pid_t attacker, killed;
	unsigned ms;
	bool goes_on;

	daemon_start_activated(&daemon, "standin", NULL, false);
	attacker = start_as(0, attack_that_daemon, &daemon);
	assert_true(attack_wait_for_deeds(deeds + 1));
	usleep(POSITION_US);
	killed = daemon.pid;
	kill(killed, SIGKILL);
	ms = ms_until_end(killed);
	deeds = attack_deeds();
	daemon_restart(&daemon, "standin");
	goes_on = attack_wait_for_deeds(deeds + DEEDS_AFTER);
	printf("# killed while page faults are held open, uncored ended %s %u ms; deeds: %" PRIu64
	       " before, %" PRIu64 " after the restart\n",
		ms < END_MS ? "after" : "only with the client, not within", ms, deeds,
		attack_deeds() - deeds);
	fflush(stdout);
	kill(attacker, SIGKILL);
	wait_for(attacker, 10);
	assert_int_equal(wait_for(killed, 10), 128 + SIGKILL);
	assert_true(goes_on);
	daemon_stop(&daemon);
}

int main(void)
{
	return attack_run();
}
