/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables of teams of the real daemon: which users get them, what refused users may still do, and
 * what is left after a restart.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/libuncore/team-call.h"
#include "client/libuncore/uncore.h"
#include "common/clock.h"
#include "common/macro.h"
#include "common/wire.h"
#include "tests/harness/daemon-process.h"
#include "tests/harness/test.h"

enum { LAYOUT = 7, BYTES = 65536 };

static const char only_nobody[] = "[access]\nusers = 65534\n";

/* --- what the children of a case tell it --- */

struct seen {
	int r;
	uint32_t run;
	ino_t inode;
	char text[1024];
};

static struct seen *shared; /* by several processes */
static char path[96];       /* of the daemon's socket */
static char name[] = "job";
static uint32_t run; /* to be forgotten */

static ino_t inode_of(int fd)
{
	struct stat status;

	return fstat(fd, &status) < 0 ? 0 : status.st_ino;
}

static int note(int r, struct team_table *table)
{
	shared->r = r;
	strcpy(shared->text, r < 0 ? uncore_error_text() : "");
	shared->run = r < 0 ? 0 : table->run;
	shared->inode = r < 0 ? 0 : inode_of(table->fd);
	if (r >= 0)
		team_table_done(table);
	return 0;
}

static int join(void *argument)
{
	const struct team_wish wish = { .name = name, .layout = LAYOUT, .bytes = BYTES };
	struct team_table table;

	return note(team_join(path, &wish, &table), &table);
}

static int look(void *uid)
{
	const struct team_choice choice = { .uid = *(uint32_t *)uid, .name = name };
	struct team_table table;

	return note(team_look(path, &choice, NULL, &table), &table);
}

/* Looks at the first table, and has it forgotten. */
static int collect(void *argument)
{
	const struct team_choice choice = { .uid = TEAM_OWN };
	struct team_table table;
	int r = team_look(path, &choice, NULL, &table);

	if (r >= 0)
		r = team_forget(path, &table);
	return note(r, &table);
}

/* Asks at once: a user that may not look knows the names of teams all the same. */
static int forget(void *uid)
{
	struct team_table table = {
		.uid = *(uint32_t *)uid, .run = run, .layout = LAYOUT, .fd = -1
	};

	strcpy(table.name, name);
	return note(team_forget(path, &table), &table);
}

static int open_handle(void *argument)
{
	struct uncore *handle;

	shared->r = uncore_open(path, &handle);
	if (shared->r >= 0)
		uncore_close(handle);
	return 0;
}

static struct seen see(uid_t uid, int (*body)(void *argument), void *argument)
{
	assert_int_equal(wait_for(start_as(uid, body, argument), 30), 0);
	return *shared;
}

static void begin(struct daemon_process *daemon, const char *config)
{
	daemon_start(daemon, "standin", config);
	strcpy(path, daemon->socket_path);
}

/* --- cases --- */

CASE("processes of a user share a table, and no other user does")
{
	struct daemon_process daemon = {};
	struct seen first, second, other;

	begin(&daemon, NULL);
	first = see(NOBODY, join, NULL);
	second = see(NOBODY, join, NULL);
	other = see(SOMEBODY, join, NULL);
	daemon_stop(&daemon);
	assert_int_equal(first.r, 0);
	assert_int_not_equal(first.run, 0);
	assert_int_equal(second.inode, first.inode);
	assert_int_equal(other.r, 0);
	assert_int_not_equal(other.inode, first.inode);
}

CASE("only root looks at tables of others")
{
	struct daemon_process daemon = {};
	uint32_t nobody = NOBODY, own = TEAM_OWN;
	struct seen joined, by_root, by_somebody, by_itself, roots_own;

	begin(&daemon, NULL);
	joined = see(NOBODY, join, NULL);
	by_itself = see(NOBODY, look, &nobody);
	by_somebody = see(SOMEBODY, look, &nobody);
	by_root = see(0, look, &nobody);
	roots_own = see(0, look, &own);
	daemon_stop(&daemon);
	assert_int_equal(by_itself.inode, joined.inode);
	assert_int_equal(by_root.r, 0);
	assert_int_equal(by_root.inode, joined.inode);
	assert_int_equal(by_somebody.r, -EPERM);
	assert_non_null(strstr(by_somebody.text, "Only root may look at tables of another user"));
	assert_int_equal(roots_own.r, -ENODATA);
}

CASE("only root has tables of others forgotten")
{
	struct daemon_process daemon = {};
	uint32_t nobody = NOBODY, own = TEAM_OWN;
	struct seen by_somebody, looked, by_root, again, after;

	begin(&daemon, NULL);
	run = see(NOBODY, join, NULL).run;
	by_somebody = see(SOMEBODY, forget, &nobody);
	looked = see(NOBODY, look, &own);
	by_root = see(0, forget, &nobody);
	again = see(0, forget, &nobody);
	after = see(NOBODY, look, &own);
	daemon_stop(&daemon);
	assert_int_equal(by_somebody.r, -EPERM);
	assert_non_null(strstr(by_somebody.text, "Only root may look at tables of another user"));
	assert_int_equal(looked.r, 0);
	assert_int_equal(by_root.r, 0);
	assert_int_equal(again.r, -ENODATA);
	assert_int_equal(after.r, -ENODATA);
}

CASE("a user who is refused by now may collect its tables, and nothing else")
{
	struct daemon_process daemon = {};
	uint32_t own = TEAM_OWN;
	struct seen joined, looked, joined_again, opened, collected, after;
	uint64_t refused, refused_after;

	begin(&daemon, NULL);
	joined = see(SOMEBODY, join, NULL);
	daemon_reload(&daemon, only_nobody);
	refused = daemon_number(&daemon, "refused");
	looked = see(SOMEBODY, look, &own);
	joined_again = see(SOMEBODY, join, NULL);
	opened = see(SOMEBODY, open_handle, NULL);
	collected = see(SOMEBODY, collect, NULL);
	after = see(SOMEBODY, look, &own);
	usleep(110000); /* a report is as old as that at most */
	refused_after = daemon_number(&daemon, "refused");
	daemon_stop(&daemon);
	assert_int_equal(looked.r, 0);
	assert_int_equal(looked.inode, joined.inode);
	assert_int_equal(joined_again.r, -EACCES);
	assert_non_null(strstr(joined_again.text, "the users who may connect"));
	assert_int_equal(opened.r, -EACCES);
	assert_int_equal(collected.r, 0);
	assert_int_equal(after.r, -EACCES); /* has no table any more, so is refused at once */
	assert_int_equal(refused_after - refused, 3);
}

/* Sends @message to the daemon, where this user may only collect. True: the answer is the refusal,
 * and then the end of the connection. */
static bool is_turned_away(
	const struct daemon_process *daemon, const void *message, size_t size_bytes)
{
	_cleanup_close_ int fd = connect_raw(daemon);
	struct wire_packet packet;

	send(fd, message, size_bytes, MSG_NOSIGNAL);
	if (wire_receive(fd, WIRE_FROM_DAEMON, &packet) != 1 ||
		packet.message.header.opcode != WIRE_ERROR || packet.message.error.error != -EACCES)
		return false;
	return wire_receive(fd, WIRE_FROM_DAEMON, &packet) != 1;
}

static int send_anything_else(void *argument)
{
	static const enum wire_opcode opcodes[] = { WIRE_HELLO, WIRE_INFO, WIRE_OWNER, WIRE_RENEW };
	union wire_message message;

	for (size_t i = 0; i < ARRAY_SIZE(opcodes); i++) {
		wire_begin(&message, opcodes[i]);
		if (!is_turned_away(argument, &message, message.header.size))
			return 1;
	}
	wire_begin(&message, WIRE_HELLO);
	message.header.opcode = 77;
	if (!is_turned_away(argument, &message, message.header.size))
		return 2;
	return is_turned_away(argument, "nonsense", 8) ? 0 : 3;
}

CASE("whatever else it sends is refused, and ends the connection")
{
	struct daemon_process daemon = {};
	int r;

	begin(&daemon, NULL);
	see(SOMEBODY, join, NULL);
	daemon_reload(&daemon, only_nobody);
	r = wait_for(start_as(SOMEBODY, send_anything_else, &daemon), 30);
	daemon_stop(&daemon);
	assert_int_equal(r, 0);
}

CASE("to join a table takes a HELLO")
{
	struct daemon_process daemon = {};
	struct wire_packet packet;
	union wire_message message;
	int fd;

	begin(&daemon, NULL);
	fd = connect_raw(&daemon);
	wire_begin(&message, WIRE_TEAM);
	message.team.uid = TEAM_OWN;
	message.team.bytes = BYTES;
	strcpy(message.team.name, name);
	assert_int_equal(wire_send(fd, &message, NULL, 0), 0);
	assert_int_equal(wire_receive(fd, WIRE_FROM_DAEMON, &packet), 1);
	assert_int_equal(packet.message.error.error, -EPROTO);
	close(fd);
	daemon_stop(&daemon);
}

/* The case itself is a member, so that the table is alive. */
CASE("tables outlive uncored where a manager keeps them")
{
	const struct team_wish wish = { .name = name, .layout = LAYOUT, .bytes = BYTES };
	struct daemon_process daemon = {};
	struct team_table before, after;
	struct flock lock = { .l_type = F_WRLCK, .l_len = 1 };
	ino_t inode;

	daemon_start_activated(&daemon, "standin", NULL, true);
	assert_int_equal(team_join(daemon.socket_path, &wish, &before), 0);
	assert_int_equal(fcntl(before.fd, F_SETLK, &lock), 0);
	inode = inode_of(before.fd);
	daemon_kill(&daemon);
	daemon_restart(&daemon, "standin");
	assert_int_equal(team_join(daemon.socket_path, &wish, &after), 0);
	assert_int_equal(inode_of(after.fd), inode);
	assert_int_equal(after.made_ns, before.made_ns);
	team_table_done(&after); /* and with it the lock: see fcntl(2) */
	assert_int_equal(fcntl(before.fd, F_SETLK, &lock), 0);
	daemon_kill(&daemon);
	manager_lose(&daemon.manager, "ledger"); /* so that the totals begin anew */
	daemon_restart(&daemon, "standin");
	daemon_kill(&daemon);
	daemon_restart(&daemon, "standin");
	assert_int_equal(team_join(daemon.socket_path, &wish, &after), 0);
	assert_int_equal(inode_of(after.fd), inode);
	team_table_done(&after);
	team_table_done(&before);
	daemon_stop(&daemon);
}

static void come_and_go(void)
{
	struct uncore *handle;

	assert_int_equal(uncore_open(path, &handle), 0);
	uncore_close(handle);
}

/* As its first process does, before it locks its place. */
static void fill_table(const struct team_table *table)
{
	static const char content[BYTES];

	assert_int_equal(pwrite(table->fd, content, sizeof content, 0), sizeof content);
}

CASE("a team has no end before its first process has locked a place, and then it is noticed")
{
	const struct team_wish wish = { .name = name, .layout = LAYOUT, .bytes = BYTES };
	struct flock lock = { .l_type = F_WRLCK, .l_len = 1 };
	struct daemon_process daemon = {};
	struct team_table table;
	struct team_reading reading;
	uint64_t locked_ns;

	begin(&daemon, NULL);
	assert_int_equal(team_join(path, &wish, &table), 0);
	fill_table(&table);
	come_and_go();
	assert_int_equal(team_last_reading(path, &table, &reading), -ENODATA);
	assert_int_equal(fcntl(table.fd, F_SETLK, &lock), 0);
	locked_ns = clock_now_ns();
	come_and_go();
	lock.l_type = F_UNLCK;
	assert_int_equal(fcntl(table.fd, F_SETLK, &lock), 0);
	come_and_go();
	assert_int_equal(team_last_reading(path, &table, &reading), 0);
	assert_true(reading.noticed_ns > locked_ns);
	team_table_done(&table);
	daemon_stop(&daemon);
}

CASE("without a manager, a restart begins with another table")
{
	const struct team_wish wish = { .name = name, .layout = LAYOUT, .bytes = BYTES };
	const struct team_wish later = {
		.name = name, .layout = LAYOUT, .bytes = BYTES, .after_run = UINT32_MAX - 2
	};
	struct daemon_process daemon = {};
	struct team_table before, after;

	daemon_start_activated(&daemon, "standin", NULL, false);
	assert_int_equal(team_join(daemon.socket_path, &wish, &before), 0);
	daemon_kill(&daemon);
	daemon_restart(&daemon, "standin");
	assert_int_equal(team_join(daemon.socket_path, &wish, &after), 0);
	assert_int_not_equal(inode_of(after.fd), inode_of(before.fd));
	assert_true(after.run > before.run);
	team_table_done(&after);
	assert_int_equal(team_join(daemon.socket_path, &later, &after), 0);
	assert_int_equal(after.run, later.after_run + 1);
	team_table_done(&after);
	team_table_done(&before);
	daemon_stop(&daemon);
}

CASE("info says how many tables there are")
{
	const struct team_wish wish = { .name = name, .layout = LAYOUT, .bytes = BYTES };
	struct daemon_process daemon = {};
	struct flock lock = { .l_type = F_WRLCK, .l_len = 1 };
	struct team_table table;
	struct run none, one;

	begin(&daemon, NULL);
	run_uncore(&none, (const char *const[]){ "info", "-v", "--socket", path, NULL });
	see(NOBODY, join, NULL);
	assert_int_equal(team_join(path, &wish, &table), 0);
	assert_int_equal(fcntl(table.fd, F_SETLK, &lock), 0);
	usleep(110000); /* a report is as old as that at most */
	run_uncore(&one, (const char *const[]){ "info", "-v", "--socket", path, NULL });
	team_table_done(&table);
	daemon_stop(&daemon);
	assert_null(strstr(none.output, "tables of teams"));
	if (!strstr(one.output, "2 tables of teams are kept, 1 of them of teams that are running"))
		fail_msg("%s", one.output);
}

CASE("wrong wishes are explained")
{
	const struct team_wish half = { .name = name, .bytes = 100 }, blank = { .name = "a b" };
	const struct team_choice both = { .name = name, .number = 1 };
	struct daemon_process daemon = {};
	struct team_table table;

	begin(&daemon, NULL);
	assert_int_equal(team_join(path, &half, &table), -EINVAL);
	assert_non_null(strstr(uncore_error_text(), "whole pages"));
	assert_int_equal(team_join(path, &blank, &table), -EINVAL);
	assert_non_null(strstr(uncore_error_text(), "\"a b\" cannot name a team"));
	assert_int_equal(team_look(path, &both, NULL, &table), -EINVAL);
	daemon_stop(&daemon);
	assert_int_equal(
		team_look(path, &(struct team_choice){ .name = name }, NULL, &table), -ENOENT);
	assert_non_null(strstr(uncore_error_text(), "Cannot connect to uncored"));
}

int main(void)
{
	if (!system_tests_can_run())
		return 0;
	shared = mmap(
		NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return run_cases(NULL, NULL);
}
