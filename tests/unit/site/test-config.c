/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/macro.h"
#include "daemon/site/config-files.h"
#include "daemon/site/config.h"
#include "tests/harness/tree.h"

static int load(const char *text, struct config *ret, struct fault *fault)
{
	struct tree tree = tree_new();
	char path[128];
	int r;

	tree_write(&tree, "uncored.conf", text);
	snprintf(path, sizeof path, "%s/uncored.conf", tree.root);
	r = config_load(path, NULL, ret, fault);
	tree_free(&tree);
	return r;
}

static void refuses(const char *text, const char *expected)
{
	struct config config = { .max_clients = 7 };
	struct fault fault;

	assert_int_equal(load(text, &config, &fault), -EINVAL);
	assert_non_null(strstr(fault.text, "/uncored.conf:"));
	assert_string_equal(strstr(fault.text, "/uncored.conf:") + 1, expected);
	assert_int_equal(config.max_clients, 7);
}

static void assert_defaults(const struct config *config)
{
	assert_string_equal(config->socket_path, "/run/uncored/socket");
	assert_int_equal(config->socket_mode, 0666);
	assert_false(config->access.by_group);
	assert_int_equal(config->access.n_users, 0);
	assert_int_equal(config->disclosure.min_interval_ms, 0);
	assert_int_equal(config->disclosure.min_interval_per_user_ms, 0);
	assert_int_equal(config->disclosure.quantum, 1);
	assert_int_equal(config->disclosure.quantum_energy, 1);
	assert_string_equal(config->platform, "");
	assert_int_equal(config->max_clients, 0);
	assert_int_equal(config->max_clients_per_user, 0);
	assert_int_equal(config->requests_per_second, 64);
	assert_int_equal(config->budget_percent, 10);
	assert_int_equal(config->burst_ms, 200);
	assert_true(config->realtime);
	assert_string_equal(config->sweep_method, "auto");
}

CASE("Without a file every key has its default")
{
	struct config config;
	struct fault fault;

	assert_int_equal(config_load(NULL, NULL, &config, &fault), 0);
	assert_defaults(&config);
	assert_int_equal(load("", &config, &fault), 0);
	assert_defaults(&config);
}

/* Takes the "#" off every line like "#key = value". */
static void uncomment(char *text)
{
	for (char *c = text; (c = strstr(c, "\n#")); c++)
		if (c[2] >= 'a' && c[2] <= 'z')
			c[1] = '\n';
}

CASE("The shipped file shows every key with its default")
{
	char path[512], text[8192] = "\n";
	struct config config;
	struct fault fault;
	unsigned n_keys = 0;
	FILE *file;

	snprintf(path, sizeof path, "%s/conf/uncored.conf", getenv("UNCORE_SOURCE_ROOT"));
	assert_int_equal(config_load(path, NULL, &config, &fault), 0);
	assert_defaults(&config);

	file = fopen(path, "re");
	assert_non_null(file);
	assert_true(fread(text + 1, 1, sizeof text - 2, file) > 0);
	fclose(file);
	for (char *c = text; (c = strstr(c, "\n#")); c++)
		n_keys += c[2] >= 'a' && c[2] <= 'z';
	assert_int_equal(n_keys, 19);
	uncomment(text);
	memset(&config, 0xff, sizeof config);
	assert_int_equal(load(text, &config, &fault), 0);
	assert_defaults(&config);
}

CASE("Every key is read")
{
	struct config config;
	struct fault fault;

	assert_int_equal(load("[server]\nsocket = /run/other\nmax_clients = 16384\n"
			      "max_clients_per_user = 1\nrequests_per_second = 10000\n"
			      "[access]\nmode = 0600\ngroup = root\nusers = root  4242\n"
			      "[disclosure]\nmin_interval_ms = 60000\n"
			      "min_interval_per_user_ms = 1\nquantum = 1073741824\n"
			      "quantum.energy = 1000000\n"
			      "[reader]\nbudget_percent = 100\nburst_ms = 1\nrealtime = no\n"
			      "[platform]\nname = standin\n"
			      "[metrics]\ndisable = hbm.read hbm.write\n",
				 &config, &fault),
		0);
	assert_string_equal(config.socket_path, "/run/other");
	assert_int_equal(config.socket_mode, 0600);
	assert_true(config.access.by_group);
	assert_int_equal(config.access.group, 0);
	assert_int_equal(config.access.n_users, 2);
	assert_int_equal(config.access.users[0], 0);
	assert_int_equal(config.access.users[1], 4242);
	assert_int_equal(config.disclosure.min_interval_ms, 60000);
	assert_int_equal(config.disclosure.min_interval_per_user_ms, 1);
	assert_int_equal(config.disclosure.quantum, 1073741824);
	assert_int_equal(config.disclosure.quantum_energy, 1000000);
	assert_int_equal(config.max_clients, 16384);
	assert_int_equal(config.max_clients_per_user, 1);
	assert_int_equal(config.requests_per_second, 10000);
	assert_int_equal(config.budget_percent, 100);
	assert_int_equal(config.burst_ms, 1);
	assert_false(config.realtime);
	assert_string_equal(config.platform, "standin");
	assert_string_equal(config.disabled_metrics, "hbm.read hbm.write");
}

CASE("Calibrations are read")
{
	struct config config;
	struct fault fault;

	assert_int_equal(
		load("[calibration]\ndram.read = 128\nhbm.write = 32\n", &config, &fault), 0);
	assert_int_equal(config.n_calibrations, 2);
	assert_string_equal(config.calibrations[0].metric, "dram.read");
	assert_int_equal(config.calibrations[0].bytes, 128);
	assert_string_equal(config.calibrations[1].metric, "hbm.write");
	assert_int_equal(config.calibrations[1].bytes, 32);
	refuses("[calibration]\ndram.read = 0\n",
		"uncored.conf:2: [calibration] dram.read = 0: must be 1 to 16777216 (bytes per "
		"count).");
	refuses("[calibration]\ndram.read.and.some.more.letters.too = 1\n",
		"uncored.conf:2: [calibration] dram.read.and.some.more.letters.too is not a "
		"metric, "
		"or is one too many.");
}

CASE("A bad value is refused with what it must be")
{
	refuses("[reader]\n\nbudget_percent = 300\n",
		"uncored.conf:3: budget_percent = 300: must be 1 to 100 (percent of one CPU).");
	refuses("[reader]\nburst_ms = 0\n",
		"uncored.conf:2: burst_ms = 0: must be 1 to 10000 (milliseconds).");
	refuses("[sweep]\nmethod = io_uring\n",
		"uncored.conf:2: method = io_uring: must be one of auto|read|bpf.");
	refuses("[reader]\nrealtime = maybe\n",
		"uncored.conf:2: realtime = maybe: must be yes or no.");
	refuses("[access]\ngroup = root, daemon\n",
		"uncored.conf:2: group = root, daemon: takes one group; several users go into "
		"users.");
	refuses("[access]\nmode = 0888\n",
		"uncored.conf:2: mode = 0888: must be 0 to 0777 in octal "
		"(permissions of the socket).");
	refuses("[access]\nmode = 01777\n", "uncored.conf:2: mode = 01777: must be 0 to 0777 in "
					    "octal (permissions of the socket).");
	refuses("[access]\nusers = root no-such-user\n",
		"uncored.conf:2: users = root no-such-user: this machine has no user "
		"no-such-user.");
	refuses("[access]\n\ngroup = no-such-group\n",
		"uncored.conf:3: group = no-such-group: this machine has no group no-such-group.");
	refuses("[access]\nusers = root, pcp\n",
		"uncored.conf:2: users = root, pcp: has a comma: users are separated by spaces, "
		"as in `users = root pcp`.");
	refuses("[access]\nusers = 4294967295\n",
		"uncored.conf:2: users = 4294967295: this machine has no user 4294967295.");
	refuses("[disclosure]\nmin_interval_ms = 60001\n",
		"uncored.conf:2: min_interval_ms = 60001: must be 0 to 60000 (milliseconds).");
	refuses("[disclosure]\nquantum = 1MiB\n", "uncored.conf:2: quantum = 1MiB: must be 1 to "
						  "1073741824 (bytes), a number without a unit.");
	refuses("[disclosure]\nquantum = 0\n",
		"uncored.conf:2: quantum = 0: must be 1 to 1073741824 (bytes).");
	refuses("[disclosure]\nquantum.energy = 0\n",
		"uncored.conf:2: quantum.energy = 0: must be 1 to 1073741824 (nJ).");
	refuses("[server]\nmax_clients = -1\n",
		"uncored.conf:2: max_clients = -1: must be 0 to 16384 (connections in all).");
	refuses("[server]\nsocket = run/x\n", "uncored.conf:2: socket = run/x: must be an absolute "
					      "path (path of a Unix socket).");
	refuses("[platform]\nname = a-name-of-more-than-thirty-one-bytes\n",
		"uncored.conf:2: name = a-name-of-more-than-thirty-one-bytes: must be 0 to 31 "
		"bytes "
		"(name of a platform file without .conf).");
}

CASE("A socket path must fit into sun_path")
{
	char text[160] = "[server]\nsocket = /";
	size_t start = strlen(text) - 1;
	struct config config;
	struct fault fault;

	memset(text + start + 1, 'x', 106);
	assert_int_equal(load(text, &config, &fault), 0);
	assert_int_equal(strlen(config.socket_path), 107);
	text[start + 107] = 'x';
	assert_int_equal(load(text, &config, &fault), -EINVAL);
	assert_non_null(strstr(fault.text, "must be 1 to 107 bytes (path of a Unix socket)."));
}

CASE("An unknown key or section is refused and the known are listed")
{
	refuses("[server]\nsocket = /x\ncolour = red\n",
		"uncored.conf:3: unknown key colour in [server]; known are socket, "
		"max_clients, max_clients_per_user, requests_per_second.");
	refuses("[reader]\nmode = 0600\n",
		"uncored.conf:2: unknown key mode in [reader]; known are "
		"budget_percent, burst_ms, realtime.");
	refuses("[foo]\n",
		"uncored.conf:1: unknown section [foo]; known are [server], [access], "
		"[disclosure], [reader], [sweep], [platform], [metrics], [calibration].");
}

CASE("A key or section that stands twice, or a key outside a section, is refused")
{
	refuses("[access]\nmode = 0600\nmode = 0600\n",
		"uncored.conf:3: second mode in [access], the first is on line 2.");
	refuses("[server]\n[reader]\n[server]\n",
		"uncored.conf:3: second section [server], the first is on line 1.");
	refuses("mode = 0600\n",
		"uncored.conf:1: mode stands before any section: put it below a [section].");
}

static const char *kept_keys[8];
static unsigned n_kept;

static void note_kept(const char *key)
{
	kept_keys[n_kept++] = key;
}

CASE("The file is read again, except for keys that need a restart")
{
	struct tree tree = tree_new();
	struct config config;
	struct fault fault;
	char path[128];

	n_kept = 0;
	snprintf(path, sizeof path, "%s/uncored.conf", tree.root);
	tree_write(&tree, "uncored.conf", "[server]\nsocket = /run/a-long-name\n");
	assert_int_equal(
		config_find(&(struct config_origin){ path, "/run/x" }, NULL, &config, &fault), 0);
	tree_write(&tree, "uncored.conf",
		"[server]\nsocket = /run/b\n[disclosure]\nquantum = 64\n[reader]\nrealtime = "
		"no\n[sweep]\nmethod = bpf\n[metrics]\ndisable = itom\n[calibration]\ndram.read = "
		"128\n");
	assert_int_equal(config_reload(&config, note_kept, &fault), 0);
	assert_int_equal(n_kept, 4); /* --socket wins before and after */
	assert_string_equal(kept_keys[0], "[reader] realtime");
	assert_string_equal(kept_keys[1], "[sweep] method");
	assert_string_equal(kept_keys[2], "[metrics] disable");
	assert_string_equal(kept_keys[3], "[calibration]");
	assert_string_equal(config.socket_path, "/run/x");
	assert_int_equal(config.disclosure.quantum, 64);
	assert_true(config.realtime);
	assert_string_equal(config.sweep_method, "auto");
	assert_int_equal(config.n_calibrations, 0);
	tree_write(&tree, "uncored.conf", "[disclosure]\nquantum = x\n");
	assert_int_equal(config_reload(&config, note_kept, &fault), -EINVAL);
	assert_int_equal(config.disclosure.quantum, 64);
	tree_free(&tree);
}

CASE("A file that is named must exist")
{
	struct config config;
	struct fault fault;

	assert_int_equal(config_load("/nonexistent.conf", NULL, &config, &fault), -ENOENT);
	assert_string_equal(
		fault.text, "Cannot open /nonexistent.conf: No such file or directory.");
}

CASE("a line of users may be long")
{
	char text[2048] = "[access]\nusers =";
	struct config config;
	struct fault fault;

	for (unsigned uid = 100000; uid < 100000 + POLICY_USERS_MAX; uid++)
		sprintf(text + strlen(text), " %u", uid);
	assert_int_equal(load(text, &config, &fault), 0);
	assert_int_equal(config.access.n_users, POLICY_USERS_MAX);
	assert_int_equal(config.access.users[POLICY_USERS_MAX - 1], 100000 + POLICY_USERS_MAX - 1);
	strcat(text, " 1");
	assert_int_equal(load(text, &config, &fault), -EINVAL);
	assert_non_null(strstr(fault.text, "must be at most 96 users: make a group of them"));
}

/* --- uncored.conf.d --- */

/* A configuration of several files. Whatever is in the folder must be root's. */
struct site {
	struct tree tree;
	char path[128];
};

static struct site site_new(const char *text)
{
	struct site site = { .tree = tree_new() };

	if (geteuid())
		skip();
	if (text)
		tree_write(&site.tree, "uncored.conf", text);
	snprintf(site.path, sizeof site.path, "%s/uncored.conf", site.tree.root);
	return site;
}

static void site_refuses(struct site *site, const char *expected)
{
	struct config config = { .max_clients = 7 };
	struct fault fault = {};

	assert_int_equal(config_load(site->path, NULL, &config, &fault), -EINVAL);
	if (!strstr(fault.text, expected))
		fail_msg("no '%s' in: %s", expected, fault.text);
	assert_int_equal(config.max_clients, 7);
	tree_free(&site->tree);
}

CASE("the last file wins a whole key")
{
	struct site site = site_new("[server]\nmax_clients = 1\nrequests_per_second = 1\n"
				    "[access]\nusers = 1 2\n[calibration]\ndram.read = 32\n");
	struct config config;
	struct fault fault = {};

	tree_write(&site.tree, "uncored.conf.d/20.conf",
		"[access]\nusers = 4\n[calibration]\ndram.read = 64\nitom = 64\n");
	tree_write(&site.tree, "uncored.conf.d/10.conf",
		"[server]\nmax_clients = 2\n[access]\nusers = 3 5\n");
	tree_write(&site.tree, "uncored.conf.d/30.conf.bak", "this is not read");
	tree_write(&site.tree, "uncored.conf.d/.30.conf", "this is not read");
	assert_int_equal(config_load(site.path, NULL, &config, &fault), 0);
	assert_int_equal(config.max_clients, 2);
	assert_int_equal(config.requests_per_second, 1);
	assert_int_equal(config.access.n_users, 1);
	assert_int_equal(config.access.users[0], 4);
	assert_int_equal(config.n_calibrations, 2);
	assert_int_equal(config.calibrations[0].bytes, 64);
	tree_free(&site.tree);
}

CASE("each value says where it is from")
{
	struct site site = site_new("[server]\nmax_clients = 1\n[access]\nmode = 0600\n");
	struct config_files files;
	struct fault fault = {};
	char copy[128];
	struct config config;
	int fd;

	tree_write(&site.tree, "uncored.conf.d/10.conf",
		"[access]\nmode = 0660\n[server]\n\nmax_clients_per_user = 9\n");
	assert_int_equal(config_files_load(site.path, &files, &fault), 0);
	assert_int_equal(files.n_values, 3);
	assert_string_equal(files.values[1].key, "max_clients_per_user");
	assert_int_equal(files.values[1].line, 5);
	assert_string_equal(files.values[2].value, "0660");
	assert_non_null(strstr(files.files[files.values[2].file].path, "/uncored.conf.d/10.conf"));
	snprintf(copy, sizeof copy, "%s/copy", site.tree.root);
	fd = open(copy, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(config_files_write(&files, fd), 0);
	close(fd);
	config_files_done(&files);
	assert_int_equal(config_load(copy, NULL, &config, &fault), 0);
	assert_int_equal(config.max_clients_per_user, 9);
	assert_int_equal(config.socket_mode, 0660);
	tree_free(&site.tree);
}

CASE("a fault in one file is one of all")
{
	struct site site = site_new("[access]\nmode = 0600\n");

	tree_write(&site.tree, "uncored.conf.d/10.conf", "[access]\nmode = 0600\nmode = 0660\n");
	site_refuses(&site, "/uncored.conf.d/10.conf:3: second mode in [access]");
	site = site_new(NULL);
	tree_write(&site.tree, "uncored.conf.d/10.conf", "[access]\nmode = 9\n");
	tree_write(&site.tree, "uncored.conf.d/20.conf", "[access]\nmode = 0600\n");
	site_refuses(&site, "/uncored.conf.d/10.conf:2: mode = 9");
}

CASE("a file that others may write is refused")
{
	static const struct {
		const char *path;
		mode_t mode;
		uid_t owner;
	} cases[] = {
		{ "uncored.conf.d/10.conf", 0664, 0 },
		{ "uncored.conf.d/10.conf", 0646, 0 },
		{ "uncored.conf.d/10.conf", 0644, 1 },
		{ "uncored.conf.d", 0775, 0 },
		{ "uncored.conf.d", 0755, 1 },
	};
	char path[256];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct site site = site_new("");

		tree_write(&site.tree, "uncored.conf.d/10.conf", "[access]\nmode = 0600\n");
		snprintf(path, sizeof path, "%s/%s", site.tree.root, cases[i].path);
		assert_int_equal(chmod(path, cases[i].mode), 0);
		assert_int_equal(chown(path, cases[i].owner, 0), 0);
		site_refuses(&site, "is refused: it must belong to root");
	}
}

CASE("a file that is gone is not taken for none")
{
	struct site site = site_new("");
	char path[256];

	tree_write(&site.tree, "uncored.conf.d/10.conf", "");
	snprintf(path, sizeof path, "%s/uncored.conf.d/20.conf", site.tree.root);
	assert_int_equal(symlink("/nonexistent", path), 0);
	site_refuses(&site, "/uncored.conf.d/20.conf leads to no file.");
}

CASE("a file that uncored may not read is refused")
{
	struct site site = site_new("");
	struct config config = { .max_clients = 7 };
	struct fault fault = {};

	tree_write(&site.tree, "uncored.conf.d/10.conf", "[access]\nmode = 0600\n");
	assert_int_equal(chmod(site.tree.root, 0755), 0);
	assert_int_equal(fchmodat(site.tree.fd, "uncored.conf.d/10.conf", 0600, 0), 0);
	assert_int_equal(seteuid(65534), 0);
	assert_int_equal(config_load(site.path, NULL, &config, &fault), -EACCES);
	assert_int_equal(seteuid(0), 0);
	assert_non_null(strstr(fault.text, "/uncored.conf.d/10.conf: Permission denied"));
	assert_int_equal(config.max_clients, 7);
	tree_free(&site.tree);
}
