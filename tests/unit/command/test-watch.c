/* SPDX-License-Identifier: BSD-3-Clause */
/* `uncore stat` without a command, its lines of rates, and its background. */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <math.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/command/command-case.h"

/* Runs the shell's @line, in which $U is the command, against a fake daemon. */
static void shell_with(struct outcome *ret, const struct fake_options *options, const char *line)
{
	char path[256], script[512];
	struct fake_daemon daemon;
	FILE *output;
	size_t n;

	fake_daemon_start(&daemon, options, 1);
	setenv("UNCORE_SOCKET", daemon.path, 1);
	snprintf(path, sizeof path, "%s/client/uncore", getenv("UNCORE_BUILD_ROOT"));
	setenv("U", path, 1);
	snprintf(script, sizeof script, "exec 2>&1; %s", line);
	output = popen(script, "re");
	assert_non_null(output);
	n = fread(ret->text, 1, sizeof ret->text - 1, output);
	ret->text[n] = '\0';
	ret->status = WEXITSTATUS(pclose(output));
	unsetenv("UNCORE_SOCKET");
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}

static void shell(struct outcome *ret, const char *line)
{
	shell_with(ret, NULL, line);
}

/* Ends the command, which writes to a file, by a signal after its first interval. */
static void end_by(struct outcome *ret, const char *signal)
{
	char line[400];

	snprintf(line, sizeof line,
		"f=$(mktemp); env --default-signal=%s $U stat --json -I 50ms -o $f & p=$!; "
		"until [ -s $f ]; do sleep 0.02; done; kill -%s $p; wait $p; r=$?; tail -1 $f; "
		"rm $f; exit $r",
		signal, signal);
	shell(ret, line);
}

CASE("a time or a signal ends it")
{
	struct outcome outcome;

	shell(&outcome, "$U stat --for 100ms");
	expect(&outcome, 0, " Counts of everything that the sockets did, platform icelake-sp:");
	expect(&outcome, 0, "dram.total                  3,000 bytes");
	expect(&outcome, 0, " measured for ");
	shell(&outcome, "script -qec \"$U stat --for 100ms\" /dev/null </dev/null");
	expect(&outcome, 0, "counts all that the sockets do, until its time is over, or Ctrl-C.");
	end_by(&outcome, "INT");
	expect(&outcome, 130, "\"command\":[]");
	end_by(&outcome, "TERM");
	expect(&outcome, 143, "\"command\":[]");
	shell(&outcome, "f=$(mktemp); { timeout 30 $U stat -I 50ms 2>&1; echo $? >$f; } | head -2; "
			"cat $f; rm $f");
	expect(&outcome, 0, "\n141\n");
}

/* Nobody reads what it writes, so it cannot end by itself. */
CASE("a second signal ends it in any case")
{
	struct outcome outcome;

	shell(&outcome,
		"f=$(mktemp -u); mkfifo $f; sleep 30 <$f & s=$!; head -c 65536 /dev/zero >$f; "
		"env --default-signal=INT $U stat -I 50ms -o $f & p=$!; sleep 0.3; "
		"for i in $(seq 50); do kill -INT $p || break; sleep 0.1; done; "
		"kill -KILL $p; wait $p; r=$?; kill $s; rm $f; exit $r");
	assert_int_equal(outcome.status, 128 + SIGINT);
}

/* A process in the background that ends when the command has written to $f. */
#define UNTIL_WRITTEN "f=$(mktemp); { until [ -s $f ]; do sleep 0.02; done; } & "

CASE("the end of processes ends it")
{
	struct outcome outcome;

	shell(&outcome, UNTIL_WRITTEN "$U stat -a -I 50ms -o $f -p $!,$!; cat $f; rm $f");
	expect(&outcome, 0, " Counts of everything that the sockets did while processes ");
	shell(&outcome, "sleep 30 & p=$!; $U stat -p $p --for 100ms; r=$?; kill $p; exit $r");
	expect(&outcome, 0, " sockets did while process ");
	expect(&outcome, 0, " measured for ");
	shell(&outcome, "$U stat -p 4194305");
	expect(&outcome, 125, "uncore stat: There is no process 4194305 here.");
	shell(&outcome,
		"f=$(mktemp); sh -c 'sleep 0.2 & echo $! >'$f'; exec sleep 30' & p=$!; "
		"for i in $(seq 500); do grep -qs 'State:.Z' /proc/$(cat $f)/status && break; "
		"sleep 0.02; done; $U stat -p $(cat $f); r=$?; kill $p; rm $f; exit $r");
	expect(&outcome, 125, " has ended already.");
	shell(&outcome, "$U stat -p 1,x");
	expect(&outcome, 125, "-p takes numbers of at most 64 processes, like 42,43.");
}

/* Without pidfd_open(2), as before Linux 5.3 or in some containers. */
static void forbid_pidfds(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { ARRAY_SIZE(filter), filter };

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

CASE("it asks where there are no pidfds")
{
	struct outcome outcome;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		forbid_pidfds();
		shell(&outcome, UNTIL_WRITTEN "$U stat -I 50ms -o $f -p $!; cat $f; rm $f");
		if (outcome.status || !strstr(outcome.text, "while process"))
			_exit(1);
		shell(&outcome, "$U stat -p 4194305");
		_exit(outcome.status == 125 && strstr(outcome.text, "no process") ? 0 : 2);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void *idle_thread(void *argument)
{
	_Atomic pid_t *tid = argument;

	*tid = (pid_t)syscall(SYS_gettid);
	while (*tid)
		usleep(1000);
	return NULL;
}

CASE("a thread is not a process")
{
	struct outcome outcome;
	_Atomic pid_t tid = 0;
	pthread_t thread;
	char line[64];

	assert_int_equal(pthread_create(&thread, NULL, idle_thread, &tid), 0);
	while (!tid)
		usleep(1000);
	snprintf(line, sizeof line, "$U stat -p %d", (int)tid);
	shell(&outcome, line);
	tid = 0;
	pthread_join(thread, NULL);
	snprintf(line, sizeof line, " is a thread of process %d;", getpid());
	expect(&outcome, 125, line);
}

static void expect_fits(const struct outcome *outcome)
{
	_cleanup_free_ char *text = strdup(outcome->text);

	for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
		if (strlen(line) > 80)
			fail_msg("%zu characters: %s", strlen(line), line);
}

CASE("lines of rates fit a terminal")
{
	struct outcome outcome;

	shell(&outcome, "$U stat --metric-only --for 100ms -I 50ms");
	expect(&outcome, 0, "             socket 0                        socket 1");
	assert_int_equal(count(&outcome, "dram.write"), 2);
	assert_null(strstr(outcome.text, "Counts"));
	expect_fits(&outcome);
	shell(&outcome, "$U stat --metric-only -e clock,dram.read -- true");
	expect(&outcome, 0, "          s      GB/s     ns/ns      GB/s     ns/ns\n");
	assert_int_equal(count(&outcome, "\n"), 4);
}

CASE("lines of rates show less of each socket, and at last all sockets together, where many do not "
     "fit")
{
	static const struct {
		struct fake_options options;
		const char *sockets, *names;
	} machines[] = {
		{ { .n_sockets = 1 }, "socket 0                                ",
			" dram.read dram.write dram.total     clock\n" },
		{ { .n_sockets = 2 }, "socket 1                      ",
			"       time dram.read dram.write dram.total dram.read dram.write "
			"dram.total\n" },
		{ { .n_sockets = 3 }, "   socket 0   socket 1   socket 2\n",
			"       time dram.total dram.total dram.total\n" },
		{ { .n_sockets = 6 }, "   socket 4   socket 5\n",
			" dram.total dram.total dram.total\n" },
		{ { .n_sockets = 7 }, "                  all                      \n",
			"       time dram.read dram.write dram.total\n" },
		{ { .n_sockets = 8, .two_tiers = true }, "                  all     ",
			"       time dram.read dram.write dram.total  hbm.read hbm.write "
			"hbm.total\n" },
	};
	struct outcome outcome;

	for (size_t i = 0; i < ARRAY_SIZE(machines); i++) {
		shell_with(&outcome, &machines[i].options, "$U stat --metric-only -- true");
		expect(&outcome, 0, machines[i].sockets);
		expect(&outcome, 0, machines[i].names);
		assert_int_equal(count(&outcome, "\n"), 4);
		expect_fits(&outcome);
	}
}

CASE("metrics may be chosen")
{
	struct outcome outcome;

	shell(&outcome, "$U stat -e dram --csv -- true");
	assert_int_equal(count(&outcome, "\n"), 1 + 3 * 3 + 1);
	shell(&outcome, "$U stat -x ';' -e itom -- true");
	expect(&outcome, 0, "\n0;itom;bytes;1;");
	shell(&outcome, "$U stat -e dram.total,itom --json -- true");
	expect(&outcome, 0, "\"dram.total\"");
	assert_null(strstr(outcome.text, "dram.read"));
	shell(&outcome, "$U stat -e cycles -- echo hello");
	expect(&outcome, 2, "-e: this machine has no metric cycles.");
	expect(&outcome, 2, "perf's: `perf stat -e cycles`.");
	expect(&outcome, 2, " dram.read dram.write clock itom dram.total\n");
	assert_null(strstr(outcome.text, "hello"));
	shell(&outcome, "$U list");
	expect(&outcome, 0, "dram.total   bytes  dram.read + dram.write\n");
	expect(&outcome, 0,
		"itom         bytes  written whole, so not read before  absent: this machine has "
		"no such event\n");
}

CASE("a run may be prepared")
{
	struct outcome outcome;

	shell(&outcome, "$U stat --warmup 2 --prepare 'echo before' -r 2 -- echo run");
	expect(&outcome, 0, "before\nrun\nbefore\nrun\nbefore\nrun\nbefore\nrun\n");
	expect(&outcome, 0, "of 2 runs");
	shell(&outcome, "$U stat --prepare 'exit 4' -- echo run");
	expect(&outcome, 125, "the command of --prepare failed, so nothing follows it.");
	assert_null(strstr(outcome.text, "run\n"));
	shell(&outcome, "$U stat -D 100ms -- sh -c 'sleep 0.3; exit 6'");
	expect(&outcome, 6, " wall time 0.");
	shell(&outcome, "$U stat -D 10s -- true");
	expect(&outcome, 125, "the command ended before --delay was over.");
}

CASE("the background is shown with its error")
{
	struct json_object *document, *metric;
	struct outcome outcome;
	double net;

	/* Each reading of the fake daemon counts one step, so ten slices have one step each. */
	shell(&outcome, "$U stat --baseline 100ms --subtract --json -- sleep 0.2");
	document = json_tokener_parse(outcome.text);
	assert_non_null(document);
	metric = FIND(document, "sockets", "0", "metrics", "dram.total");
	net = json_object_get_double(FIND(metric, "net"));
	assert_true(json_object_get_double(FIND(metric, "idle_bytes_per_s")) > 0);
	assert_true(net < 3 * FAKE_STEP);
	assert_true(json_object_get_double(FIND(metric, "net_error")) > 0);
	json_object_put(document);
	shell(&outcome, "$U stat --baseline 100ms -- true");
	expect(&outcome, 0, "\n     idle 0.0");
	expect_fits(&outcome);
	shell(&outcome, "$U stat -r 2 --baseline 100ms -- true");
	expect(&outcome, 0, "\n     idle 0.0");
	expect(&outcome, 0, "GB/s  +- ");
	expect_fits(&outcome);
	shell(&outcome, "$U stat -r 2 -- sh -c ': a command of some length'");
	expect(&outcome, 0, "\n Counts while 'sh -c : a command ");
	expect(&outcome, 0, " platform icelake-sp:\n\n");
	expect_fits(&outcome);
	assert_null(strstr(outcome.text, "without the idle"));
	shell(&outcome, "script -qec \"$U stat -- sleep 0.2\" /dev/null </dev/null");
	expect(&outcome, 0, " Just before it, the sockets moved ");
	shell(&outcome, "$U stat --baseline");
	expect(&outcome, 2, "--baseline needs a value, TIME.");
}

CASE("a file may be appended to")
{
	struct outcome outcome;

	shell(&outcome, "f=$(mktemp); for i in 1 2; do $U stat --csv --append -o $f true; done; "
			"cat $f; rm $f");
	assert_int_equal(count(&outcome, "socket,metric"), 1);
	assert_int_equal(count(&outcome, "all,wall_time,"), 2);
	shell(&outcome, "$U stat --append true");
	expect(&outcome, 2, "--append needs -o FILE");
}
