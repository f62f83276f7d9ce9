/* SPDX-License-Identifier: BSD-3-Clause */
/* `uncore info --clients`: root is told who reads and who costs, and nobody else is. */
#include "tests/harness/daemon-process.h"
#include "tests/harness/test.h"

#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/clock.h"
#include "common/macro.h"
#include "common/wire.h"

/* The daemon gives out one report for a tenth of a second. */
enum { REPORT_US = 120000, N_READS = 50 };

/* --- a client that reads when it is told to --- */

struct client {
	pid_t pid;
	int ends[2];
};

/* Each byte asks for so many fresh reads of socket 0, and is sent back after them. */
static int serve_client(void *argument)
{
	const struct client *client = argument;
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct uncore *uncore;
	unsigned char n;

	close(client->ends[0]);
	prctl(PR_SET_NAME, "a) 1 \033[1m");
	if (uncore_open(the_daemon.socket_path, &uncore) < 0)
		return 1;
	while (read(client->ends[1], &n, 1) == 1) {
		for (unsigned i = 0; i < n; i++)
			if (uncore_read(uncore, 0, UNCORE_FRESH, &sample) < 0)
				return 1;
		if (write(client->ends[1], &n, 1) != 1)
			break;
	}
	uncore_close(uncore);
	return 0;
}

static void let_read(const struct client *client, unsigned char n)
{
	assert_int_equal(write(client->ends[0], &n, 1), 1);
	assert_int_equal(read(client->ends[0], &n, 1), 1);
}

static struct client start_client(uid_t uid)
{
	struct client client;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, client.ends), 0);
	client.pid = start_as(uid, serve_client, &client);
	close(client.ends[1]);
	let_read(&client, 1);
	return client;
}

static void stop_client(const struct client *client)
{
	close(client->ends[0]);
	assert_int_equal(wait_for(client->pid, 10), 0);
}

/* --- the report --- */

static struct json_object *report(void)
{
	_cleanup_free_ char *text = NULL;
	struct json_object *object;

	usleep(REPORT_US);
	assert_int_equal(uncore_clients(the_daemon.socket_path, &text), 0);
	object = json_tokener_parse(text);
	assert_non_null(object);
	return object;
}

/* The user with @key = @number; NULL: none. */
static struct json_object *find_user(struct json_object *object, const char *key, uint64_t number)
{
	struct json_object *users = json_object_object_get(object, "users"), *value;

	for (size_t i = 0; i < json_object_array_length(users); i++) {
		struct json_object *user = json_object_array_get_idx(users, i);

		if (json_object_object_get_ex(user, key, &value) &&
			json_object_get_uint64(value) == number)
			return user;
	}
	return NULL;
}

static uint64_t number(struct json_object *user, const char *part, const char *key)
{
	return json_object_get_uint64(
		json_object_object_get(json_object_object_get(user, part), key));
}

/* --- cases --- */

CASE("sweeps and CPU time of a user's reads are the user's, to the last sweep")
{
	struct client client = start_client(NOBODY);
	struct json_object *before, *after, *was, *is;
	uint64_t sweeps, reader_ns;

	sweeps = daemon_socket_number(&the_daemon, 0, "sweeps");
	reader_ns = daemon_socket_number(&the_daemon, 0, "cpu_ns") +
		    daemon_socket_number(&the_daemon, 1, "cpu_ns");
	before = report();
	let_read(&client, N_READS);
	after = report();
	usleep(REPORT_US);
	sweeps = daemon_socket_number(&the_daemon, 0, "sweeps") - sweeps;
	reader_ns = daemon_socket_number(&the_daemon, 0, "cpu_ns") +
		    daemon_socket_number(&the_daemon, 1, "cpu_ns") - reader_ns;
	stop_client(&client);
	was = find_user(before, "uid", NOBODY);
	is = find_user(after, "uid", NOBODY);
	assert_int_equal(number(is, "reads", "sweeps") - number(was, "reads", "sweeps"), N_READS);
	assert_int_equal(sweeps, N_READS);
	assert_in_range(
		number(is, "reads", "cpu_ns") - number(was, "reads", "cpu_ns"), 1, reader_ns);
	json_object_put(before);
	json_object_put(after);
}

CASE("each process has its number, its user and its name, as plain text")
{
	struct client client = start_client(NOBODY);
	struct json_object *object, *processes, *process;
	struct run run;

	object = report();
	run_program(&run, 0,
		(const char *[]){ build_path("client/uncore"), "info", "--clients", "--socket",
			the_daemon.socket_path, NULL });
	stop_client(&client);
	processes = json_object_object_get(find_user(object, "uid", NOBODY), "processes");
	process = json_object_array_get_idx(processes, 0);
	assert_int_equal(json_object_array_length(processes), 1);
	assert_int_equal(json_object_get_int(json_object_object_get(process, "pid")), client.pid);
	assert_int_equal(json_object_get_int(json_object_object_get(process, "uid")), NOBODY);
	assert_int_equal(json_object_get_int(json_object_object_get(process, "requests")), 1);
	assert_int_equal(run.status, 0);
	assert_non_null(strstr(run.output, "nobody (65534)"));
	assert_non_null(strstr(run.output, "  a) 1 ?[1m, uid 65534, process "));
	json_object_put(object);
}

static int ask_for_clients(void *argument)
{
	char *text = NULL;

	return uncore_clients(the_daemon.socket_path, &text) == -EPERM && !text &&
			       strstr(uncore_error_text(), "Only root is told who the clients are.")
		       ? 0
		       : 1;
}

static int open_in_vain(void *argument)
{
	struct uncore *uncore;

	return uncore_open(the_daemon.socket_path, &uncore) == -EACCES ? 0 : 1;
}

CASE("refusals are counted for the user by rule, and only root is told")
{
	struct json_object *object, *user;
	struct run run;

	assert_int_equal(wait_for(start_as(SOMEBODY, ask_for_clients, NULL), 10), 0);
	run_uncore(&run,
		(const char *[]){ "info", "--clients", "--socket", the_daemon.socket_path, NULL });
	daemon_reload(&the_daemon, "[access]\nusers = 65534\n");
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(wait_for(start_as(SOMEBODY, open_in_vain, NULL), 10), 0);
	daemon_reload(&the_daemon, "");
	object = report();
	user = find_user(object, "uid", SOMEBODY);
	assert_non_null(user);
	assert_int_equal(run.status, 1);
	assert_non_null(strstr(run.output, "Only root is told who the clients are."));
	assert_in_range(number(user, "refusals", "server.root"), 1, 2);
	assert_int_equal(number(user, "refusals", "access.users"), 3);
	json_object_put(object);
}

CASE("a user whose reads wait is seen")
{
	struct json_object *object;
	struct client client;

	daemon_reload(&the_daemon, "[disclosure]\nmin_interval_per_user_ms = 5\n");
	client = start_client(NOBODY);
	let_read(&client, 20);
	object = report();
	stop_client(&client);
	daemon_reload(&the_daemon, "");
	assert_true(number(find_user(object, "uid", NOBODY), "reads", "throttled") >= 10);
	json_object_put(object);
}

/* Makes a table of 65536 bytes, and leaves. */
static int make_table(void *argument)
{
	struct wire_packet packet;
	union wire_message request;
	int fd = connect_hello(&the_daemon, &packet);

	wire_begin(&request, WIRE_TEAM);
	request.team.wish = TEAM_JOIN;
	request.team.uid = TEAM_OWN;
	request.team.bytes = 65536;
	strcpy(request.team.name, "slurm.1.0");
	return wire_send(fd, &request, NULL, 0) < 0 ||
	       wire_receive(fd, WIRE_FROM_DAEMON, &packet) != 1 ||
	       packet.message.header.opcode != WIRE_TABLE;
}

CASE("a table of a team is its user's")
{
	struct client client = start_client(NOBODY);
	struct json_object *before, *after;

	before = report();
	assert_int_equal(as_nobody(make_table, NULL), 0);
	after = report();
	stop_client(&client);
	assert_int_equal(number(find_user(before, "uid", NOBODY), "tables", "kept"), 0);
	assert_int_equal(number(find_user(after, "uid", NOBODY), "tables", "kept"), 1);
	json_object_put(before);
	json_object_put(after);
}

/* Root's own connections cost next to nothing, and came first. */
CASE("the user who costs most at this moment comes first")
{
	const char *const arguments[] = { build_path("client/uncore"), "info", "--clients",
		"--socket", the_daemon.socket_path, NULL };
	const char *nobody, *root;
	unsigned char flood[4000]; /* more than is read before the client is killed */
	struct client client;
	struct run run;

	memset(flood, UINT8_MAX, sizeof flood);
	client = start_client(NOBODY);
	assert_int_equal(write(client.ends[0], flood, sizeof flood), sizeof flood);
	run_program(&run, 0, arguments);
	kill(client.pid, SIGKILL);
	wait_for(client.pid, 10);
	close(client.ends[0]);
	nobody = strstr(run.output, "nobody (65534)");
	root = strstr(run.output, "root (0)");
	assert_non_null(nobody);
	assert_non_null(root);
	assert_true(nobody < root);
}

/* --- a flood of costly requests --- */

enum { FLOOD_CONNECTIONS = 200, FLOOD_S = 3, BUDGET_PARTS = 10 /* as shipped, 10 % */ };

/* What all users and this one may have saved up (budget.h); and the cost of a request is known only
 * when it is answered. */
static const uint64_t SAVED_NS = 150000000 + 200000000, OVERDRAWN_NS = 50000000;

/* Each new table costs as much, and asks the service manager twice: keep it, drop it. The third is
 * for what uncored tells of its own accord. */
static const uint64_t NEW_TABLE_NS = 1000000;
enum { MESSAGES_PER_TABLE = 3 };

static void ask_for_table(int connection)
{
	static unsigned n;
	union wire_message message;

	wire_begin(&message, WIRE_TEAM);
	message.team.wish = TEAM_JOIN;
	message.team.uid = TEAM_OWN;
	message.team.bytes = 1 << 20;
	message.team.layout = 7;
	snprintf(message.team.name, sizeof message.team.name, "flood.%u", n++);
	wire_send(connection, &message, NULL, 0);
}

/* Asks for a new table on each connection again as soon as it is answered. */
static int flood(void *argument)
{
	struct pollfd ends[FLOOD_CONNECTIONS];
	struct wire_packet packet;

	for (unsigned i = 0; i < FLOOD_CONNECTIONS; i++) {
		ends[i] = (struct pollfd){ connect_hello(&the_daemon, &packet), POLLIN, 0 };
		wire_packet_done(&packet);
	}
	for (unsigned i = 0; i < FLOOD_CONNECTIONS; i++)
		ask_for_table(ends[i].fd);
	for (;;) {
		poll(ends, FLOOD_CONNECTIONS, -1);
		for (unsigned i = 0; i < FLOOD_CONNECTIONS; i++) {
			if (!ends[i].revents)
				continue;
			if (wire_receive(ends[i].fd, WIRE_FROM_DAEMON, &packet) != 1)
				return 1;
			wire_packet_done(&packet);
			ask_for_table(ends[i].fd);
		}
	}
}

static uint64_t charged_ns(uint64_t uid)
{
	struct json_object *object;
	uint64_t ns;

	usleep(REPORT_US);
	object = report();
	ns = number(find_user(object, "uid", uid), "requests", "cpu_ns");
	json_object_put(object);
	return ns;
}

/* Returns how many messages the service manager gets meanwhile. */
static unsigned count_messages_for(unsigned seconds)
{
	const uint64_t end_ns = clock_now_ns() + seconds * UINT64_C(1000000000);
	const unsigned before = the_daemon.manager.n_messages;

	while (clock_now_ns() < end_ns) {
		manager_dispatch(&the_daemon.manager);
		usleep(1000);
	}
	return the_daemon.manager.n_messages - before;
}

CASE("requests get the user's part of the budget, on however many connections")
{
	struct client client = start_client(NOBODY);
	uint64_t before_ns, begin_ns, ns;
	unsigned n_messages;
	pid_t pid;

	before_ns = charged_ns(NOBODY);
	begin_ns = clock_now_ns();
	pid = start_as_nobody(flood, NULL);
	n_messages = count_messages_for(FLOOD_S);
	ns = charged_ns(NOBODY) - before_ns;
	kill(pid, SIGKILL);
	assert_int_equal(wait_for(pid, 10), 128 + SIGKILL);
	stop_client(&client);
	print_message("# charged %llu ms, %u messages to the service manager\n",
		(unsigned long long)ns / 1000000, n_messages);
	assert_in_range(ns, SAVED_NS / 4,
		(clock_now_ns() - begin_ns) / BUDGET_PARTS + SAVED_NS + OVERDRAWN_NS);
	assert_in_range(n_messages, 1, MESSAGES_PER_TABLE * (ns / NEW_TABLE_NS + 1));
}

/* All cases before have had clients of this user. */
CASE("the first client of a user is in the log, once an hour")
{
	char line[96];

	for (unsigned i = 0; i < 3; i++) {
		struct client client = start_client(NOBODY);

		stop_client(&client);
	}
	snprintf(line, sizeof line, "User %d has its first client, process ", NOBODY);
	assert_int_equal(daemon_logged(&the_daemon, line), 1);
}

int main(void)
{
	return run_on_daemon("standin", NULL);
}
