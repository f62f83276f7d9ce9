/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/harness/daemon-process.h"

#include "tests/harness/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/clock.h"
#include "common/macro.h"
#include "common/wire.h"

enum { STOP_TIMEOUT_S = 10, RUN_TIMEOUT_S = 60 };
enum { PERFMON = 38 }; /* CAP_PERFMON: older headers lack the name */

struct daemon_process the_daemon;
static const char *the_machine, *the_config;

static const char *environment(const char *name)
{
	const char *value = getenv(name);

	if (!value)
		fail_msg("%s is not set: run this through `meson test`", name);
	return value;
}

const char *build_path(const char *relative)
{
	static char path[512];

	snprintf(path, sizeof path, "%s/%s", environment("UNCORE_BUILD_ROOT"), relative);
	return path;
}

const char *source_path(const char *relative)
{
	static char path[512];

	snprintf(path, sizeof path, "%s/%s", environment("UNCORE_SOURCE_ROOT"), relative);
	return path;
}

bool system_tests_can_run(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof attr,
		.config = PERF_COUNT_SW_PAGE_FAULTS,
	};
	_cleanup_close_ int fd =
		(int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0 && geteuid() == 0)
		return true;
	printf("1..0 # SKIP needs root and perf_event_open(2): %s\n",
		fd < 0 ? strerror(errno) : "not root");
	return false;
}

/* --- processes --- */

static void become(uid_t uid)
{
	if (setgroups(0, NULL) < 0 || setgid(uid) < 0 || setuid(uid) < 0)
		_exit(99);
}

/* The kernel forgets the signal for the parent's death when ids change. */
bool become_service(uid_t uid)
{
	struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {};
	int sig = 0;

	data[PERFMON / 32].permitted = data[PERFMON / 32].inheritable = 1U << PERFMON % 32;
	return prctl(PR_GET_PDEATHSIG, &sig, 0, 0, 0) == 0 && setgroups(0, NULL) == 0 &&
	       prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) == 0 && setresgid(uid, uid, uid) == 0 &&
	       setresuid(uid, uid, uid) == 0 && syscall(SYS_capset, &header, data) == 0 &&
	       prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, PERFMON, 0, 0) == 0 &&
	       prctl(PR_SET_PDEATHSIG, sig, 0, 0, 0) == 0;
}

static int status_of(int raw)
{
	return WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw);
}

int wait_for(pid_t pid, int timeout_s)
{
	uint64_t deadline_ns = clock_now_ns() + (uint64_t)timeout_s * 1000000000U;
	int raw;

	while (waitpid(pid, &raw, WNOHANG) == 0) {
		if (clock_now_ns() > deadline_ns) {
			kill(pid, SIGKILL);
			waitpid(pid, &raw, 0);
			return -1;
		}
		usleep(2000);
	}
	return status_of(raw);
}

pid_t start_as(uid_t uid, int (*body)(void *argument), void *argument)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		become(uid);
		_exit(body(argument));
	}
	return pid;
}

pid_t start_as_nobody(int (*body)(void *argument), void *argument)
{
	return start_as(NOBODY, body, argument);
}

int as_nobody(int (*body)(void *argument), void *argument)
{
	return wait_for(start_as_nobody(body, argument), RUN_TIMEOUT_S);
}

static void collect(int fd, struct run *ret)
{
	size_t done = 0;
	ssize_t n;

	while (done < OUTPUT_MAX - 1 &&
		(n = read(fd, ret->output + done, OUTPUT_MAX - 1 - done)) > 0)
		done += (size_t)n;
	ret->output[done] = '\0';
}

void run_program(struct run *ret, uid_t uid, const char *const arguments[])
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		dup2(ends[1], STDOUT_FILENO);
		dup2(ends[1], STDERR_FILENO);
		alarm(RUN_TIMEOUT_S);
		if (uid)
			become(uid);
		execvp(arguments[0], (char *const *)arguments);
		_exit(127);
	}
	close(ends[1]);
	collect(ends[0], ret);
	close(ends[0]);
	ret->status = wait_for(pid, RUN_TIMEOUT_S);
}

static void prepend(const char *all[], const char *first, const char *const rest[])
{
	unsigned n = 0;

	all[n++] = first;
	while (*rest) {
		assert_true(n < ARGUMENTS_MAX - 1);
		all[n++] = *rest++;
	}
	all[n] = NULL;
}

void run_uncore(struct run *ret, const char *const arguments[])
{
	const char *all[ARGUMENTS_MAX];
	_cleanup_free_ char *program = strdup(build_path("client/uncore"));

	prepend(all, program, arguments);
	run_program(ret, NOBODY, all);
}

long daemon_descriptors(const struct daemon_process *daemon)
{
	char path[64];
	DIR *directory;
	long n = 0;

	snprintf(path, sizeof path, "/proc/%d/fd", daemon->pid);
	directory = opendir(path);
	assert_non_null(directory);
	while (readdir(directory))
		n++;
	closedir(directory);
	return n;
}

uint64_t daemon_rss_kib(const struct daemon_process *daemon)
{
	char path[64], line[128];
	uint64_t kib = 0;
	_cleanup_file_ FILE *file = NULL;

	snprintf(path, sizeof path, "/proc/%d/status", daemon->pid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof line, file))
		if (sscanf(line, "VmRSS: %" SCNu64, &kib) == 1)
			break;
	return kib;
}

void daemon_run(struct run *ret, const char *const arguments[])
{
	const char *with_platforms[ARGUMENTS_MAX], *all[ARGUMENTS_MAX];
	_cleanup_free_ char *program = strdup(build_path("daemon/uncored"));
	_cleanup_free_ char *platforms = NULL;

	assert_true(asprintf(&platforms, "--platforms=%s", source_path("conf/platforms")) > 0);
	prepend(with_platforms, platforms, arguments);
	prepend(all, program, with_platforms);
	run_program(ret, 0, all);
}

/* --- the daemon --- */

static void print_log(const struct daemon_process *daemon)
{
	char text[4096] = "";
	_cleanup_file_ FILE *log = fopen(daemon->log_path, "re");

	if (log)
		text[fread(text, 1, sizeof text - 1, log)] = '\0';
	print_message("uncored said: %s\n", text);
}

unsigned daemon_logged(const struct daemon_process *daemon, const char *part)
{
	_cleanup_file_ FILE *log = fopen(daemon->log_path, "re");
	char line[2048];
	unsigned n = 0;

	assert_non_null(log);
	while (fgets(line, sizeof line, log))
		n += strstr(line, part) != NULL;
	return n;
}

void daemon_configure(const struct daemon_process *daemon, const char *config)
{
	const char *method = getenv("UNCORE_TEST_SWEEP");
	char path[128];
	_cleanup_file_ FILE *file = NULL;

	snprintf(path, sizeof path, "%s/conf", daemon->directory);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(config ? config : "", file);
	if (method)
		fprintf(file, "\n[sweep]\nmethod = %s\n", method);
}

static void name_etc(const struct daemon_process *daemon, unsigned i, char ret[128])
{
	snprintf(ret, 128, "%s/%s", daemon->directory, daemon->etc[i].name);
}

void daemon_write_etc(const struct daemon_process *daemon, unsigned i, const char *text)
{
	_cleanup_file_ FILE *file = NULL;
	char path[128];

	name_etc(daemon, i, path);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
}

/* For the child that becomes the daemon. */
static void mount_etc(const struct daemon_process *daemon)
{
	char from[128], over[64];

	if (!daemon->etc[0].name)
		return;
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		_exit(95);
	for (unsigned i = 0; i < ETC_FILES_MAX && daemon->etc[i].name; i++) {
		name_etc(daemon, i, from);
		snprintf(over, sizeof over, "/etc/%s", daemon->etc[i].name);
		if (mount(from, over, NULL, MS_BIND, NULL) < 0)
			_exit(94);
	}
}

static void remove_etc(const struct daemon_process *daemon)
{
	char path[128];

	for (unsigned i = 0; i < ETC_FILES_MAX && daemon->etc[i].name; i++) {
		name_etc(daemon, i, path);
		unlink(path);
	}
}

static void make_directory(struct daemon_process *daemon, const char *config)
{
	strcpy(daemon->directory, "/tmp/uncored-test-XXXXXX");
	assert_non_null(mkdtemp(daemon->directory));
	assert_int_equal(chmod(daemon->directory, 0755), 0);
	snprintf(daemon->socket_path, sizeof daemon->socket_path, "%s/socket", daemon->directory);
	snprintf(daemon->log_path, sizeof daemon->log_path, "%s/log", daemon->directory);
	daemon_configure(daemon, config);
	for (unsigned i = 0; i < ETC_FILES_MAX && daemon->etc[i].name; i++)
		daemon_write_etc(daemon, i, daemon->etc[i].text);
}

static void exec_daemon(const struct daemon_process *daemon, const char *machine)
{
	char root[512], config[128], platforms[512], program[512];
	int log_fd = open(daemon->log_path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	dup2(log_fd, STDOUT_FILENO);
	dup2(log_fd, STDERR_FILENO);
	struct rlimit descriptors = { daemon->descriptor_limit, daemon->descriptor_limit };
	struct rlimit realtime = { daemon->realtime_limit_ms * 1000, RLIM_INFINITY };
	struct rlimit no_core = {};

	if (daemon->descriptor_limit)
		setrlimit(RLIMIT_NOFILE, &descriptors);
	if (daemon->realtime_limit_ms)
		setrlimit(RLIMIT_RTTIME, &realtime);
	setrlimit(RLIMIT_CORE, &no_core);
	manager_set_watchdog(daemon->watchdog_s);
	setenv("NOTIFY_SOCKET", daemon->manager.notify_path, 1);
	snprintf(program, sizeof program, "%s", build_path("daemon/uncored"));
	if (*machine == '/')
		snprintf(root, sizeof root, "%s", machine);
	else
		snprintf(root, sizeof root, "%s/%s", build_path("tests/machines"), machine);
	snprintf(platforms, sizeof platforms, "%s", source_path("conf/platforms"));
	if (daemon->release) {
		snprintf(program, sizeof program, "%s/uncored", build_path(daemon->release));
		snprintf(platforms, sizeof platforms, "%s/conf/platforms",
			build_path(daemon->release));
	}
	if (daemon->platforms)
		snprintf(platforms, sizeof platforms, "%s", daemon->platforms);
	snprintf(config, sizeof config, "%s/conf", daemon->directory);
	mount_etc(daemon);
	if (daemon->in_child)
		daemon->in_child(daemon);
	execl(program, program, "--root", root, "--platforms", platforms, "--config", config,
		"--socket", daemon->socket_path, (char *)NULL);
	_exit(127);
}

void daemon_launch(struct daemon_process *daemon, const char *machine)
{
	daemon->pid = fork();
	assert_true(daemon->pid >= 0);
	if (daemon->pid > 0)
		return;
	if (daemon->manager.listen_fd >= 0 || daemon->manager.keeps)
		manager_pass_all(&daemon->manager);
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails leaves nothing behind */
	if (daemon->stops_first)
		raise(SIGSTOP);
	exec_daemon(daemon, machine);
}

void daemon_restart(struct daemon_process *daemon, const char *machine)
{
	daemon_launch(daemon, machine);
	if (manager_wait_until_ready(&daemon->manager))
		return;
	print_log(daemon);
	fail_msg("uncored did not become ready");
}

static void prepare(struct daemon_process *daemon, const char *config, bool keeps)
{
	char path[96];

	make_directory(daemon, config);
	snprintf(path, sizeof path, "%s/notify", daemon->directory);
	manager_open(&daemon->manager, path, keeps);
}

void daemon_start(struct daemon_process *daemon, const char *machine, const char *config)
{
	prepare(daemon, config, false);
	daemon_restart(daemon, machine);
}

static void listen_for(struct daemon_process *daemon)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof address.sun_path, "%s", daemon->socket_path);
	assert_int_equal(bind(fd, (const void *)&address, sizeof address), 0);
	assert_int_equal(chmod(daemon->socket_path, 0666), 0);
	assert_int_equal(listen(fd, 16), 0);
	daemon->manager.listen_fd = fd;
}

void daemon_hang_up(struct daemon_process *daemon)
{
	unsigned n_reloads = daemon->manager.n_reloads;

	kill(daemon->pid, SIGHUP);
	assert_true(manager_wait_until_ready(&daemon->manager));
	assert_int_equal(daemon->manager.n_reloads, n_reloads + 1);
}

void daemon_reload(struct daemon_process *daemon, const char *config)
{
	daemon_configure(daemon, config);
	daemon_hang_up(daemon);
}

void daemon_start_activated(
	struct daemon_process *daemon, const char *machine, const char *config, bool keeps)
{
	prepare(daemon, config, keeps);
	listen_for(daemon);
	daemon_restart(daemon, machine);
}

void daemon_ended_by(struct daemon_process *daemon, int sig)
{
	assert_int_equal(wait_for(daemon->pid, STOP_TIMEOUT_S), 128 + sig);
	manager_dispatch(&daemon->manager);
}

void daemon_kill(struct daemon_process *daemon)
{
	kill(daemon->pid, SIGKILL);
	daemon_ended_by(daemon, SIGKILL);
}

void daemon_abort_when_silent(struct daemon_process *daemon)
{
	assert_true(manager_wait_until_silent(&daemon->manager, daemon->watchdog_s));
	kill(daemon->pid, SIGABRT);
	kill(daemon->pid, SIGCONT);
}

void daemon_remove(struct daemon_process *daemon)
{
	static const char *const names[] = { "conf", "log" };
	char path[128];

	/* The test made this socket for the daemon, so the test removes it. */
	if (daemon->manager.listen_fd >= 0)
		unlink(daemon->socket_path);
	manager_close(&daemon->manager);
	remove_etc(daemon);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof path, "%s/%s", daemon->directory, names[i]);
		unlink(path);
	}
	/* Fails if the daemon left its socket behind. */
	assert_int_equal(rmdir(daemon->directory), 0);
}

void daemon_stop(struct daemon_process *daemon)
{
	int status;

	if (daemon->pid <= 0)
		return; /* it was never started */
	kill(daemon->pid, SIGTERM);
	status = wait_for(daemon->pid, STOP_TIMEOUT_S);
	if (status != 0)
		print_log(daemon);
	daemon_remove(daemon);
	assert_int_equal(status, 0);
}

int connect_raw(const struct daemon_process *daemon)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct timeval limit = { .tv_sec = 5 };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof address.sun_path, "%s", daemon->socket_path);
	if (connect(fd, (const void *)&address, sizeof address) < 0 ||
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0)
		_exit(98);
	return fd;
}

int connect_hello(const struct daemon_process *daemon, struct wire_packet *ret)
{
	union wire_message hello;
	int fd = connect_raw(daemon);

	wire_begin(&hello, WIRE_HELLO);
	hello.hello.version = WIRE_VERSION;
	if (wire_send(fd, &hello, NULL, 0) < 0 || wire_receive(fd, WIRE_FROM_DAEMON, ret) != 1 ||
		ret->message.header.opcode != WIRE_WELCOME)
		_exit(97);
	return fd;
}

static int start_the_daemon(void **state)
{
	daemon_start(&the_daemon, the_machine, the_config);
	return 0;
}

static int stop_the_daemon(void **state)
{
	daemon_stop(&the_daemon);
	return 0;
}

int run_privileged_cases(CMFixtureFunction set_up_all, CMFixtureFunction tear_down_all)
{
	return system_tests_can_run() ? run_cases(set_up_all, tear_down_all) : 0;
}

int run_on_daemon(const char *machine, const char *config)
{
	the_machine = machine;
	the_config = config;
	return run_privileged_cases(start_the_daemon, stop_the_daemon);
}

struct json_object *daemon_info(const struct daemon_process *daemon)
{
	_cleanup_free_ char *text = NULL;
	struct json_object *root;

	assert_int_equal(uncore_info(daemon->socket_path, &text), 0);
	root = json_tokener_parse(text);
	assert_non_null(root);
	return root;
}

uint64_t daemon_number(const struct daemon_process *daemon, const char *key)
{
	struct json_object *root = daemon_info(daemon);
	uint64_t value = json_object_get_uint64(json_object_object_get(root, key));

	json_object_put(root);
	return value;
}

uint64_t daemon_socket_number(const struct daemon_process *daemon, unsigned socket, const char *key)
{
	struct json_object *root = daemon_info(daemon);
	struct json_object *sockets = json_object_object_get(root, "sockets");
	struct json_object *object = json_object_array_get_idx(sockets, socket);
	uint64_t value = json_object_get_uint64(json_object_object_get(object, key));

	json_object_put(root);
	return value;
}

/* --- workloads --- */

void pin_to_cpu(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof set, &set);
}

/*
 * A sanitizer faults in its shadow memory on each access that it checks and on each mapping that it
 * sees. So this function is not instrumented, and maps by system calls.
 */
__attribute__((no_sanitize("address", "thread", "undefined"))) void touch_pages(unsigned n)
{
	const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	volatile char *memory = (void *)syscall(SYS_mmap, NULL, n * page_bytes,
		PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0L);

	if (memory == MAP_FAILED)
		abort();
	syscall(SYS_madvise, memory, n * page_bytes, MADV_NOHUGEPAGE);
	for (unsigned i = 0; i < n; i++)
		memory[i * page_bytes] = 1;
	syscall(SYS_munmap, memory, n * page_bytes);
}

unsigned standin_sockets(void)
{
	return sysconf(_SC_NPROCESSORS_ONLN) >= 2 ? 2 : 1;
}
