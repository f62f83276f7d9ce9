/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose account subordinate ids are, by files that the daemon has in place of this computer's. */
#include "tests/harness/daemon-process.h"
#include "tests/harness/test.h"

#include <json-c/json.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/macro.h"

enum { SUBORDINATE = 100003, STRANGER = 200003, REPORT_US = 60000 };

static const char *socket_path;

/* For each byte that is not zero it reads, and says how that ended. */
static int serve_client(void *argument)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	const int *ends = argument;
	struct uncore *uncore;
	char answer;

	if (uncore_open(socket_path, &uncore) < 0)
		return 1;
	while (read(ends[1], &answer, 1) == 1 && answer) {
		answer = uncore_read(uncore, 0, UNCORE_FRESH, &sample) == 0;
		if (write(ends[1], &answer, 1) != 1)
			return 1;
	}
	uncore_close(uncore);
	return 0;
}

struct client {
	pid_t pid;
	int ends[2];
};

static bool reads(const struct client *client)
{
	char answer = 1;

	return write(client->ends[0], &answer, 1) == 1 && read(client->ends[0], &answer, 1) == 1 &&
	       answer;
}

static struct client start_client(uid_t uid)
{
	struct client client;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, client.ends), 0);
	client.pid = start_as(uid, serve_client, client.ends);
	close(client.ends[1]);
	assert_true(reads(&client));
	return client;
}

static void stop_client(const struct client *client)
{
	assert_int_equal(write(client->ends[0], "", 1), 1);
	close(client->ends[0]);
	assert_int_equal(wait_for(client->pid, 30), 0);
}

/* The number of clients of the account of @uid, -1: there is no such account. */
static int clients_of(uint32_t uid)
{
	_cleanup_free_ char *text = NULL;
	struct json_object *report, *users, *value;
	int n = -1;

	usleep(REPORT_US);
	assert_int_equal(uncore_clients(socket_path, &text), 0);
	report = json_tokener_parse(text);
	users = json_object_object_get(report, "users");
	for (size_t i = 0; i < json_object_array_length(users); i++) {
		struct json_object *user = json_object_array_get_idx(users, i);

		if (json_object_object_get_ex(user, "uid", &value) &&
			json_object_get_uint64(value) == uid)
			n = json_object_get_int(json_object_object_get(user, "clients"));
	}
	json_object_put(report);
	return n;
}

CASE("SIGHUP reads again who owns subordinate ids; a connected client keeps its account")
{
	struct daemon_process daemon = { .etc = { { "subuid", "nobody:100000:10\n" },
						 { "passwd", "nobody:x:65534:65534::/:\n" } } };
	struct client before, after, stranger;
	bool both;
	int n[5];

	daemon_start(&daemon, "standin", NULL);
	socket_path = daemon.socket_path;
	before = start_client(SUBORDINATE);
	stranger = start_client(STRANGER);
	n[0] = clients_of(NOBODY);
	n[1] = clients_of(STRANGER);
	n[2] = clients_of(SUBORDINATE);
	daemon_write_etc(&daemon, 0, "65533:100000:10\n");
	daemon_hang_up(&daemon);
	after = start_client(SUBORDINATE);
	both = reads(&before) && reads(&after);
	n[3] = clients_of(NOBODY);
	n[4] = clients_of(SOMEBODY);
	stop_client(&before);
	stop_client(&after);
	stop_client(&stranger);
	daemon_stop(&daemon);
	assert_true(both);
	assert_int_equal(n[0], 1);
	assert_int_equal(n[1], 1);
	assert_int_equal(n[2], -1);
	assert_int_equal(n[3], 1);
	assert_int_equal(n[4], 1);
}

int main(void)
{
	return run_privileged_cases(NULL, NULL);
}
