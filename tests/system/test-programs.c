/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The programs that uncored loads into the kernel: which sweeps they read, and what somebody
 * without capabilities who gets hold of all descriptors of uncored can do with them.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/macro.h"
#include "daemon/base/bpf.h"
#include "tests/harness/daemon-process.h"

enum {
	PIDFD_OPEN = 434,
	PIDFD_GETFD = 438,
	FDS_MAX = 512,
	NAMES_MAX = 8192,
	ATTACH_TYPES = 64,
	BOXES_OF_SOCKET = 2,
	CAP_BPF_NUMBER = 39,
	CAP_SYS_ADMIN_NUMBER = 21,
};

/* --- what `uncore info --json` says --- */

static struct json_object *method_of(struct json_object *info, size_t socket)
{
	struct json_object *sockets = json_object_object_get(info, "sockets");

	return json_object_object_get(json_object_array_get_idx(sockets, socket), "method");
}

static const char *text_of(struct json_object *method, const char *key)
{
	const char *text = json_object_get_string(json_object_object_get(method, key));

	return text ? text : "";
}

static uint64_t number_of(struct json_object *method, const char *key)
{
	return json_object_get_uint64(json_object_object_get(method, key));
}

static bool programs_are_used(const struct daemon_process *daemon)
{
	struct json_object *info = daemon_info(daemon);
	bool used = !strcmp(text_of(method_of(info, 0), "name"), "bpf");

	json_object_put(info);
	return used;
}

/* --- the attack --- */

static struct {
	int fds[FDS_MAX];
	unsigned n_fds;
	char names[NAMES_MAX][64]; /* of tracepoints */
	unsigned n_names;
	int control_fd; /* a program that asks for no secret */
} loot;

static void take_descriptors(const struct daemon_process *daemon)
{
	_cleanup_close_ int pidfd = (int)syscall(PIDFD_OPEN, daemon->pid, 0);
	const struct dirent *entry;
	char path[64];
	DIR *folder;

	assert_true(pidfd >= 0);
	snprintf(path, sizeof path, "/proc/%d/fd", daemon->pid);
	folder = opendir(path);
	assert_non_null(folder);
	loot.n_fds = 0;
	while ((entry = readdir(folder)) && loot.n_fds < FDS_MAX) {
		int fd = *entry->d_name == '.'
				 ? -1
				 : (int)syscall(PIDFD_GETFD, pidfd, atoi(entry->d_name), 0);

		if (fd >= 0)
			loot.fds[loot.n_fds++] = fd;
	}
	closedir(folder);
}

static void take_names_in(const char *path)
{
	const struct dirent *entry;
	DIR *folder = opendir(path);

	while (folder && (entry = readdir(folder)) && loot.n_names < NAMES_MAX)
		if (*entry->d_name != '.')
			snprintf(loot.names[loot.n_names++], sizeof *loot.names, "%.63s",
				entry->d_name);
	if (folder)
		closedir(folder);
}

/* tracefs has events/SYSTEM/TRACEPOINT. */
static void take_names(void)
{
	char place[] = "/tmp/uncored-tracing-XXXXXX", path[512];
	const struct dirent *entry;
	DIR *folder;

	strcpy(loot.names[0], "sys_enter");
	strcpy(loot.names[1], "sched_switch");
	loot.n_names = 2;
	assert_non_null(mkdtemp(place));
	if (mount("tracefs", place, "tracefs", MS_RDONLY, NULL) == 0) {
		snprintf(path, sizeof path, "%s/events", place);
		folder = opendir(path);
		while (folder && (entry = readdir(folder))) {
			snprintf(path, sizeof path, "%s/events/%s", place, entry->d_name);
			if (*entry->d_name != '.')
				take_names_in(path);
		}
		if (folder)
			closedir(folder);
		umount2(place, MNT_DETACH);
	}
	rmdir(place);
}

static int call(int command, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, command, attr, sizeof *attr);
}

static bool attaches(int program_fd, const char *name)
{
	union bpf_attr attr = { .raw_tracepoint = { (uintptr_t)name, (uint32_t)program_fd } };
	int fd = call(BPF_RAW_TRACEPOINT_OPEN, &attr);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Its twelfth argument is a pointer, so the program does nothing there, either. */
static bool has_twelve_arguments(const char *name)
{
	return !strcmp(name, "mc_event");
}

static bool attaches_to_any(int program_fd)
{
	for (unsigned i = 0; i < loot.n_names; i++)
		if (!has_twelve_arguments(loot.names[i]) && attaches(program_fd, loot.names[i]))
			return true;
	return false;
}

/* By another way than a tracepoint's name. */
static bool links(int fd)
{
	for (unsigned type = 0; type < ATTACH_TYPES; type++) {
		union bpf_attr link = { .link_create = {
						.prog_fd = (uint32_t)fd, .attach_type = type } };
		union bpf_attr attach = { .attach_bpf_fd = (uint32_t)fd, .attach_type = type };

		if (call(BPF_LINK_CREATE, &link) >= 0 || call(BPF_PROG_ATTACH, &attach) >= 0)
			return true;
		for (unsigned i = 0; i < loot.n_fds; i++) {
			link.link_create.target_fd = (uint32_t)loot.fds[i];
			if (call(BPF_LINK_CREATE, &link) >= 0)
				return true;
		}
	}
	for (unsigned i = 0; i < loot.n_fds; i++)
		if (ioctl(loot.fds[i], PERF_EVENT_IOC_SET_BPF, fd) == 0)
			return true;
	return false;
}

/* Each command that changes something, for a map that the descriptor may be, or another object. */
static bool changes(int fd)
{
	static const int commands[] = { BPF_MAP_CREATE, BPF_MAP_UPDATE_ELEM, BPF_MAP_DELETE_ELEM,
		BPF_PROG_LOAD, BPF_OBJ_PIN, BPF_PROG_DETACH, BPF_MAP_LOOKUP_AND_DELETE_ELEM,
		BPF_MAP_FREEZE, BPF_BTF_LOAD, BPF_MAP_UPDATE_BATCH, BPF_MAP_DELETE_BATCH,
		BPF_MAP_LOOKUP_AND_DELETE_BATCH, BPF_LINK_UPDATE, BPF_ENABLE_STATS, BPF_ITER_CREATE,
		BPF_LINK_DETACH, BPF_PROG_BIND_MAP };
	uint32_t key = 0, value[64] = {};

	for (unsigned i = 0; i < ARRAY_SIZE(commands); i++) {
		union bpf_attr of_map = {
			.map_fd = (uint32_t)fd, .key = (uintptr_t)&key, .value = (uintptr_t)value
		};
		union bpf_attr other;

		for (unsigned k = 0; k < sizeof other / sizeof(uint32_t); k++)
			((uint32_t *)&other)[k] = (uint32_t)fd;
		if (call(commands[i], &of_map) >= 0 || call(commands[i], &other) >= 0)
			return true;
	}
	return false;
}

/* Runs it with arguments that somebody might guess. */
static bool does_something(int fd)
{
	for (uint64_t guess = 0; guess < 1000; guess++) {
		uint64_t arguments[BPF_ARGUMENTS];

		for (unsigned i = 0; i < BPF_ARGUMENTS; i++)
			arguments[i] = guess == 999 ? UINT64_MAX : guess;
		if (bpf_program_run(fd, arguments) > 0)
			return true;
	}
	return false;
}

enum { CONTROL_FAILS = 1, ATTACHES, LINKS, CHANGES, DOES_SOMETHING, NO_PROGRAMS };

static int attack(void *argument)
{
	static const uint64_t nothing[BPF_ARGUMENTS];
	unsigned n_programs = 0;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!attaches_to_any(loot.control_fd))
		return CONTROL_FAILS;
	for (unsigned i = 0; i < loot.n_fds; i++) {
		int fd = loot.fds[i];

		n_programs += bpf_program_run(fd, nothing) == 0;
		if (attaches_to_any(fd))
			return ATTACHES;
		if (links(fd))
			return LINKS;
		if (changes(fd))
			return CHANGES;
		if (does_something(fd))
			return DOES_SOMETHING;
	}
	return n_programs == standin_sockets() ? 0 : NO_PROGRAMS;
}

/* The first case: uncored keeps what it has said for a while. */
CASE("the program reads every box")
{
	struct json_object *info;
	struct run run;

	run_uncore(&run, (const char *const[]){
				 "stat", "--socket", the_daemon.socket_path, "--", "true", NULL });
	assert_int_equal(run.status, 0);
	if (!programs_are_used(&the_daemon))
		skip();
	info = daemon_info(&the_daemon);
	for (unsigned s = 0; s < standin_sockets(); s++) {
		struct json_object *method = method_of(info, s);

		assert_string_equal(text_of(method, "name"), "bpf");
		assert_string_equal(text_of(method, "why"), "");
		assert_int_equal(number_of(method, "by_program"), BOXES_OF_SOCKET);
		assert_true(number_of(method, "longest_call_ns") > 0);
	}
	json_object_put(info);
}

CASE("who has all descriptors can neither attach nor change anything")
{
	static const struct bpf_insn harmless[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int status;

	if (!programs_are_used(&the_daemon))
		skip();
	take_names();
	take_descriptors(&the_daemon);
	loot.control_fd = bpf_program_load(harmless, ARRAY_SIZE(harmless));
	assert_true(loot.control_fd >= 0);
	status = as_nobody(attack, NULL);
	close(loot.control_fd);
	while (loot.n_fds)
		close(loot.fds[--loot.n_fds]);
	assert_int_equal(status, 0);
	assert_true(programs_are_used(&the_daemon));
}

/* --- which method is used --- */

static void expect_read(const struct daemon_process *daemon, const char *why)
{
	struct json_object *info = daemon_info(daemon), *method = method_of(info, 0);

	assert_string_equal(text_of(method, "name"), "read");
	assert_non_null(strstr(text_of(method, "why"), why));
	assert_int_equal(number_of(method, "by_program"), 0);
	assert_int_equal(number_of(method, "longest_call_ns"), 0);
	json_object_put(info);
}

CASE("a site can forbid programs")
{
	struct daemon_process daemon = {};

	daemon_start(&daemon, "standin", "[sweep]\nmethod = read\n");
	expect_read(&daemon, "uncored.conf has method = read.");
	daemon_stop(&daemon);
}

static void lose_capability(const struct daemon_process *daemon)
{
	prctl(PR_CAPBSET_DROP, CAP_BPF_NUMBER, 0, 0, 0);
	prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN_NUMBER, 0, 0, 0);
}

CASE("without the capability uncored takes read(2), and says so")
{
	struct daemon_process daemon = { .in_child = lose_capability };

	daemon_start(&daemon, "standin", "[sweep]\nmethod = bpf\n");
	expect_read(&daemon, "lacks CAP_BPF, which its drop-in uncored-bpf.conf gives it");
	assert_int_equal(daemon_logged(&daemon, "has method = bpf in [sweep], but socket 0"), 1);
	daemon_stop(&daemon);
}

int main(void)
{
	unsetenv("UNCORE_TEST_SWEEP"); /* each case chooses its method */
	return run_on_daemon("standin", NULL);
}
