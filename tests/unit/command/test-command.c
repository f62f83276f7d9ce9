/* SPDX-License-Identifier: BSD-3-Clause */
/* The `uncore` command as a user runs it, against a daemon whose counts are known. */
#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/report/format.h"
#include "tests/unit/command/command-case.h"

CASE("stat prints a table after the command")
{
	struct outcome outcome;

	run_with(&outcome, NULL, "stat -- echo hello");
	expect(&outcome, 0, "hello\n");
	expect(&outcome, 0, "dram.write                  4,000 bytes");
	expect(&outcome, 0, "GB/s");
	expect(&outcome, 0, "absent: itom (this machine has no such event)");
	expect(&outcome, 0, "error bound");
	expect(&outcome, 0, "Everything that each socket did is counted, not only this command.");
	assert_null(strstr(outcome.text, "STAND-IN"));
}

CASE("the stand-in is never called memory traffic")
{
	struct outcome outcome;

	run_with(&outcome, &(struct fake_options){ .platform = "standin" }, "stat true");
	expect(&outcome, 0, "STAND-IN: nothing here is memory traffic");
	run_with(&outcome, &(struct fake_options){ .platform = "simulated" }, "stat true");
	expect(&outcome, 0,
		"SIMULATED: bytes that a model of caches counted, not traffic of this machine.");
}

CASE("stat prints JSON")
{
	struct json_object *document, *metrics;
	struct outcome outcome;

	run_with(&outcome, NULL, "stat --json true");
	document = json_tokener_parse(outcome.text);
	assert_non_null(document);
	assert_int_equal(outcome.status, 0);
	assert_int_equal(json_object_object_length(document), 11);
	assert_string_equal(json_object_get_string(FIND(document, "platform")), "icelake-sp");
	assert_string_equal(json_object_get_string(FIND(document, "generation")),
		"00000000000000010000000000000007");
	assert_int_equal(number(FIND(document, "runs")), 1);
	assert_true(number(FIND(document, "window_ns")) > 0);
	assert_int_equal(number(FIND(document, "sockets", "1", "socket")), 1);
	assert_true(number(FIND(document, "sockets", "1", "window_ns")) > 0);
	assert_non_null(FIND(document, "sockets", "1", "skew_ns"));
	metrics = FIND(document, "sockets", "1", "metrics");
	assert_int_equal(number(FIND(metrics, "dram.read", "bytes")), 2 * FAKE_STEP);
	assert_int_equal(json_object_array_length(FIND(metrics, "dram.read", "quality")), 0);
	assert_int_equal(number(FIND(metrics, "clock", "value")), 6 * FAKE_STEP);
	assert_string_equal(json_object_get_string(FIND(metrics, "clock", "unit")), "ns");
	assert_int_equal(json_object_object_length(FIND(metrics, "itom")), 1);
	assert_string_equal(json_object_get_string(FIND(metrics, "itom", "absent")),
		"this machine has no such event");
	metrics = FIND(document, "all_sockets", "metrics");
	assert_int_equal(number(FIND(metrics, "dram.read", "bytes")), 3 * FAKE_STEP);
	assert_int_equal(number(FIND(metrics, "dram.total", "bytes")), 9 * FAKE_STEP);
	assert_int_equal(json_object_object_length(metrics), 4); /* clocks are not added */
	json_object_put(document);
}

CASE("stat repeats with mean and spread")
{
	struct json_object *document, *metric;
	struct outcome outcome;

	run_with(&outcome, NULL, "stat -r 3 --json -- true");
	document = json_tokener_parse(outcome.text);
	assert_non_null(document);
	assert_int_equal(number(FIND(document, "runs")), 3);
	metric = FIND(document, "sockets", "0", "metrics", "dram.read");
	assert_int_equal(number(FIND(metric, "bytes")), FAKE_STEP);
	assert_int_equal(number(FIND(metric, "bytes_stddev")), 0);
	json_object_put(document);
	run_with(&outcome, NULL, "stat -r 3 true");
	expect(&outcome, 0, "(mean +- deviation of 3 runs)");
	expect(&outcome, 0, "+-   0.00 %");
}

CASE("stat shows median, minimum and maximum of several runs")
{
	struct fake_options growing = { .growing = true, .min_interval_ns = 1 };
	struct json_object *document, *metric;
	struct outcome outcome;

	run_with(&outcome, &growing, "stat -r 3 true");
	expect(&outcome, 0, "dram.read                   7,000 bytes      0.0");
	expect(&outcome, 0, "+-  57.14 %\n     median 7,000, minimum 3,000, maximum 11,000\n");
	expect(&outcome, 0, " all sockets\n   dram.read                  21,000 bytes");
	expect(&outcome, 0, "     median 21,000, minimum 9,000, maximum 33,000\n");
	run_with(&outcome, &growing, "stat -r 4 --json true");
	document = json_tokener_parse(outcome.text);
	metric = FIND(document, "sockets", "1", "metrics", "clock");
	assert_int_equal(number(FIND(metric, "value")), 6 * 9 * FAKE_STEP);
	assert_int_equal(number(FIND(metric, "value_median")), 6 * 9 * FAKE_STEP);
	assert_int_equal(number(FIND(metric, "value_min")), 6 * 3 * FAKE_STEP);
	assert_int_equal(number(FIND(metric, "value_max")), 6 * 15 * FAKE_STEP);
	metric = FIND(document, "all_sockets", "metrics", "dram.write");
	assert_int_equal(number(FIND(metric, "bytes_max")), 6 * 15 * FAKE_STEP);
	json_object_put(document);
	run_with(&outcome, &growing, "stat true");
	assert_null(strstr(outcome.text, "median"));
}

static void expect_row(const struct format_value *value, const char *expected)
{
	const struct format_socket socket = {
		.name_width = 12, .repeated = true, .values = { *value }
	};
	_cleanup_free_ char *text = NULL;
	size_t size_bytes;
	FILE *out = open_memstream(&text, &size_bytes);

	assert_non_null(out);
	format_row(out, &socket, 0);
	fclose(out);
	assert_string_equal(text, expected);
}

CASE("a spread around 0 is not shown as a share")
{
	struct format_value value = {
		.name = "itom", .unit = "bytes", .count = 200, .rate = 2, .deviation = 1
	};

	expect_row(
		&value, "itom                          200 bytes      2.000 GB/s  +-   0.50 %\n");
	value.count = 0;
	value.rate = 0;
	expect_row(
		&value, "itom                            0 bytes      0.000 GB/s             \n");
	value.deviation = 0;
	expect_row(
		&value, "itom                            0 bytes      0.000 GB/s  +-   0.00 %\n");
}

CASE("sockets are added up")
{
	struct outcome outcome;
	char *all, *absent;

	run_with(&outcome, NULL, "stat true");
	expect(&outcome, 0, " all sockets\n   dram.read                   3,000 bytes");
	all = strstr(outcome.text, "all sockets");
	assert_non_null(strstr(all, "dram.write                  6,000 bytes"));
	absent = strstr(outcome.text, "absent: itom");
	assert_true(absent && absent < strstr(outcome.text, " socket 1"));
	assert_null(strstr(absent + 1, "absent")); /* a reason is given once */
	assert_null(strstr(all, "clock"));
	run_with(&outcome, &(struct fake_options){ .n_sockets = 1 }, "stat true");
	expect(&outcome, 0, "dram.read");
	assert_null(strstr(outcome.text, "all sockets"));
}

CASE("a total has the doubts of both parts, and is absent where one is")
{
	struct outcome outcome;

	run_with(&outcome, &(struct fake_options){ .quality = PAGE_PARTIAL }, "stat true");
	assert_int_equal(count(&outcome, "dram.total "), 3);
	assert_int_equal(count(&outcome, "  partial\n"), 2 * 3);
	run_with(&outcome, &(struct fake_options){ .quality = PAGE_ABSENT }, "stat true");
	expect(&outcome, 0, "   dram.write ");
	assert_null(strstr(outcome.text, "   dram.total"));
	expect(&outcome, 0, "absent: dram.read, dram.total (");
}

CASE("each of two tiers has its total, and they are not added")
{
	struct outcome outcome;

	run_with(&outcome, &(struct fake_options){ .two_tiers = true }, "stat true");
	for (uint64_t socket = 1; socket <= FAKE_SOCKETS + 1; socket++) { /* the last is the sum */
		char dram[64], hbm[64];

		sprintf(dram, "   dram.total %18" PRIu64 ",000 bytes", 3 * socket);
		sprintf(hbm, "   hbm.total %19" PRIu64 ",000 bytes", 7 * socket);
		expect(&outcome, 0, dram);
		expect(&outcome, 0, hbm);
	}
	assert_int_equal(count(&outcome, ".total "), 2 * (FAKE_SOCKETS + 1));
	assert_int_equal(count(&outcome, "total"), 2 * (FAKE_SOCKETS + 1));
}

CASE("stat prints intervals while the command runs")
{
	struct outcome outcome;
	char *rest = outcome.text, *line;
	uint64_t n_intervals = 0, sum = 0, total = 0, time_ns = 0;

	run_with(&outcome, NULL, "stat -I 50 --json sleep 0.3");
	while ((line = strsep(&rest, "\n")) && *line) {
		struct json_object *document = json_tokener_parse(line);
		struct json_object *metrics, *interval;

		assert_non_null(document);
		metrics = FIND(document, "sockets", "0", "metrics");
		total = number(FIND(metrics, "dram.read", "bytes"));
		if (json_object_object_get_ex(document, "interval", &interval)) {
			assert_int_equal(number(interval), ++n_intervals);
			assert_int_equal(number(FIND(document, "run")), 1);
			assert_true(number(FIND(document, "time_ns")) > time_ns);
			time_ns = number(FIND(document, "time_ns"));
			sum += total;
		}
		json_object_put(document);
	}
	assert_true(n_intervals >= 2);
	assert_int_equal(sum, total); /* of the last line, which is the whole run */
	run_with(&outcome, NULL, "stat -I 50 sleep 0.2");
	expect(&outcome, 0, "       time dram.read dram.write dram.total dram.read");
	for (line = outcome.text; !strstr(line, "Counts while"); line = strchr(line, '\n') + 1)
		if (!strncmp(line, "   ", 3) && strstr(line, "dram.read"))
			assert_non_null(strstr(line, "GB/s"));
	assert_null(strstr(outcome.text, "run 1"));
	run_with(&outcome, NULL, "stat -r 2 -I 50 sleep 0.1");
	expect(&outcome, 0, "\n2    ");
}

CASE("the status is the command's")
{
	struct outcome outcome;

	run_with(&outcome, NULL, "stat -- sh -c 'exit 7'");
	expect(&outcome, 7, "dram.read");
	run_with(&outcome, NULL, "stat -- sh -c 'kill -TERM $$'");
	expect(&outcome, 128 + SIGTERM, "dram.read");
}

CASE("a command that cannot run is told")
{
	struct outcome outcome;

	run_with(&outcome, NULL, "stat -- /nonexistent/command");
	expect(&outcome, 127, "cannot run /nonexistent/command: No such file");
	assert_int_equal(count(&outcome, "\n"), 1);
	run_with(&outcome, NULL, "stat -- /dev/null");
	expect(&outcome, 126, "cannot run /dev/null: Permission denied");
}

CASE("the command's options are left alone")
{
	struct outcome outcome;

	run_with(&outcome, NULL, "stat echo --json -r x");
	expect(&outcome, 0, "--json -r x\n");
}

CASE("the command gets the signals that stat got")
{
	struct outcome outcome;
	uint64_t ignored;

	run_with(&outcome, NULL,
		"stat -- grep -E '^Sig(Blk|Ign)' /proc/self/status"); /* dash unblocks all */
	expect(&outcome, 0, "SigBlk:\t0000000000000000");
	ignored = strtoull(strstr(outcome.text, "SigIgn:") + strlen("SigIgn:"), NULL, 16);
	assert_false(ignored >> (SIGPIPE - 1) & 1);
	run_with(&outcome, NULL, "stat -- sh -c 'kill -INT $$'");
	expect(&outcome, 128 + SIGINT, "dram.read");
}

/* The command survives, and says so; $PPID is the `uncore stat` that runs it. */
CASE("a signal ends the repetition")
{
	static const char *const signals[] = { "INT", "QUIT", "TERM", "HUP" };
	struct outcome outcome;
	char line[128];

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		snprintf(line, sizeof line,
			"stat -r 3 -- sh -c 'trap : %s; kill -%s $PPID; sleep 0.1; echo once'",
			signals[i], signals[i]);
		run_with(&outcome, NULL, line);
		expect(&outcome, 0, "once\n");
		assert_int_equal(count(&outcome, "once\n"), 1);
		assert_non_null(strstr(outcome.text, "dram.read"));
	}
}

CASE("a run that a signal cut is shown apart, and is in no mean")
{
	static const char counter[] =
		"-- sh -c 'echo >>%s/x; test $(wc -l <%s/x) -lt 3 || kill -%s'";
	static const struct {
		const char *options, *signal, *text;
		int status;
	} cases[] = {
		{ "-r 5", "INT $PPID", "deviation of 2 runs", 0 },
		{ "-r 5", "INT $PPID", "\n Run 3 was cut short by a signal, and is in no mean:\n",
			0 },
		{ "-r 5", "KILL $$", "deviation of 2 runs", 137 },
		{ "-r 5 --json", "INT $PPID", "\"runs\":2,", 0 },
		{ "-r 5 --json", "INT $PPID", "\"run\":3,", 0 },
		{ "-r 5 --csv", "INT $PPID", "\nall,wall_time,ns,2,", 0 },
		{ "-r 5 --csv", "INT $PPID", "\nall,wall_time,ns,0,", 0 },
		{ "-r 5 --metric-only", "INT $PPID", ": run 3 was cut short by a signal", 0 },
		{ "-r 3 --warmup 2", "INT $PPID", "\n No counts of 'sh", 0 },
		{ "--warmup 2", "KILL $$", "\n Counts while 'sh", 137 },
	};
	char folder[] = "/tmp/uncore-command-XXXXXX", line[256], *end;
	struct outcome outcome;

	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(line, sizeof line, "stat %s ", cases[i].options);
		end = line + strlen(line);
		snprintf(end, sizeof line - strlen(line), counter, folder, folder, cases[i].signal);
		run_with(&outcome, NULL, line);
		expect(&outcome, cases[i].status, cases[i].text);
		snprintf(line, sizeof line, "%s/x", folder);
		assert_int_equal(unlink(line), 0);
	}
	assert_int_equal(rmdir(folder), 0);
}

CASE("a signal that stat was told to ignore ends nothing")
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	struct outcome outcome;

	sigaction(SIGHUP, &ignore, &before);
	run_with(&outcome, NULL, "stat -r 2 -- sh -c 'kill -HUP $PPID; echo twice'");
	sigaction(SIGHUP, &before, NULL);
	assert_int_equal(count(&outcome, "twice\n"), 2);
}

CASE("signals for the command are passed on")
{
	static const char *const signals[] = { "TERM", "HUP", "USR1", "USR2", "ALRM" };
	struct outcome outcome;
	char line[160];

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		snprintf(line, sizeof line,
			"stat -- sh -c 'trap \"exit 9\" %s; kill -%s $PPID; "
			"while :; do sleep 0.01; done'",
			signals[i], signals[i]);
		run_with(&outcome, NULL, line);
		expect(&outcome, 9, "dram.read");
	}
}

CASE("figures can go to a file")
{
	struct outcome outcome;

	run_with(&outcome, NULL, "stat -o /dev/null echo only");
	assert_string_equal(outcome.text, "only\n");
	run_with(&outcome, NULL, "stat -o /nonexistent/file echo never");
	expect(&outcome, 125, "cannot write to /nonexistent/file");
	assert_null(strstr(outcome.text, "never\n"));
}

CASE("a file into which a command writes intervals is not given to another one")
{
	static const struct {
		const char *options;
		int status;
		const char *text;
	} cases[] = {
		{ "-I 10", 1,
			"uncore export: cannot write to x: another command writes into it.\n" },
		{ "", 0, "" },
	};
	char folder[] = "/tmp/uncore-command-XXXXXX", line[256];
	struct outcome outcome;

	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		snprintf(line, sizeof line,
			"stat --json %s -o %s/x sh -c 'cd %s; UNCORE_SOCKET=/nonexistent "
			"$UNCORE_BUILD_ROOT/client/uncore export -o x'",
			cases[i].options, folder, folder);
		run_with(&outcome, NULL, line);
		expect(&outcome, cases[i].status, cases[i].text);
	}
	run_with(&outcome, NULL, "stat --json -o - true 2>/dev/null");
	expect(&outcome, 0, "{");
	snprintf(line, sizeof line, "%s/x", folder);
	assert_int_equal(unlink(line), 0);
	assert_int_equal(rmdir(folder), 0);
}

CASE("a failure to write is told")
{
	static const struct {
		const char *line;
		int status;
	} cases[] = {
		{ "stat -o /dev/full true", 125 },
		{ "stat -I 10 --json -o /dev/full true", 125 },
		{ "stat -o /dev/full sh -c 'exit 3'", 3 },
		{ "info >/dev/full", 1 },
		{ "info --json >/dev/full", 1 },
		{ "--version >/dev/full", 1 },
		{ "--help >/dev/full", 1 },
		{ "help job end >/dev/full", 1 },
		{ "validate --help >/dev/full", 1 },
	};
	struct outcome outcome;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		run_with(&outcome, NULL, cases[i].line);
		expect(&outcome, cases[i].status, ": No space left on device.\n");
		assert_int_equal(count(&outcome, "cannot write"), 1);
	}
}

/* Runs `uncore stat` with a stderr that nobody reads. */
static void run_unread(const char *script)
{
	_cleanup_free_ char *program = NULL;
	int ends[2];

	if (asprintf(&program, "%s/client/uncore", getenv("UNCORE_BUILD_ROOT")) < 0 ||
		pipe(ends) < 0)
		_exit(99);
	dup2(ends[1], STDERR_FILENO);
	close(ends[0]);
	execl(program, "uncore", "stat", "sh", "-c", script, NULL);
	_exit(99);
}

CASE("figures that nobody reads cost no status")
{
	struct fake_daemon daemon;
	int status;
	pid_t pid;

	fake_daemon_start(&daemon, NULL, 1);
	setenv("UNCORE_SOCKET", daemon.path, 1);
	pid = fork();
	if (pid == 0)
		run_unread("exit 3");
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 3);
	unsetenv("UNCORE_SOCKET");
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}

CASE("a failed measurement is told in the last object")
{
	struct json_object *document;
	struct outcome outcome;

	run_with(&outcome,
		&(struct fake_options){ .refuse_after = FAKE_SOCKETS, .min_interval_ns = 1 },
		"stat --json true");
	assert_int_equal(outcome.status, 125);
	document = json_tokener_parse(outcome.text);
	assert_non_null(document);
	assert_int_equal(number(FIND(document, "runs")), 0);
	assert_non_null(strstr(json_object_get_string(FIND(document, "failure")), "was told to."));
	json_object_put(document);
	run_with(&outcome,
		&(struct fake_options){ .deaf_after = FAKE_SOCKETS, .min_interval_ns = 1 },
		"stat -- sh -c 'exit 3'");
	expect(&outcome, 3, "uncore stat: uncored did not read socket 0 within 10000 ms");
	assert_int_equal(count(&outcome, "\n"), 1);
}

CASE("measurements made before a failure are shown")
{
	struct json_object *document;
	struct outcome outcome;

	run_with(&outcome,
		&(struct fake_options){ .refuse_after = 3 * FAKE_SOCKETS, .min_interval_ns = 1 },
		"stat -r 3 --json true");
	assert_int_equal(outcome.status, 0);
	document = json_tokener_parse(outcome.text);
	assert_non_null(document);
	assert_int_equal(number(FIND(document, "runs")), 1);
	assert_non_null(FIND(document, "failure"));
	assert_int_equal(
		number(FIND(document, "sockets", "0", "metrics", "dram.read", "bytes")), FAKE_STEP);
	json_object_put(document);
}

CASE("a page that was withdrawn is replaced")
{
	struct outcome outcome;

	run_with(
		&outcome, &(struct fake_options){ .retire_after = FAKE_SOCKETS }, "stat sleep 0.1");
	expect(&outcome, 0, "dram.read                   1,000 bytes");
}

CASE("without a daemon nothing is run")
{
	struct outcome outcome;

	run(&outcome, "stat --socket /nonexistent/socket -- echo never");
	expect(&outcome, 125, "Start it with `systemctl start uncored.socket`");
	assert_null(strstr(outcome.text, "never"));
}

CASE("a daemon that dies while the command runs costs only the figures")
{
	struct outcome outcome;
	struct fake_daemon daemon;
	char line[256];
	pid_t pid;

	fake_daemon_start(&daemon, NULL, 1);
	snprintf(line, sizeof line, "stat --socket %s -- sh -c 'mv %s %s.gone; sleep 1; exit 3'",
		daemon.path, daemon.path, daemon.path);
	pid = fork();
	if (pid == 0) {
		run(&outcome, line);
		_exit(outcome.status == 3 && strstr(outcome.text, "Cannot connect") ? 0 : 1);
	}
	while (access(daemon.path, F_OK) == 0)
		usleep(1000);
	fake_daemon_stop(&daemon);
	assert_int_equal(waitpid(pid, &outcome.status, 0), pid);
	assert_int_equal(outcome.status, 0);
	snprintf(line, sizeof line, "%s.gone", daemon.path);
	unlink(line);
	fake_daemon_done(&daemon);
}

CASE("wrong options are refused")
{
	static const char *const lines[] = { "stat --for 1", "stat -I 9 true",
		"stat -I 3600001 true", "stat -r 0 true", "stat -r 10001 true", "stat -r -1 true",
		"stat -r 3x true", "stat --nonsense true", "info a b", "info --nonsense",
		"--nonsense", "" };
	struct outcome outcome;

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
		run(&outcome, lines[i]);
		expect(&outcome, 2, "ncore");
	}
	run(&outcome, "stat --nonsense true");
	expect(&outcome, 2, "uncore stat: unknown option --nonsense. See `uncore stat --help`.");
	run(&outcome, "info --nonsense");
	expect(&outcome, 2, "uncore info: unknown option --nonsense. See `uncore info --help`.");
	run(&outcome, "--nonsense");
	expect(&outcome, 2, "uncore: unknown option --nonsense. See `uncore --help`.");
	run(&outcome, "sleep");
	expect(&outcome, 2, "unknown command sleep; to measure it say `uncore stat -- sleep`");
}

CASE("a shell is told the metrics")
{
	struct outcome outcome;

	run_with(&outcome, NULL, "__complete metrics");
	expect(&outcome, 0, "dram.read\n");
	run_with(&outcome, &(struct fake_options){ .silent = true }, "__complete metrics");
	expect(&outcome, 1, "");
	assert_string_equal(outcome.text, "");
	run(&outcome, "__complete nonsense");
	expect(&outcome, 2, "");
}

CASE("every command has help")
{
	static const char *const commands[] = { "stat", "top", "list", "compare", "run", "info",
		"report", "validate", "export", "job", "job begin", "job end", "job list",
		"job show", "job report", "owner", "help", "version" };
	struct outcome asked, helped;
	char line[64];

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		snprintf(line, sizeof line, "%s --help", commands[i]);
		run(&asked, line);
		snprintf(line, sizeof line, "Usage: uncore %s", commands[i]);
		expect(&asked, 0, line);
		snprintf(line, sizeof line, "help %s", commands[i]);
		run(&helped, line);
		assert_string_equal(helped.text, asked.text);
		assert_int_equal(helped.status, 0);
	}
	run(&asked, "--help");
	run(&helped, "help");
	assert_string_equal(helped.text, asked.text);
}

CASE("help and version are there")
{
	struct outcome outcome;

	run(&outcome, "--help");
	expect(&outcome, 0, "stat");
	run(&outcome, "stat --help");
	expect(&outcome, 0, "--interval TIME");
	run(&outcome, "info --help");
	expect(&outcome, 0, "--json");
	run(&outcome, "--version");
	expect(&outcome, 0, "uncore 0.");
	run(&outcome, "version");
	expect(&outcome, 0, "uncore 0.");
}

static const char whole_state[] =
	"{\"version\":\"0.1.0\",\"platform\":\"icelake-sp\",\"title\":\"Ice Lake-SP\","
	"\"standin\":false,\"generation\":\"00ff\",\"uptime_ns\":90061000000000,\"realtime\":true,"
	"\"sockets\":[{\"socket\":0,\"package\":0,\"cpu\":0,\"sweeps\":12,\"last_sweep_ns\":45000,"
	"\"method\":{\"name\":\"bpf\",\"by_program\":3,\"longest_call_ns\":16500},"
	"\"cpu_ns\":1000000,\"clients\":2,\"throttled\":1,\"boxes\":["
	"{\"pmu\":\"uncore_imc_0\",\"type\":9,\"cpu\":0,\"mode\":\"pinned\",\"events\":["
	"{\"metric\":\"dram.read\",\"config\":\"0xf04\",\"config1\":\"0x0\",\"bytes\":64}]},"
	"{\"pmu\":\"uncore_imc_1\",\"type\":10,\"cpu\":0,\"mode\":\"pinned\",\"events\":["
	"{\"metric\":\"dram.read\",\"config\":\"0xf04\",\"config1\":\"0x0\",\"bytes\":64}]},"
	"{\"pmu\":\"uncore_imc_3\",\"type\":11,\"cpu\":0,\"mode\":\"pinned\",\"events\":["
	"{\"metric\":\"dram.read\",\"config\":\"0xf04\",\"config1\":\"0x0\",\"bytes\":64}]},"
	"{\"pmu\":\"nest_mba7_imc\",\"type\":12,\"cpu\":0,\"mode\":\"flexible\",\"events\":["
	"{\"metric\":\"dram.write\",\"config\":\"0x12\",\"config1\":\"0x3\",\"bytes\":64}]}]}],"
	"\"metrics\":[{\"name\":\"dram.read\",\"unit\":\"bytes\",\"sockets\":["
	"{\"socket\":0,\"quality\":[\"partial\"],\"why\":\"half of it\"}],\"source\":\"manual\","
	"\"confidence\":\"high\"}],"
	"\"missing\":[{\"pmu\":\"uncore_cha_1\",\"metric\":\"itom\",\"why\":\"EACCES\"}],"
	"\"policy\":{\"words\":\"Root may connect, and the members of group hpc.\","
	"\"socket\":\"/run/x\",\"mode\":\"0666\",\"group\":\"hpc\",\"users\":\"\",\"quantum\":64,"
	"\"max_clients\":64},\"clients\":2,\"refused\":3,"
	"\"refusals\":{\"access.group\":2,\"access.users\":0,\"protocol.message\":1},\"warnings\":["
	"\"a warning\"]}";

CASE("a misspelt name is recognised")
{
	static const struct {
		const char *line, *said;
	} cases[] = {
		{ "stats", "uncore: unknown command stats; did you mean stat? See" },
		{ "help owmer", "uncore: unknown command owmer; did you mean owner? See" },
		{ "INFO", "uncore: unknown command INFO; did you mean info? See" },
		{ "Help", "uncore: unknown command Help; did you mean help? See" },
		{ "job bgein 1", "uncore job: unknown command bgein; did you mean begin? See" },
		{ "info --explian x", "unknown option --explian; did you mean --explain? See" },
		{ "--versoin", "uncore: unknown option --versoin; did you mean --version? See" },
	};
	struct outcome outcome;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		run(&outcome, cases[i].line);
		expect(&outcome, 2, cases[i].said);
	}
	run_with(&outcome, &(struct fake_options){ .report = whole_state },
		"info --explain dram.raed");
	expect(&outcome, 1, "does not have the metric dram.raed; did you mean dram.read? ");
}

/* A shell asks while a user types, so a daemon that does not answer must not hold it up. */
CASE("info writes the numbers of boxes as the kernel does")
{
	static const char report[] = "{\"sockets\":[{\"socket\":0,\"boxes\":["
				     "{\"pmu\":\"nest_mcs01_imc\",\"cpu\":0,\"events\":[]},"
				     "{\"pmu\":\"nest_mcs02_imc\",\"cpu\":0,\"events\":[]},"
				     "{\"pmu\":\"nest_mcs05_imc\",\"cpu\":0,\"events\":[]},"
				     "{\"pmu\":\"uncore_imc_9\",\"cpu\":0,\"events\":[]},"
				     "{\"pmu\":\"uncore_imc_10\",\"cpu\":0,\"events\":[]}]}]}";
	struct outcome outcome;

	run_with(&outcome, &(struct fake_options){ .report = report }, "info -v");
	expect(&outcome, 0, "socket 0: nest_mcs01..02,05_imc on CPU 0");
	expect(&outcome, 0, "socket 0: uncore_imc_9..10 on CPU 0");
}

CASE("info says first whether uncored works, on what, what is missing, and who may read")
{
	static const char report[] =
		"{\"platform\":\"made\",\"sockets\":[{\"socket\":0},{\"socket\":1}],\"metrics\":["
		"{\"name\":\"dram.read\",\"sockets\":[{\"socket\":0,\"quality\":[\"partial\"],"
		"\"why\":\"half of it\"},{\"socket\":1,\"quality\":[]}]},"
		"{\"name\":\"dram.write\",\"sockets\":[{\"socket\":0,\"quality\":[]},"
		"{\"socket\":1,\"quality\":[]}]},"
		"{\"name\":\"hbm.read\",\"sockets\":[{\"socket\":0,\"quality\":[\"absent\"],"
		"\"why\":\"none\"},{\"socket\":1,\"quality\":[\"absent\"],\"why\":\"none\"}]},"
		"{\"name\":\"hbm.write\",\"sockets\":[{\"socket\":0,\"quality\":[\"absent\"],"
		"\"why\":\"none\"},{\"socket\":1,\"quality\":[\"absent\"],\"why\":\"none\"}]},"
		"{\"name\":\"check.dram.read\",\"sockets\":[]}],"
		"\"policy\":{\"words\":\"Root may connect.\"},\"warnings\":[\"one\",\"two\"]}";
	struct outcome outcome;

	run_with(&outcome, &(struct fake_options){ .report = report }, "info");
	expect(&outcome, 0,
		"uncored ?, platform made\n\n"
		"  works      in part: 2 metrics are counted on 2 sockets\n"
		"  metrics    dram.read: socket 0: partial (half of it); socket 1: good\n"
		"             dram.write: good\n"
		"             hbm.read, hbm.write: absent (none)\n");
	expect(&outcome, 0, "  may read   Root may connect.\n  warnings   one\n             two\n");
	assert_null(strstr(outcome.text, "Policy and limits"));
	run_with(&outcome, &(struct fake_options){ .report = "{}" }, "info");
	expect(&outcome, 0, "  works      no: 0 metrics are counted on 0 sockets\n");
	run_with(&outcome,
		&(struct fake_options){
			.report = "{\"sockets\":[{}],\"metrics\":[{\"name\":\"dram.read\"}]}" },
		"info");
	expect(&outcome, 0, ": 1 metric is counted on 1 socket\n");
}

CASE("a metric whose check disagrees works in part")
{
	static const char report[] =
		"{\"metrics\":[{\"name\":\"dram.read\",\"sockets\":[{\"socket\":0,"
		"\"quality\":[\"standin\"],\"check_ratio\":%s}]}]}";
	struct outcome outcome;
	char text[256];

	snprintf(text, sizeof text, report, "0.5");
	run_with(&outcome, &(struct fake_options){ .report = text }, "info");
	expect(&outcome, 0, "works      in part:");
	expect(&outcome, 0, "dram.read: standin, 0.500 times what its check counts:");
	snprintf(text, sizeof text, report, "1.05");
	run_with(&outcome, &(struct fake_options){ .report = text }, "info");
	expect(&outcome, 0, "works      yes:");
	expect(&outcome, 0, "metrics    dram.read: standin\n");
}

CASE("info -v lays out the whole state")
{
	struct outcome outcome;

	run_with(&outcome, &(struct fake_options){ .report = whole_state }, "info -v");
	expect(&outcome, 0, "uncored 0.1.0, platform icelake-sp (Ice Lake-SP)\n");
	expect(&outcome, 0, "up 1 d 01:01:01\n");
	expect(&outcome, 0, "    sweeps: 12, the last took 45.0 us");
	expect(&outcome, 0,
		"3 boxes are read by a program in the kernel (bpf), in calls of 16.5 us");
	expect(&outcome, 0, "socket 0: uncore_imc_0..1,3 on CPU 0: dram.read 0xf04\n");
	expect(&outcome, 0, "socket 0: nest_mba7_imc on CPU 0 (flexible): dram.write 0x12/0x3\n");
	expect(&outcome, 0, "  uncore_cha_1, itom: EACCES\n");
	expect(&outcome, 0, "  dram.read    bytes  partial (half of it)\n");
	expect(&outcome, 0, "source: manual (confidence: high)\n");
	expect(&outcome, 0, "limits\n  Root may connect, and the members of group hpc.\n");
	expect(&outcome, 0, "  socket                   /run/x where clients connect\n");
	expect(&outcome, 0, "  group                    hpc    only its members may connect");
	expect(&outcome, 0, "  quantum                  64     bytes that values");
	assert_null(strstr(outcome.text, "  users"));
	expect(&outcome, 0,
		"clients: 2 (this one included); refused requests and connections: 3\n"
		"    access.group: 2\n    protocol.message: 1\n");
	expect(&outcome, 0, "  a warning\n");
}

CASE("info says that a stand-in counts no memory traffic")
{
	struct outcome outcome;

	run_with(&outcome,
		&(struct fake_options){ .report = "{\"platform\":\"simulated\",\"standin\":true}" },
		"info");
	expect(&outcome, 0,
		"\n SIMULATED: bytes that a model of caches counted, not traffic of this machine.");
	run_with(&outcome,
		&(struct fake_options){ .report = "{\"platform\":\"made\",\"standin\":true}" },
		"info");
	expect(&outcome, 0, "\n STAND-IN: nothing here is memory traffic");
}

CASE("info passes JSON on")
{
	struct outcome outcome;

	run_with(&outcome, &(struct fake_options){ .report = whole_state }, "info --json");
	assert_int_equal(strncmp(outcome.text, whole_state, sizeof whole_state - 1), 0);
	assert_string_equal(outcome.text + sizeof whole_state - 1, "\n");
}

CASE("info shows a report in which keys are missing")
{
	static const char *const reports[] = { "{}", "{\"sockets\":[{}],\"metrics\":[{}]}",
		"{\"sockets\":7,\"metrics\":{},\"policy\":[],\"missing\":[1,null],"
		"\"refusals\":[1]}",
		"{\"sockets\":[{\"boxes\":[{},{\"pmu\":\"x\",\"events\":[{}]}]}]}" };
	struct outcome outcome;

	for (size_t i = 0; i < ARRAY_SIZE(reports); i++) {
		run_with(&outcome, &(struct fake_options){ .report = reports[i] }, "info -v");
		expect(&outcome, 0, "Policy and limits");
	}
	run_with(&outcome, &(struct fake_options){ .report = "[nonsense" }, "info");
	expect(&outcome, 1, "sent no report");
}

CASE("without a daemon every command ends with a sentence")
{
	static const char *const commands[] = { "info", "info --clients", "info --clients --json",
		"info --platforms", "owner", "owner 0", "list" };
	struct outcome outcome;
	char line[64];

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		snprintf(line, sizeof line, "%s --socket /nowhere/socket", commands[i]);
		run(&outcome, line);
		expect(&outcome, 1, ": Cannot connect to uncored at /nowhere/socket: ");
	}
}

CASE("info without a daemon says what to do")
{
	struct outcome outcome;

	run(&outcome, "info --socket /nonexistent/socket");
	expect(&outcome, 1, "Start it with `systemctl start uncored.socket`");
}

/* A shell that starts this program in the background makes it ignore signals from the terminal. */
static void forget_what_was_ignored(void)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], SIG_DFL);
}

int main(void)
{
	forget_what_was_ignored();
	return run_cases(NULL, NULL);
}
