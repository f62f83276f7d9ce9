/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/bench/pcp/private-pmcd.h"

#include <err.h>
#include <fcntl.h>
#include <ftw.h>
#include <pcp/pmapi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/macro.h"
#include "tests/bench/pcp/client.h"
#include "tests/harness/daemon-process.h"

enum { STOP_TIMEOUT_S = 10, START_TIMEOUT_S = 10, PATH_BYTES = 256 };

static struct {
	pid_t owner, pmcd, perfevent;
	char folder[64];
} the;

/* --- the folder --- */

/* Its text lives until the third call after this one. */
static const char *in_folder(const char *name)
{
	static char paths[3][PATH_BYTES];
	static unsigned turn;
	char *path = paths[turn++ % ARRAY_SIZE(paths)];

	snprintf(path, PATH_BYTES, "%s/%s", the.folder, name);
	return path;
}

static void make_folder(const char *name, uid_t owner)
{
	const char *path = in_folder(name);

	if (mkdir(path, 0755) < 0 || chown(path, owner, owner) < 0)
		err(1, "%s", path);
}

static FILE *new_file(const char *name)
{
	const char *path = in_folder(name);
	FILE *file = fopen(path, "we");

	if (!file)
		err(1, "%s", path);
	return file;
}

/*
 * Copies a program into the folder, because user nobody must be able to read the programs that pmcd
 * starts or loads.
 */
static void copy_program(const char *built, const char *name)
{
	const char *from = build_path(built), *to = in_folder(name);
	_cleanup_close_ int in = open(from, O_RDONLY | O_CLOEXEC);
	_cleanup_close_ int out = -1;
	struct stat status;

	if (in < 0 || fstat(in, &status) < 0)
		err(1, "%s", from);
	out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	if (out < 0 || sendfile(out, in, NULL, (size_t)status.st_size) != status.st_size)
		err(1, "%s", to);
}

static void write_pmcd_conf(const char *uncored_socket)
{
	_cleanup_file_ FILE *file = new_file("pmcd.conf");
	const char *f = the.folder;

	fprintf(file, "ours_pipe %d pipe binary %s/pmdauncore -d %d -s %s -l %s/log/ours\n",
		DOMAIN_OURS_PIPE, f, DOMAIN_OURS_PIPE, uncored_socket, f);
	fprintf(file, "ours_dso %d dso uncore_init %s/pmda_uncore.so\n", DOMAIN_OURS_DSO, f);
	fprintf(file, "floor_pipe %d pipe binary %s/pmdanoop -d %d -l %s/log/noop\n",
		DOMAIN_FLOOR_PIPE, f, DOMAIN_FLOOR_PIPE, f);
	fprintf(file, "floor_dso %d dso noop_init %s/pmda_noop.so\n", DOMAIN_FLOOR_DSO, f);
	fprintf(file, "perfevent %d socket unix %s/run/perfevent\n", DOMAIN_PERFEVENT, f);
}

/* Writes the names of pmdaperfevent only: the numbers of the other metrics are known. */
static void write_name_space(void)
{
	_cleanup_file_ FILE *file = new_file("root");

	fprintf(file, "root {\n\tperfevent\n}\nperfevent {\n\thwcounters\t%d:*:*\n}\n",
		DOMAIN_PERFEVENT);
}

static void write_perfevent_conf(void)
{
	static const char *const events[EVENTS] = { "page_faults", "minor_faults", "major_faults" };
	_cleanup_file_ FILE *file = NULL;

	make_folder("perfevent", 0);
	file = new_file("perfevent/perfevent.conf");
	fprintf(file, "[dynamic]\n");
	for (int box = 0; box < BOXES; box++)
		for (int event = 0; event < EVENTS; event++)
			fprintf(file, "uncore_standin_%d.%s\n", box, events[event]);
}

static void fill_folder(const char *uncored_socket)
{
	strcpy(the.folder, "/tmp/uncored-bench-pcp-XXXXXX");
	if (!mkdtemp(the.folder) || chmod(the.folder, 0755) < 0)
		err(1, "%s", the.folder);
	make_folder("run", NOBODY);
	make_folder("tmp", NOBODY);
	make_folder("log", NOBODY);
	make_folder("log/pmcd", NOBODY);
	copy_program("pmda/pmdauncore", "pmdauncore");
	copy_program("pmda/pmda_uncore.so", "pmda_uncore.so");
	copy_program("client/libuncore.so.0", "libuncore.so.0");
	copy_program("tests/bench/pcp/pmdanoop", "pmdanoop");
	copy_program("tests/bench/pcp/pmda_noop.so", "pmda_noop.so");
	write_pmcd_conf(uncored_socket);
	write_name_space();
	write_perfevent_conf();
}

static void set_environment(const char *uncored_socket)
{
	unsetenv("PMCD_PORT");
	setenv("PMCD_LOCAL", "1", 1);
	setenv("PMCD_ROOT_AGENT", "0", 1);
	setenv("PMCD_RESTART_AGENTS", "0", 1);
	setenv("PCP_DERIVED_CONFIG", "", 1);
	setenv("PCP_RUN_DIR", in_folder("run"), 1);
	setenv("PCP_LOG_DIR", in_folder("log"), 1);
	setenv("PCP_TMP_DIR", in_folder("tmp"), 1);
	setenv("PCP_TMPFILE_DIR", in_folder("tmp"), 1);
	setenv("PCP_PMDAS_DIR", the.folder, 1);
	setenv("PCP_PMCDCONF_PATH", in_folder("pmcd.conf"), 1);
	setenv("PMNS_DEFAULT", in_folder("root"), 1);
	setenv("PMCD_SOCKET", in_folder("run/pmcd"), 1);
	setenv("UNCORE_SOCKET", uncored_socket, 1); /* for the shared object in pmcd */
	setenv("LD_LIBRARY_PATH", the.folder, 1);   /* libuncore */
}

/* --- the processes --- */

static void print_log(const char *name)
{
	char text[4096] = "";
	_cleanup_file_ FILE *log = fopen(in_folder(name), "re");

	if (log)
		text[fread(text, 1, sizeof text - 1, log)] = '\0';
	fprintf(stderr, "--- %s\n%s\n", name, text);
}

static void exec_quietly(const char *const arguments[])
{
	int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	dup2(null_fd, STDOUT_FILENO);
	dup2(null_fd, STDERR_FILENO);
	pin_to_cpu(SHARED_CPU);
	execv(arguments[0], (char *const *)arguments);
	_exit(127);
}

static const char *perfevent_program(void)
{
	static char path[PATH_BYTES];

	snprintf(path, sizeof path, "%s/perfevent/pmdaperfevent", pmGetConfig("PCP_PMDASADM_DIR"));
	return path;
}

static int exec_perfevent(void *argument)
{
	char tree[PATH_BYTES * 2];
	const char *const arguments[] = { perfevent_program(), "-U", "nobody", "-u",
		in_folder("run/perfevent"), "-l", in_folder("log/perfevent"), NULL };

	snprintf(tree, sizeof tree, "%s/", build_path("tests/machines/standin-wide/sys"));
	setenv("SYSFS_PREFIX", tree, 1);
	setenv("SYSFS_MOUNT_POINT", tree, 1);
	exec_quietly(arguments);
	return 0;
}

static int exec_pmcd(void *argument)
{
	char program[PATH_BYTES], conf[PATH_BYTES], names[PATH_BYTES];
	const char *const arguments[] = { program, "-f", "-A", "-c", conf, "-n", names, "-p", "0",
		"-s", getenv("PMCD_SOCKET"), "-l", in_folder("log/pmcd/pmcd.log"), "-x",
		in_folder("log/fatal"), NULL };

	snprintf(program, sizeof program, "%s/pmcd", pmGetConfig("PCP_BINADM_DIR"));
	snprintf(conf, sizeof conf, "%s/pmcd.conf", the.folder);
	snprintf(names, sizeof names, "%s/root", the.folder);
	exec_quietly(arguments);
	return 0;
}

/* pmcd connects to pmdaperfevent only once, when pmcd starts. */
static void wait_for_perfevent(void)
{
	uint64_t deadline_ns = clock_deadline_ns(START_TIMEOUT_S * 1000000000ULL);

	while (access(in_folder("run/perfevent"), F_OK) < 0) {
		if (clock_now_ns() > deadline_ns)
			errx(1, "pmdaperfevent did not start.");
		usleep(10000);
	}
}

static pid_t start_as_root(int (*body)(void *argument))
{
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (pid == 0)
		_exit(body(NULL));
	return pid;
}

static void end_process(pid_t *pid)
{
	if (*pid <= 0)
		return;
	kill(*pid, SIGTERM);
	wait_for(*pid, STOP_TIMEOUT_S);
	*pid = 0;
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
	(void)status, (void)kind, (void)where;
	return remove(path);
}

void private_pmcd_stop(void)
{
	end_process(&the.pmcd);
	end_process(&the.perfevent);
	if (the.folder[0] && nftw(the.folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) < 0)
		warn("Cannot remove %s", the.folder);
	the.folder[0] = '\0';
}

/* Stops both when this process ends, but not when a failed child of it ends. */
static void stop_after_failure(void)
{
	static const char *const logs[] = { "log/pmcd/pmcd.log", "log/ours", "log/perfevent" };

	if (getpid() != the.owner || !the.folder[0])
		return;
	for (unsigned i = 0; i < ARRAY_SIZE(logs); i++)
		print_log(logs[i]);
	private_pmcd_stop();
}

void private_pmcd_start(const char *uncored_socket)
{
	if (access(perfevent_program(), X_OK) < 0)
		err(1, "Install PCP, to compare with: %s", perfevent_program());
	the.owner = getpid();
	atexit(stop_after_failure);
	fill_folder(uncored_socket);
	set_environment(uncored_socket);
	the.perfevent = start_as_root(exec_perfevent);
	wait_for_perfevent();
	the.pmcd = start_as_nobody(exec_pmcd, NULL);
}
