/* SPDX-License-Identifier: BSD-3-Clause */
/* Which clients the real daemon lets in, what it tells the others, and how it counts refusals. */
#include "tests/harness/daemon-process.h"
#include "tests/harness/test.h"

#include <errno.h>
#include <grp.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/macro.h"
#include "common/wire.h"

enum { ANOTHER = 65532 };

/* --- clients: they return 0, or the step that went wrong --- */

static int is_served(void *socket_path)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct uncore *uncore;

	if (uncore_open(socket_path, &uncore) < 0 ||
		uncore_read(uncore, 0, UNCORE_FRESH, &sample) < 0) {
		printf("# %s\n", uncore_error_text());
		fflush(stdout);
		return 1;
	}
	uncore_close(uncore);
	return 0;
}

static int is_refused_with(const char *socket_path, const char *words)
{
	struct uncore *uncore;

	if (uncore_open(socket_path, &uncore) != -EACCES)
		return 1;
	if (strstr(uncore_error_text(), words))
		return 0;
	printf("# %s\n", uncore_error_text());
	fflush(stdout);
	return 2;
}

static int is_not_listed(void *socket_path)
{
	return is_refused_with(socket_path,
		"refuses: User 65533 is not among the users who may connect to uncored. The rule "
		"is "
		"users in [access] of uncored.conf; the administrator of this node can change it.");
}

static int is_in_no_group(void *socket_path)
{
	return is_refused_with(socket_path,
		"refuses: User 65534 is not in the group whose members may connect to uncored. The "
		"rule is group in [access] of uncored.conf; the administrator of this node can "
		"change it.");
}

static int is_shut_out(void *socket_path)
{
	return is_refused_with(socket_path,
		"Permission denied. Its socket is not open to this user. The rule is mode and "
		"group "
		"in [access] of uncored.conf, or SocketMode= and SocketGroup= of uncored.socket; "
		"the administrator of this node can change it.");
}

/* Begins as root: nobody, but with a further group. */
static int is_served_by_another_group(void *socket_path)
{
	const gid_t groups[] = { ANOTHER, SOMEBODY };

	if (setgroups(ARRAY_SIZE(groups), groups) < 0 || setgid(NOBODY) < 0 || setuid(NOBODY) < 0)
		return 99;
	return is_served(socket_path);
}

static int run_as(uid_t uid, int (*body)(void *argument), struct daemon_process *daemon)
{
	return wait_for(start_as(uid, body, daemon->socket_path), 30);
}

/* --- access --- */

CASE("only listed users are served, and the others are told the rule")
{
	struct daemon_process daemon = {};
	int listed, unlisted, root;

	daemon_start(&daemon, "standin", "[access]\nusers = root 65534\n");
	listed = run_as(NOBODY, is_served, &daemon);
	unlisted = run_as(SOMEBODY, is_not_listed, &daemon);
	root = run_as(0, is_served, &daemon);
	daemon_stop(&daemon);
	assert_int_equal(listed, 0);
	assert_int_equal(unlisted, 0);
	assert_int_equal(root, 0);
}

CASE("only members of the group are served, by any of their groups")
{
	struct daemon_process daemon = {};
	int primary, further, outside, root;
	struct stat st;

	daemon_start(&daemon, "standin", "[access]\ngroup = 65533\n");
	assert_int_equal(stat(daemon.socket_path, &st), 0);
	primary = run_as(SOMEBODY, is_served, &daemon);
	further = run_as(0, is_served_by_another_group, &daemon);
	outside = run_as(NOBODY, is_in_no_group, &daemon);
	root = run_as(0, is_served, &daemon);
	daemon_stop(&daemon);
	assert_int_equal(st.st_gid, 65533);
	assert_int_equal(primary, 0);
	assert_int_equal(further, 0);
	assert_int_equal(outside, 0);
	assert_int_equal(root, 0);
}

CASE("the permissions of the socket shut out with a hint that names them")
{
	struct daemon_process daemon = {};
	int member, outside;

	daemon_start(&daemon, "standin", "[access]\nmode = 0660\ngroup = 65533\n");
	member = run_as(SOMEBODY, is_served, &daemon);
	outside = run_as(NOBODY, is_shut_out, &daemon);
	daemon_stop(&daemon);
	assert_int_equal(member, 0);
	assert_int_equal(outside, 0);
}

CASE("lists hold for a socket that systemd made, too")
{
	struct daemon_process daemon = {};
	int before, after, listed;
	struct stat st;

	daemon_start_activated(&daemon, "standin", NULL, false);
	before = run_as(SOMEBODY, is_served, &daemon);
	daemon_reload(&daemon, "[access]\nmode = 0600\nusers = 65534\n");
	after = run_as(SOMEBODY, is_not_listed, &daemon);
	listed = run_as(NOBODY, is_served, &daemon);
	assert_int_equal(stat(daemon.socket_path, &st), 0);
	daemon_stop(&daemon);
	assert_int_equal(before, 0);
	assert_int_equal(after, 0);
	assert_int_equal(listed, 0);
	assert_int_equal(st.st_mode & 0777, 0666); /* uncored leaves systemd's socket as it is */
}

/* --- how refusals are counted --- */

static uint64_t refused_by(struct json_object *state, const char *rule)
{
	return json_object_get_uint64(
		json_object_object_get(json_object_object_get(state, "refusals"), rule));
}

static int come_again_and_again(void *socket_path)
{
	int r = 0;

	for (unsigned i = 0; i < 20 && !r; i++)
		r = is_refused_with(socket_path, "the users who may connect");
	return r;
}

/* One wrong message of each kind; the daemon drops a client that sends something else than
 * messages. */
static int break_the_protocol(void *argument)
{
	struct wire_packet packet;
	union wire_message message;
	int fd = connect_raw(argument);

	wire_begin(&message, WIRE_HELLO);
	message.hello.version = 0;
	wire_send(fd, &message, NULL, 0);
	if (wire_receive(fd, WIRE_FROM_DAEMON, &packet) != 1 ||
		packet.message.error.error != -EPROTONOSUPPORT ||
		!strstr(packet.message.error.text, "install the libuncore that came with"))
		return 1;
	wire_begin(&message, WIRE_INFO);
	wire_send(fd, &message, NULL, 0); /* before HELLO */
	if (wire_receive(fd, WIRE_FROM_DAEMON, &packet) != 1 ||
		packet.message.error.error != -EPROTO)
		return 2;
	send(fd, "nonsense", 5, MSG_NOSIGNAL);
	if (wire_receive(fd, WIRE_FROM_DAEMON, &packet) != 1 ||
		packet.message.error.error != -EBADMSG ||
		!strstr(packet.message.error.text, "mend the client"))
		return 3;
	close(fd);
	return 0;
}

CASE("refusals are counted by rule and logged once a minute per user")
{
	struct daemon_process daemon = {};
	int somebody, another, broken;
	struct json_object *info;
	unsigned lines[3];

	daemon_start(&daemon, "standin", "[access]\nusers = 65534\n");
	somebody = run_as(SOMEBODY, come_again_and_again, &daemon);
	another = run_as(ANOTHER, come_again_and_again, &daemon);
	broken = wait_for(start_as(NOBODY, break_the_protocol, &daemon), 30);
	info = daemon_info(&daemon);
	lines[0] = daemon_logged(&daemon, "Refused user 65533 (access.users; 0 more");
	lines[1] = daemon_logged(&daemon, "Refused user 65532 (access.users; 0 more");
	lines[2] = daemon_logged(&daemon, "Refused user");
	daemon_stop(&daemon);
	assert_int_equal(somebody, 0);
	assert_int_equal(another, 0);
	assert_int_equal(broken, 0);
	assert_int_equal(refused_by(info, "access.users"), 40);
	assert_int_equal(refused_by(info, "protocol.version"), 1);
	assert_int_equal(refused_by(info, "protocol.order"), 1);
	assert_int_equal(refused_by(info, "protocol.message"), 1);
	assert_int_equal(json_object_get_int(json_object_object_get(info, "refused")), 43);
	assert_int_equal(lines[0], 1);
	assert_int_equal(lines[1], 1);
	assert_int_equal(lines[2], 3);
	json_object_put(info);
}

CASE("info says whether anything is restricted")
{
	struct daemon_process daemon = {};
	struct run run;

	daemon_start(&daemon, "standin", NULL);
	run_uncore(
		&run, (const char *const[]){ "info", "-v", "--socket", daemon.socket_path, NULL });
	assert_non_null(strstr(run.output, "Nothing is restricted: everybody on this node"));
	daemon_reload(&daemon, "[access]\nusers = 65534\n[disclosure]\nmin_interval_ms = 3\n"
			       "quantum = 4096\n");
	run_uncore(
		&run, (const char *const[]){ "info", "-v", "--socket", daemon.socket_path, NULL });
	daemon_stop(&daemon);
	if (!strstr(run.output,
		    "Root may connect, and the users 65534. A socket is read at most once "
		    "in 3 ms.\n    Values are rounded down to multiples of 4096 bytes."))
		fail_msg("%s", run.output);
}

int main(void)
{
	return run_privileged_cases(NULL, NULL);
}
