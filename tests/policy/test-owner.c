/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Only the owner of the node's job may read: former clients are cut off, keep no page that goes on,
 * and get nothing back by a restart.
 */
#include "tests/harness/daemon-process.h"
#include "tests/harness/test.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/macro.h"
#include "common/page.h"
#include "common/wire.h"

static const char owner_only[] = "[access]\nowner_only = yes\n";

/* --- a user's process with one handle, which follows orders --- */

enum order { OPEN, CACHED, FRESH };

struct answer {
	int r;
	uint64_t sweep, generation;
	char text[512];
};

struct user {
	pid_t pid;
	int ends[2];
	const struct daemon_process *daemon;
};

static int carry_out(const struct user *user, enum order order, struct uncore **handle,
	struct uncore_sample *sample)
{
	if (order == OPEN) {
		uncore_close(*handle);
		*handle = NULL;
		return uncore_open(user->daemon->socket_path, handle);
	}
	return uncore_read(*handle, 0, order == FRESH ? UNCORE_FRESH : UNCORE_CACHED, sample);
}

static int obey(void *argument)
{
	const struct user *user = argument;
	struct uncore *handle = NULL;
	enum order order;

	close(user->ends[0]);
	while (read(user->ends[1], &order, sizeof order) == sizeof order) {
		struct uncore_sample sample = UNCORE_SAMPLE_INIT;
		struct answer answer = { .r = carry_out(user, order, &handle, &sample) };

		answer.sweep = sample.sweep;
		answer.generation = sample.generation[0];
		snprintf(answer.text, sizeof answer.text, "%s", uncore_error_text());
		if (write(user->ends[1], &answer, sizeof answer) != sizeof answer)
			return 1;
	}
	return 0;
}

static void user_begin(struct user *user, const struct daemon_process *daemon, uid_t uid)
{
	user->daemon = daemon;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, user->ends), 0);
	user->pid = start_as(uid, obey, user);
	close(user->ends[1]);
}

static struct answer tell(const struct user *user, enum order order)
{
	struct answer answer;

	assert_int_equal(write(user->ends[0], &order, sizeof order), sizeof order);
	assert_int_equal(read(user->ends[0], &answer, sizeof answer), sizeof answer);
	return answer;
}

static void assert_served(const struct user *user)
{
	assert_int_equal(tell(user, OPEN).r, 0);
	assert_int_equal(tell(user, FRESH).r, 0);
}

static void assert_not_the_owner(const struct user *user)
{
	struct answer answer = tell(user, OPEN);

	assert_int_equal(answer.r, -EACCES);
	assert_non_null(strstr(answer.text, "does not own the job that this node runs. The rule is "
					    "owner_only in [access] of uncored.conf"));
}

static void user_end(const struct user *user)
{
	close(user->ends[0]);
	kill(user->pid, SIGKILL);
	wait_for(user->pid, 10);
}

static void set_owner(struct daemon_process *daemon, uint32_t uid)
{
	assert_int_equal(uncore_set_owner(daemon->socket_path, uid), 0);
	manager_dispatch(&daemon->manager);
}

/* --- assertions --- */

static void begin(struct daemon_process *daemon, struct user *first, struct user *second)
{
	*daemon = (struct daemon_process){};
	daemon_start_activated(daemon, "standin", owner_only, true);
	user_begin(first, daemon, NOBODY);
	user_begin(second, daemon, SOMEBODY);
}

static void end(struct daemon_process *daemon, const struct user *first, const struct user *second)
{
	user_end(first);
	user_end(second);
	daemon_stop(daemon);
}

CASE("only the owner of the job is served, and root")
{
	static struct daemon_process daemon;
	struct user first, second;

	begin(&daemon, &first, &second);
	assert_not_the_owner(&first);
	assert_not_the_owner(&second);
	set_owner(&daemon, NOBODY);
	assert_served(&first);
	assert_not_the_owner(&second);
	set_owner(&daemon, UNCORE_NO_OWNER);
	assert_not_the_owner(&first);
	end(&daemon, &first, &second);
}

CASE("a former owner is cut off, and told so")
{
	static struct daemon_process daemon;
	struct user first, second;
	struct answer answer;
	uint64_t generation;

	begin(&daemon, &first, &second);
	set_owner(&daemon, NOBODY);
	assert_served(&first);
	generation = tell(&first, CACHED).generation;
	set_owner(&daemon, SOMEBODY);
	assert_served(&second);
	for (enum order order = CACHED; order <= FRESH; order++) {
		answer = tell(&first, order);
		assert_int_equal(answer.r, -EACCES);
		assert_non_null(strstr(answer.text, "has withdrawn this page"));
	}
	assert_not_the_owner(&first);
	/* Clients that go on have lost nothing. */
	assert_int_equal(tell(&second, CACHED).generation, generation);
	end(&daemon, &first, &second);
}

/* The old page is what it was: a client without manners maps it, and sees nothing go on. */
CASE("a withdrawn page stands still")
{
	static struct daemon_process daemon;
	struct wire_packet packet;
	struct user first, second;
	const struct page_header *page;
	uint64_t sweep;
	int fd;

	begin(&daemon, &first, &second);
	fd = connect_hello(&daemon, &packet);
	page = mmap(
		NULL, packet.message.welcome.page_bytes, PROT_READ, MAP_SHARED, packet.fds[0], 0);
	assert_true(page != MAP_FAILED);
	assert_int_equal(page->state, PAGE_LIVE);
	set_owner(&daemon, SOMEBODY);
	assert_int_equal(page->state, PAGE_RETIRED);
	sweep = page_cell(page, 0)->sweep.number;
	assert_served(&second);
	eventfd_write(packet.fds[1], 1);
	assert_int_equal(tell(&second, FRESH).r, 0);
	assert_int_equal(page_cell(page, 0)->sweep.number, sweep);
	munmap((void *)page, packet.message.welcome.page_bytes);
	wire_packet_done(&packet);
	close(fd);
	end(&daemon, &first, &second);
}

CASE("a restart gives a former owner nothing back")
{
	static struct daemon_process daemon;
	struct user first, second;
	uint64_t generation;

	begin(&daemon, &first, &second);
	set_owner(&daemon, NOBODY);
	assert_served(&first);
	generation = tell(&first, CACHED).generation;
	daemon_kill(&daemon);
	daemon_restart(&daemon, "standin");
	assert_int_equal(
		tell(&first, CACHED).r, -EACCES); /* uncored does not go on with that page */
	assert_served(&first);
	assert_int_equal(tell(&first, CACHED).generation, generation);
	assert_not_the_owner(&second);
	end(&daemon, &first, &second);
}

/*
 * uncored is killed while the service manager has both pages: the ledger says which page is valid.
 */
CASE("withdrawn pages are not kept")
{
	static struct daemon_process daemon;
	struct user first, second;
	unsigned n_kept;

	begin(&daemon, &first, &second);
	n_kept = daemon.manager.n_kept;
	for (unsigned i = 0; i < 10; i++)
		set_owner(&daemon, i % 2 ? NOBODY : SOMEBODY);
	daemon_kill(&daemon);
	assert_int_equal(daemon.manager.n_kept, n_kept);
	daemon_restart(&daemon, "standin");
	assert_served(&first);
	assert_int_equal(daemon.manager.n_kept, n_kept);
	end(&daemon, &first, &second);
}

CASE("an owner means nothing unless owner_only is set")
{
	static struct daemon_process daemon;
	struct user first, second;

	begin(&daemon, &first, &second);
	daemon_reload(&daemon, "");
	assert_served(&first);
	set_owner(&daemon, SOMEBODY);
	assert_int_equal(tell(&first, CACHED).r, 0);
	/* With the key, the owner counts. */
	daemon_reload(&daemon, owner_only);
	assert_int_equal(tell(&first, CACHED).r, -EACCES);
	assert_not_the_owner(&first);
	assert_served(&second);
	end(&daemon, &first, &second);
}

CASE("a shorter list of users withdraws the page from all")
{
	static struct daemon_process daemon;
	struct user first, second;

	begin(&daemon, &first, &second);
	daemon_reload(&daemon, "[access]\nusers = 65534 65533\n");
	assert_served(&first);
	assert_served(&second);
	daemon_reload(&daemon, "[access]\nusers = 65533\n");
	assert_int_equal(tell(&first, CACHED).r, -EACCES);
	assert_int_equal(tell(&first, OPEN).r, -EACCES);
	assert_int_equal(tell(&second, FRESH).r, -EACCES); /* the page is withdrawn from all */
	assert_served(&second);
	end(&daemon, &first, &second);
}

/* --- the command --- */

static void assert_says(const struct run *run, int status, const char *words)
{
	assert_int_equal(run->status, status);
	if (!strstr(run->output, words))
		fail_msg("\"%s\" is not in: %s", words, run->output);
}

static void run_as(
	struct run *ret, uid_t uid, const struct daemon_process *daemon, const char *what)
{
	_cleanup_free_ char *program = strdup(build_path("client/uncore"));
	const char *const arguments[] = { program, "owner", "--socket", daemon->socket_path, what,
		NULL };

	run_program(ret, uid, arguments);
}

CASE("`uncore owner` sets and shows the owner, and only root may set it")
{
	static struct daemon_process daemon;
	static struct run run;
	struct user first, second;

	begin(&daemon, &first, &second);
	run_as(&run, 0, &daemon, NULL);
	assert_says(&run, 0, "none\n");
	run_as(&run, 0, &daemon, "nobody");
	assert_says(&run, 0, "");
	run_as(&run, NOBODY, &daemon, NULL);
	assert_says(&run, 0, "nobody (65534)\n");
	run_as(&run, NOBODY, &daemon, "65533");
	assert_says(
		&run, 1, "refuses: Only root may say whose job the node runs. Root may ask that");
	run_as(&run, 0, &daemon, "no-such-user");
	assert_says(&run, 1, "this machine has no user no-such-user.");
	run_as(&run, 0, &daemon, "--none");
	assert_says(&run, 0, "");
	assert_not_the_owner(&first);
	end(&daemon, &first, &second);
}

int main(void)
{
	return run_privileged_cases(NULL, NULL);
}
