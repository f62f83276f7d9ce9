/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An uncored that cannot serve stays, tells every client why, and is started again by SIGHUP.
 */
#include "tests/harness/daemon-process.h"
#include "tests/harness/test.h"

#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/macro.h"
#include "common/wire.h"

enum { CAP_SYS_ADMIN_NUMBER = 21, CAP_PERFMON_NUMBER = 38, RESTART_STATUS = 75 };

static struct run run;

/* --- reasons --- */

static void start(const char *machine, const char *config)
{
	the_daemon = (struct daemon_process){
		.in_child = the_daemon.in_child,
		.platforms = the_daemon.platforms,
		.descriptor_limit = the_daemon.descriptor_limit,
	};
	daemon_start_activated(&the_daemon, machine, config, true);
}

static void stop(void)
{
	kill(the_daemon.pid, SIGTERM);
	assert_int_equal(wait_for(the_daemon.pid, 10), 0);
	daemon_remove(&the_daemon);
	the_daemon.in_child = NULL;
	the_daemon.platforms = NULL;
	the_daemon.descriptor_limit = 0;
}

static void assert_words(const char *text, const char *const words[])
{
	for (; *words; words++)
		if (!strstr(text, *words))
			fail_msg("no '%s' in: %s", *words, text);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* Three clients in a row get @error with all the words, and the manager is told the same. */
static void assert_reason(int error, const char *const words[])
{
	struct uncore *uncore;

	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(uncore_open(the_daemon.socket_path, &uncore), error);
		assert_words(uncore_error_text(), WORDS(" refuses: "));
		assert_words(uncore_error_text(), words);
	}
	assert_words(the_daemon.manager.status, WORDS("Serving nothing: "));
	assert_words(the_daemon.manager.status, words);
}

CASE("an unknown machine is told to every client, with what to do")
{
	start("unknown", NULL);
	assert_reason(-ENODEV, WORDS("uncore-platform(5)", "GenuineIntel"));
	assert_int_equal(daemon_logged(&the_daemon, "GenuineIntel"), 1);
	stop();
}

CASE("a wrong configuration is told with file and line")
{
	static const struct {
		const char *config, *words[3];
	} wrong[] = {
		{ "[reader]\nbudget = 10\n", { "/conf:2:", "budget" } },
		{ "[reader]\n\nbudget_percent = 101\n", { "/conf:3:", "1 to 100" } },
		{ "[access]\nmode = 0666\nmode = 0660\n", { "/conf:3:", "mode" } },
		{ "[platform]\nname = no-such-chip\n", { "no-such-chip", "icelake-sp" } },
		{ "[calibration]\nno.such = 64\n", { "no.such", "standin" } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		start("standin", wrong[i].config);
		assert_reason(-EINVAL, wrong[i].words);
		stop();
	}
}

CASE("a wrong platform file is told with file and line")
{
	char folder[] = "/tmp/uncored-platforms-XXXXXX", path[64];
	FILE *file;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof path, "%s/mine.conf", folder);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs("[platform]\ntitle = Mine\nvendor = None\ncolour = red\n", file);
	fclose(file);
	the_daemon.platforms = folder;
	start("standin", NULL);
	assert_reason(-EINVAL, WORDS("/mine.conf:4:", "colour"));
	stop();
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* The tree's PMU types exist in no kernel without such hardware. */
CASE("counters that the kernel does not have are told by name")
{
	start("icelake-sp", NULL);
	assert_reason(-ENODEV,
		WORDS("every one of", "uncore_imc_0 on CPU 0", "No such file or directory"));
	stop();
}

/* uncored keeps some descriptors in reserve when it opens counters, and has no others here. */
CASE("too few descriptors at the start are told")
{
	the_daemon.descriptor_limit = 20;
	start("standin", NULL);
	assert_reason(-ENOMEM, WORDS("every one of", "Too many open files"));
	stop();
}

static void drop_capabilities(const struct daemon_process *process)
{
	(void)process;
	prctl(PR_CAPBSET_DROP, CAP_PERFMON_NUMBER);
	prctl(PR_CAPBSET_DROP, CAP_SYS_ADMIN_NUMBER);
}

CASE("without privilege uncored names the capability it lacks")
{
	the_daemon.in_child = drop_capabilities;
	start("standin", NULL);
	assert_reason(-EPERM, WORDS("lacks CAP_PERFMON", "systemd unit"));
	stop();
}

static void refuse_counters(int error)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (uint32_t)error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { ARRAY_SIZE(steps), steps };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) < 0)
		_exit(96);
}

static void forbid_counters(const struct daemon_process *process)
{
	(void)process;
	refuse_counters(EACCES);
}

CASE("a filter of system calls is told")
{
	the_daemon.in_child = forbid_counters;
	start("standin", NULL);
	assert_reason(-EPERM, WORDS("does not let this process open", "perf_event_paranoid"));
	stop();
}

/* --- clients --- */

CASE("uncore info shows the reason and ends with 0")
{
	struct json_object *object;

	start("unknown", NULL);
	run_uncore(&run, (const char *const[]){ "info", "--socket", the_daemon.socket_path, NULL });
	assert_int_equal(run.status, 0);
	assert_words(run.output, WORDS("serves nothing", "uncore-platform(5)"));
	run_uncore(&run, (const char *const[]){
				 "info", "--json", "--socket", the_daemon.socket_path, NULL });
	assert_int_equal(run.status, 0);
	object = json_tokener_parse(run.output);
	assert_non_null(object);
	assert_words(json_object_get_string(json_object_object_get(object, "reason")),
		WORDS("uncore-platform(5)"));
	assert_int_equal(json_object_get_int(json_object_object_get(object, "error")), -ENODEV);
	json_object_put(object);
	stop();
	run_uncore(&run, (const char *const[]){ "info", "--socket", the_daemon.socket_path, NULL });
	assert_int_equal(run.status, 1);
}

CASE("uncore info --quiet is a health check")
{
	static const char *const quiet[] = { "info", "--quiet", "--socket", the_daemon.socket_path,
		NULL };

	start("standin", NULL);
	run_uncore(&run, quiet);
	assert_int_equal(run.status, 0);
	assert_string_equal(run.output, "");
	stop();
	run_uncore(&run, quiet);
	assert_int_equal(run.status, 1);
	start("unknown", NULL);
	run_uncore(&run, quiet);
	stop();
	assert_int_equal(run.status, 3);
	assert_words(run.output, WORDS("uncore-platform(5)"));
	run_uncore(&run, (const char *const[]){ "info", "--quiet", "--json", NULL });
	assert_int_equal(run.status, 2);
}

CASE("uncore stat runs nothing and ends with 125")
{
	char path[128];

	start("unknown", NULL);
	snprintf(path, sizeof path, "%s/ran", the_daemon.directory);
	run_uncore(&run, (const char *const[]){ "stat", "--socket", the_daemon.socket_path, "--",
				 "sh", "-c", "echo it ran", NULL });
	stop();
	assert_int_equal(run.status, 125);
	assert_words(run.output, WORDS("uncore-platform(5)"));
	assert_null(strstr(run.output, "it ran"));
}

/* --- clients that mean no good --- */

static void connect_and_leave(void)
{
	close(connect_raw(&the_daemon));
}

static void send_a_descriptor(void)
{
	int fd = connect_raw(&the_daemon);
	union wire_message hello;

	wire_begin(&hello, WIRE_HELLO);
	hello.hello.version = WIRE_VERSION;
	wire_send(fd, &hello, &fd, 1);
	close(fd);
}

/*
 * A client has its answer a moment before the daemon closes the connection. At the start the daemon
 * may have had a descriptor open that it needs no more.
 */
static bool comes_to_hold(long most)
{
	for (unsigned i = 0; i < 5000 && daemon_descriptors(&the_daemon) > most; i++)
		usleep(1000);
	return daemon_descriptors(&the_daemon) <= most;
}

/* Clients that neither speak nor read hold no descriptor of the daemon. */
CASE("clients that neither speak nor read hold nothing")
{
	enum { CLIENTS = 300 };
	int fds[CLIENTS];
	bool during, after;
	long before;

	start("unknown", NULL);
	before = daemon_descriptors(&the_daemon);
	for (unsigned i = 0; i < CLIENTS; i++) {
		connect_and_leave();
		send_a_descriptor();
		fds[i] = connect_raw(&the_daemon);
	}
	assert_reason(-ENODEV, WORDS("uncore-platform(5)"));
	during = comes_to_hold(before);
	for (unsigned i = 0; i < CLIENTS; i++)
		close(fds[i]);
	after = comes_to_hold(before);
	stop();
	assert_true(during);
	assert_true(after);
}

CASE("it has neither privilege nor readers")
{
	char command[160];

	start("icelake-sp", NULL);
	snprintf(command, sizeof command,
		"cd /proc/%d/task; grep -hE 'Cap(Prm|Eff)' %d/status; grep -l socket */comm",
		the_daemon.pid, the_daemon.pid);
	run_program(&run, 0, (const char *const[]){ "sh", "-c", command, NULL });
	stop();
	assert_string_equal(run.output, "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n");
}

CASE("without systemd it makes its socket, and removes it")
{
	struct daemon_process alone = {};
	struct uncore *uncore;
	int r;

	daemon_start(&alone, "unknown", "[reader]\nbudget = 10\n");
	r = uncore_open(alone.socket_path, &uncore);
	daemon_stop(&alone);
	assert_int_equal(r, -EINVAL);
}

/* --- looking again --- */

static char machine[160];

/* Changes the machine that the daemon finds when it looks again. */
static void become_machine(const char *name)
{
	char target[600];

	snprintf(machine, sizeof machine, "%s/machine", the_daemon.directory);
	snprintf(target, sizeof target, "%s/%s", build_path("tests/machines"), name);
	unlink(machine);
	assert_int_equal(symlink(target, machine), 0);
}

/* Starts the daemon on a machine that can become another. */
static void start_unknown(void)
{
	start("unknown", NULL);
	become_machine("unknown");
	daemon_kill(&the_daemon);
	daemon_restart(&the_daemon, machine);
}

static void stop_unknown(void)
{
	unlink(machine);
	stop();
}

static void assert_ends_for_a_restart(void)
{
	kill(the_daemon.pid, SIGHUP);
	assert_int_equal(wait_for(the_daemon.pid, 10), RESTART_STATUS);
	manager_dispatch(&the_daemon.manager);
}

CASE("a repaired machine is served after SIGHUP")
{
	struct uncore *uncore;

	start_unknown();
	assert_ends_for_a_restart(); /* nothing has changed */
	daemon_restart(&the_daemon, machine);
	assert_reason(-ENODEV, WORDS("uncore-platform(5)"));
	become_machine("standin");
	assert_ends_for_a_restart();
	daemon_restart(&the_daemon, machine);
	assert_int_equal(uncore_open(the_daemon.socket_path, &uncore), 0);
	uncore_close(uncore);
	stop_unknown();
}

CASE("another reason takes the place of the first")
{
	start("standin", "[reader]\nbudget = 10\n");
	assert_reason(-EINVAL, WORDS("/conf:2:"));
	daemon_configure(&the_daemon, "\n\n[reader]\nbudget = 10\n");
	assert_ends_for_a_restart();
	daemon_restart(&the_daemon, "standin");
	assert_reason(-EINVAL, WORDS("/conf:4:"));
	daemon_configure(&the_daemon, "");
	assert_ends_for_a_restart();
	daemon_restart(&the_daemon, "standin");
	stop();
}

/* Without a service manager that starts it again, an uncored that ended would be gone. */
CASE("without a service manager it does not end")
{
	start_unknown();
	become_machine("standin");
	close(the_daemon.manager.notify_fd);
	unlink(the_daemon.manager.notify_path);
	kill(the_daemon.pid, SIGHUP);
	for (unsigned i = 0; i < 1000 && !daemon_logged(&the_daemon, "start it anew"); i++)
		usleep(10000);
	assert_int_equal(daemon_logged(&the_daemon, "start it anew"), 1);
	the_daemon.manager.notify_fd = -1;
	stop_unknown();
}

/* --- what the kernel refuses --- */

static void write_paranoid(const struct daemon_process *process, const char *value)
{
	char path[128];
	_cleanup_file_ FILE *file = NULL;

	snprintf(path, sizeof path, "%s/paranoid", process->directory);
	file = fopen(path, "we");
	if (!file || fputs(value, file) < 0)
		_exit(95);
}

/* A kernel whose perf_event_paranoid a test can set, for this process alone. */
static void forbid_by_paranoid(const struct daemon_process *process)
{
	char path[128];

	snprintf(path, sizeof path, "%s/paranoid", process->directory);
	write_paranoid(process, "4\n");
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		mount(path, "/proc/sys/kernel/perf_event_paranoid", NULL, MS_BIND, NULL) < 0)
		_exit(94);
	forbid_counters(process);
}

CASE("what the kernel refuses by its paranoia is told, and SIGHUP tries again")
{
	char path[128];

	the_daemon.in_child = forbid_by_paranoid;
	start("standin", NULL);
	assert_reason(-EPERM, WORDS("kernel.perf_event_paranoid is 4", "sysctl"));
	assert_ends_for_a_restart();
	the_daemon.in_child = NULL;
	daemon_restart(&the_daemon, "standin");
	snprintf(path, sizeof path, "%s/paranoid", the_daemon.directory);
	assert_int_equal(unlink(path), 0);
	stop();
}

/* --- want of memory --- */

static void refuse_memory(const struct daemon_process *process)
{
	(void)process;
	refuse_counters(ENOMEM);
}

CASE("want of memory at the start is told, and SIGHUP tries again")
{
	struct uncore *uncore;

	the_daemon.in_child = refuse_memory;
	start("standin", NULL);
	assert_reason(-ENOMEM, WORDS("every one of", "Cannot allocate memory"));
	assert_words(uncore_error_text(), WORDS("tries again by itself"));
	assert_ends_for_a_restart();
	the_daemon.in_child = NULL;
	daemon_restart(&the_daemon, "standin");
	assert_int_equal(uncore_open(the_daemon.socket_path, &uncore), 0);
	uncore_close(uncore);
	stop();
}

/* --- the generation --- */

static void read_generation(uint64_t ret[2])
{
	struct uncore_machine about = UNCORE_MACHINE_INIT;
	struct uncore *uncore;

	assert_int_equal(uncore_open(the_daemon.socket_path, &uncore), 0);
	assert_int_equal(uncore_describe(uncore, &about), 0);
	memcpy(ret, about.generation, sizeof about.generation);
	uncore_close(uncore);
}

CASE("the generation outlives an uncored that could not serve")
{
	uint64_t before[2], after[2];

	start_unknown();
	become_machine("standin");
	assert_ends_for_a_restart();
	daemon_restart(&the_daemon, machine);
	read_generation(before);
	daemon_kill(&the_daemon);
	become_machine("unknown");
	daemon_restart(&the_daemon, machine);
	assert_reason(-ENODEV, WORDS("matches this machine"));
	daemon_kill(&the_daemon);
	become_machine("standin");
	daemon_restart(&the_daemon, machine);
	read_generation(after);
	stop_unknown();
	assert_memory_equal(before, after, sizeof before);
}

int main(void)
{
	return run_privileged_cases(NULL, NULL);
}
