/* SPDX-License-Identifier: BSD-3-Clause */
/* SIGHUP: what changes at once, what stays, and what becomes of connected clients. */
#include "tests/harness/daemon-process.h"
#include "tests/harness/test.h"

#include <errno.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/macro.h"

/* --- a client that is told when to read --- */

struct client {
	pid_t pid;
	int ends[2];
	const char *socket_path;
};

/* Each byte asks for a fresh read, which opens a handle if there is none; the answer is -errno. */
static int serve_client(void *argument)
{
	const struct client *client = argument;
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct uncore *uncore = NULL;
	char byte;

	close(client->ends[0]);
	while (read(client->ends[1], &byte, 1) == 1) {
		int r = uncore ? 0 : uncore_open(client->socket_path, &uncore);

		if (r >= 0)
			r = uncore_read(uncore, 0, UNCORE_FRESH, &sample);
		if (r < 0) {
			uncore_close(uncore);
			uncore = NULL;
		}
		byte = (char)-r;
		if (write(client->ends[1], &byte, 1) != 1)
			break;
	}
	uncore_close(uncore);
	return 0;
}

static struct client start_client(const struct daemon_process *daemon, uid_t uid)
{
	struct client client = { .socket_path = daemon->socket_path };

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, client.ends), 0);
	client.pid = start_as(uid, serve_client, &client);
	close(client.ends[1]);
	return client;
}

/* 0, or what failed, as a positive errno. */
static int let_read(const struct client *client)
{
	char byte = 0;

	assert_int_equal(write(client->ends[0], &byte, 1), 1);
	assert_int_equal(read(client->ends[0], &byte, 1), 1);
	return byte;
}

static void stop_client(const struct client *client)
{
	kill(client->pid, SIGKILL);
	wait_for(client->pid, 10);
	close(client->ends[0]);
}

/* --- cases --- */

CASE("a client that may not connect any more is disconnected, and may come back later")
{
	struct daemon_process daemon = {};
	struct client nobody, somebody;
	int before[2], after[2], again[2], loose;
	uint64_t n_clients;
	unsigned n_told;

	daemon_start(&daemon, "standin", NULL);
	nobody = start_client(&daemon, NOBODY);
	somebody = start_client(&daemon, SOMEBODY);
	before[0] = let_read(&nobody);
	before[1] = let_read(&somebody);
	daemon_reload(&daemon, "[access]\nusers = 65534\n");
	n_clients = daemon_number(&daemon, "clients");
	after[0] = let_read(&nobody);
	after[1] = let_read(&somebody);
	again[0] = let_read(&nobody);
	again[1] = let_read(&somebody);
	n_told = daemon_logged(&daemon, "1 clients may not connect any more and were disconnected");
	daemon_reload(&daemon, "");
	loose = let_read(&somebody);
	stop_client(&nobody);
	stop_client(&somebody);
	daemon_stop(&daemon);
	assert_int_equal(before[0], 0);
	assert_int_equal(before[1], 0);
	assert_int_equal(n_clients, 1);     /* the client that asks */
	assert_int_equal(after[0], EACCES); /* the page is withdrawn from all its readers */
	assert_int_equal(after[1], EACCES);
	assert_int_equal(again[0], 0);
	assert_int_equal(again[1], EACCES);
	assert_int_equal(n_told, 1);
	assert_int_equal(loose, 0);
}

CASE("a wrong configuration changes nothing, and the log says why")
{
	struct daemon_process daemon = {};
	struct client somebody;
	int before, after;
	unsigned n_told;

	daemon_start(&daemon, "standin", "[access]\nusers = 65534\n");
	somebody = start_client(&daemon, SOMEBODY);
	before = let_read(&somebody);
	daemon_reload(&daemon, "[access]\nusers = 65533\n[disclosure]\nquantum = no\n");
	after = let_read(&somebody);
	n_told = daemon_logged(&daemon, "/conf:4: quantum = no: must be 1 to 1073741824 (bytes).");
	stop_client(&somebody);
	daemon_stop(&daemon);
	assert_int_equal(before, EACCES);
	assert_int_equal(after, EACCES);
	assert_int_equal(n_told, 1);
}

CASE("a wrong file of conf.d changes nothing, and the log says which file it is")
{
	struct daemon_process daemon = {};
	struct client somebody;
	char folder[96], path[128];
	int before, after, right;
	unsigned n_told;
	FILE *file;

	daemon_start(&daemon, "standin", "[access]\nusers = 65534\n");
	somebody = start_client(&daemon, SOMEBODY);
	before = let_read(&somebody);
	snprintf(folder, sizeof folder, "%s/conf.d", daemon.directory);
	snprintf(path, sizeof path, "%s/10.conf", folder);
	assert_int_equal(mkdir(folder, 0755), 0);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs("[disclosure]\nquantum = no\n", file);
	assert_int_equal(fclose(file), 0);
	daemon_reload(&daemon, "[access]\nusers = 65533\n");
	after = let_read(&somebody);
	n_told = daemon_logged(&daemon, "/conf.d/10.conf:2: quantum = no: must be 1 to");
	unlink(path);
	daemon_hang_up(&daemon);
	right = let_read(&somebody);
	rmdir(folder);
	stop_client(&somebody);
	daemon_stop(&daemon);
	assert_int_equal(before, EACCES);
	assert_int_equal(after, EACCES); /* also what is right in the other file waits */
	assert_int_equal(n_told, 1);
	assert_int_equal(right, 0);
}

/* What the state has under "refused_configuration"; "": nothing. */
static void read_refused(const struct daemon_process *daemon, char ret[512])
{
	struct json_object *info = daemon_info(daemon), *refused;

	refused = json_object_object_get(info, "refused_configuration");
	snprintf(ret, 512, "%s", refused ? json_object_get_string(refused) : "");
	json_object_put(info);
}

CASE("a wrong configuration is in the status and in `uncore info` until it is right")
{
	static const char reason[] = "/conf:2: users = root, pcp: has a comma: users are separated";
	struct daemon_process daemon = {};
	char wrong[512], right[512], wrong_status[1024];
	struct run info;

	daemon_start(&daemon, "standin", NULL);
	daemon_reload(&daemon, "[access]\nusers = root, pcp\n");
	read_refused(&daemon, wrong);
	run_uncore(&info, (const char *[]){ "info", "--socket", daemon.socket_path, NULL });
	strcpy(wrong_status, daemon.manager.status);
	daemon_reload(&daemon, "[access]\nusers = 65534\n");
	read_refused(&daemon, right);
	daemon_stop(&daemon);
	assert_non_null(strstr(wrong, reason));
	assert_non_null(strstr(info.output, "THE CONFIGURATION FILE IS REFUSED, so the one as it "
					    "was before holds: "));
	assert_non_null(strstr(info.output, reason));
	assert_non_null(strstr(wrong_status, reason));
	assert_non_null(strstr(wrong_status, "So the configuration as it was before holds."));
	assert_string_equal(right, "");
	assert_null(strstr(daemon.manager.status, "as it was before"));
	assert_non_null(
		strstr(daemon.manager.status, "Serving standin, 2 sockets: dram.read, dram.write"));
	assert_non_null(strstr(daemon.manager.status, " Root may connect, and "));
	assert_null(strchr(daemon.manager.status, '\n'));
}

CASE("a start with a wrong configuration serves nothing, and says so there")
{
	static const char reason[] = "/conf:2: users = root, pcp: has a comma";
	struct daemon_process daemon = {};
	struct run info;

	daemon_start(&daemon, "standin", "[access]\nusers = root, pcp\n");
	run_uncore(&info, (const char *[]){ "info", "--socket", daemon.socket_path, NULL });
	daemon_stop(&daemon);
	assert_int_equal(info.status, 0);
	assert_non_null(strstr(info.output, "uncored is there, but serves nothing."));
	assert_non_null(strstr(info.output, reason));
	assert_non_null(strstr(daemon.manager.status, "Serving nothing: "));
	assert_non_null(strstr(daemon.manager.status, reason));
}

static struct json_object *policy_of(struct json_object *state)
{
	return json_object_object_get(state, "policy");
}

static int number(struct json_object *object, const char *key)
{
	return json_object_get_int(json_object_object_get(object, key));
}

CASE("limits, permissions, intervals and quantum change at once")
{
	struct daemon_process daemon = {};
	struct json_object *before, *after;
	struct uncore_daemon about = UNCORE_DAEMON_INIT;
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct uncore *handle, *another = NULL;
	struct client nobody;
	struct stat st;
	int metric, quota, outside;
	unsigned n_told;

	daemon_start(&daemon, "standin", NULL);
	before = daemon_info(&daemon);
	assert_int_equal(uncore_open(daemon.socket_path, &handle), 0);
	daemon_reload(&daemon, "[server]\nmax_clients_per_user = 2\nrequests_per_second = 5\n"
			       "[access]\nmode = 0622\ngroup = 65533\n"
			       "[disclosure]\nmin_interval_ms = 1\nquantum = 1000000\n"
			       "[reader]\nbudget_percent = 20\nburst_ms = 50\n");
	after = daemon_info(&daemon);
	uncore_close(handle);
	assert_int_equal(uncore_open(daemon.socket_path, &handle), 0);
	uncore_describe_daemon(handle, &about);
	assert_int_equal(uncore_read(handle, 0, UNCORE_FRESH, &sample), 0);
	metric = uncore_find_metric(handle, "dram.read");
	pin_to_cpu(0); /* of socket 0, so that its value gets beyond what was published exactly */
	touch_pages(1000);
	assert_int_equal(uncore_read(handle, 0, UNCORE_FRESH, &sample), 0);
	assert_int_equal(stat(daemon.socket_path, &st), 0);
	assert_int_equal(uncore_open(daemon.socket_path, &another), 0);
	quota = uncore_open(daemon.socket_path, &(struct uncore *){ NULL });
	uncore_close(another);
	uncore_close(handle);
	nobody = start_client(&daemon, NOBODY);
	outside = let_read(&nobody);
	stop_client(&nobody);
	n_told = daemon_logged(&daemon, "to group 65533: Operation not permitted. uncored must be");
	daemon_stop(&daemon);
	assert_string_equal(json_object_get_string(json_object_object_get(before, "generation")),
		json_object_get_string(json_object_object_get(after, "generation")));
	assert_int_equal(number(policy_of(after), "max_clients_per_user"), 2);
	assert_int_equal(number(policy_of(after), "requests_per_second"), 5);
	assert_int_equal(number(policy_of(after), "min_interval_ms"), 1);
	assert_int_equal(number(policy_of(after), "quantum"), 1000000);
	assert_int_equal(number(policy_of(after), "budget_percent"), 20);
	assert_int_equal(number(policy_of(after), "burst_ms"), 50);
	assert_int_equal(about.min_interval_ns, 1000000);
	assert_int_equal(st.st_mode & 0777, 0622);
	/*
	 * A running daemon has no privilege to give its socket to a group; the rule about the group
	 * holds all the same.
	 */
	assert_int_equal(n_told, 1);
	assert_int_equal(outside, EACCES);
	assert_int_equal(quota, -EDQUOT);
	assert_int_equal(sample.values[metric].count % 1000000, 0);
	json_object_put(before);
	json_object_put(after);
}

CASE("quotas may grow and shrink")
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	struct daemon_process daemon = {};
	struct uncore *handles[6] = {};
	int r[6], reads[6] = {}, narrow;

	daemon_start(&daemon, "standin", "[server]\nmax_clients = 2\n");
	for (unsigned i = 0; i < 6; i++) {
		if (i == 3)
			daemon_reload(&daemon, "[server]\nmax_clients = 5\n");
		r[i] = uncore_open(daemon.socket_path, &handles[i]);
		if (r[i] == 0)
			reads[i] = uncore_read(handles[i], 0, UNCORE_FRESH, &sample);
	}
	/* Connected clients stay, but no other follows. */
	daemon_reload(&daemon, "[server]\nmax_clients = 4\n");
	assert_int_equal(uncore_read(handles[0], 0, UNCORE_FRESH, &sample), 0);
	uncore_close(handles[1]);
	narrow = uncore_open(daemon.socket_path, &handles[1]);
	for (unsigned i = 0; i < 6; i++)
		if (r[i] == 0 && i != 1)
			uncore_close(handles[i]);
	daemon_stop(&daemon);
	for (unsigned i = 0; i < 6; i++) {
		assert_int_equal(r[i], i == 2 ? -EDQUOT : 0);
		assert_int_equal(reads[i], 0);
	}
	assert_int_equal(narrow, -EDQUOT);
}

CASE("a key that needs a restart is named in the log and keeps its value")
{
	static const char *const keys[] = { "[reader] realtime has changed, which needs a restart",
		"[platform] name has changed, which needs a restart",
		"[calibration] has changed, which needs a restart" };
	struct daemon_process daemon = {};
	unsigned n_told[ARRAY_SIZE(keys)];
	struct json_object *info;

	daemon_start(&daemon, "standin", NULL);
	daemon_reload(&daemon, "[server]\nsocket = /nowhere\n[reader]\nrealtime = no\n"
			       "[platform]\nname = icelake-sp\n[calibration]\ndram.read = 128\n");
	for (unsigned i = 0; i < ARRAY_SIZE(keys); i++)
		n_told[i] = daemon_logged(&daemon, keys[i]);
	info = daemon_info(&daemon);
	daemon_stop(&daemon);
	for (unsigned i = 0; i < ARRAY_SIZE(keys); i++)
		assert_int_equal(n_told[i], 1);
	assert_string_equal(
		json_object_get_string(json_object_object_get(info, "platform")), "standin");
	json_object_put(info);
}

int main(void)
{
	return run_privileged_cases(NULL, NULL);
}
