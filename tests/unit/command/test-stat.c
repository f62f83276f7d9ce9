/* SPDX-License-Identifier: BSD-3-Clause */
/* `uncore stat` in jobs: one rank of a node measures, a lack of figures ends no job, and the
 * figures say what they are of. */
#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/command/command-case.h"

static const struct fake_options growing = { .growing = true, .min_interval_ns = 1 };

/* Runs `uncore @arguments` with a shell's @assignments; tells how many connections it made. */
static unsigned run_as_rank(
	struct outcome *ret, const char *variable, const char *value, const char *arguments)
{
	struct fake_daemon daemon;
	unsigned n;

	fake_daemon_start(&daemon, NULL, 1);
	setenv("UNCORE_SOCKET", daemon.path, 1);
	if (variable)
		setenv(variable, value, 1);
	run(ret, arguments);
	if (variable)
		unsetenv(variable);
	unsetenv("UNCORE_SOCKET");
	n = daemon.n_accepted;
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
	return n;
}

CASE("the first rank of a node measures")
{
	struct outcome outcome;

	assert_int_equal(
		run_as_rank(&outcome, "SLURM_LOCALID", "0", "stat --first-of-node -- echo hello"),
		1);
	expect(&outcome, 0, "hello\n");
	expect(&outcome, 0, "dram.read");
	assert_null(strstr(outcome.text, "no launcher"));
}

CASE("the other ranks do not even connect")
{
	struct outcome outcome;

	assert_int_equal(
		run_as_rank(&outcome, "SLURM_LOCALID", "3",
			"stat --first-of-node -o /nonexistent/file -- sh -c 'echo $$; echo "
			"hello; exit 7'"),
		0);
	expect(&outcome, 7, "\nhello\n");
	assert_null(strstr(outcome.text, "dram"));
	assert_int_equal(run_as_rank(&outcome, "PALS_LOCAL_RANKID", "1",
				 "stat --first-of-node -- /nonexistent/command"),
		0);
	expect(&outcome, 127,
		"uncore stat: cannot run /nonexistent/command: No such file or directory.\n");
	run_as_rank(&outcome, "PALS_LOCAL_RANKID", "1", "stat --first-of-node /dev/null");
	expect(&outcome, 126, "cannot run /dev/null: Permission denied.\n");
}

CASE("without a launcher the process says so and measures")
{
	struct outcome outcome;

	assert_int_equal(
		run_as_rank(&outcome, NULL, NULL, "stat --first-of-node -- echo hello"), 1);
	expect(&outcome, 0,
		"uncore stat: no launcher has set a local rank, so --first-of-node has "
		"no effect and this process measures.\n");
	expect(&outcome, 0, "dram.read");
}

CASE("--anyway runs the command without a daemon")
{
	struct outcome outcome;

	run(&outcome, "stat --anyway --socket /nonexistent/s -r 3 -- sh -c 'echo once; exit 4'");
	expect(&outcome, 4, "once\n");
	assert_int_equal(count(&outcome, "once"), 1);
	expect(&outcome, 4,
		"uncore stat: sh runs without being measured: Cannot connect to uncored at "
		"/nonexistent/s: ");
	assert_int_equal(count(&outcome, "uncore stat:"), 1);
	run(&outcome, "stat --anyway --json --socket /nonexistent/s true");
	expect(&outcome, 0, "true runs without being measured");
	run(&outcome, "stat --anyway --socket /nonexistent/s /nonexistent/command");
	expect(&outcome, 127, "cannot run /nonexistent/command: No such file");
}

/* What the command of the last line wrote into @path. */
static struct json_object *take_json(const char *path)
{
	struct json_object *document = json_object_from_file(path);

	assert_non_null(document);
	unlink(path);
	return document;
}

CASE("with --anyway no older figures stay in the file")
{
	char path[64], line[160];
	struct json_object *document;
	struct outcome outcome;

	snprintf(path, sizeof path, "/tmp/uncore-test-%d.json", (int)getpid());
	for (unsigned i = 0; i < 3; i++) {
		static const char *const forms[] = { "--csv", "", "--json" };

		snprintf(line, sizeof line,
			"stat --anyway %s -o %s --socket /nonexistent/s echo hello", forms[i],
			path);
		run(&outcome, line);
		expect(&outcome, 0, "hello\n");
	}
	document = take_json(path);
	assert_int_equal(number(FIND(document, "runs")), 0);
	assert_null(FIND(document, "platform"));
	assert_string_equal(json_object_get_string(FIND(document, "command", "1")), "hello");
	assert_non_null(
		strstr(json_object_get_string(FIND(document, "failure")), "/nonexistent/s"));
	json_object_put(document);
}

CASE("--anyway runs the command when uncored refuses")
{
	struct fake_options refusing = { .refuse = -EACCES };
	struct outcome outcome;

	run_with(&outcome, &refusing, "stat --anyway echo hello");
	expect(&outcome, 0, "hello\n");
	expect(&outcome, 0, "because it was told to.");
	assert_int_equal(count(&outcome, "uncore stat:"), 1);
	run_with(&outcome, &refusing, "stat echo hello");
	expect(&outcome, 125, "because it was told to.");
	assert_null(strstr(outcome.text, "hello"));
}

CASE("--anyway runs the command when the first reading fails")
{
	/* One run can be measured, and none after it. */
	struct fake_options deaf = { .refuse_after = 2 * FAKE_SOCKETS, .min_interval_ns = 1 };
	struct fake_daemon daemon;
	struct outcome outcome;
	uint64_t ignored;

	fake_daemon_start(&daemon, &deaf, 1);
	setenv("UNCORE_SOCKET", daemon.path, 1);
	run(&outcome, "stat true");
	/* No shell: dash unblocks all signals when it starts. */
	run(&outcome, "stat --anyway -- grep -E '^Sig(Blk|Ign)' /proc/self/status");
	unsetenv("UNCORE_SOCKET");
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
	expect(&outcome, 0, "SigBlk:\t0000000000000000\n");
	ignored = strtoull(strstr(outcome.text, "SigIgn:") + strlen("SigIgn:"), NULL, 16);
	assert_false(ignored >> (SIGPIPE - 1) & 1);
	expect(&outcome, 0, "uncore stat: grep runs without being measured: uncored at ");
	assert_int_equal(count(&outcome, "uncore stat:"), 1);
	assert_null(strstr(outcome.text, "No counts"));
}

CASE("a daemon that is late is waited for")
{
	struct fake_options late = { .delay_ms = 1500 };
	struct outcome outcome;

	run_with(&outcome, &late, "stat true");
	expect(&outcome, 0, "dram.read");
}

CASE("with --anyway no failure costs the command's status")
{
	struct fake_options deaf = { .refuse_after = FAKE_SOCKETS, .min_interval_ns = 1 };
	struct outcome outcome;

	run_with(&outcome, &deaf, "stat --anyway true");
	expect(&outcome, 0, "because it was told to.");
	run_with(&outcome, &deaf, "stat --anyway -o /dev/stdout true");
	expect(&outcome, 0, "No counts of 'true'");
	run_with(&outcome, NULL, "stat --anyway -o /dev/full true");
	expect(&outcome, 0, "cannot write to /dev/full");
	run_with(&outcome, NULL, "stat --anyway -o /nonexistent/file -- echo hello");
	expect(&outcome, 0, "hello\n");
	expect(&outcome, 0, "echo runs without being measured: cannot write to /nonexistent/file");
}

CASE("--until goes on until the error is small")
{
	struct json_object *document;
	struct outcome outcome;

	/* Counts of 3, 7, 11, 15 ...: errors of 33 % after three runs, 29 % after four. */
	run_with(&outcome, &growing, "stat --until 30 echo run");
	assert_int_equal(count(&outcome, "run\n"), 4);
	expect(&outcome, 0,
		" After 4 runs the standard error of the mean is below 30 % for every "
		"metric; the largest is that of dram.read, 29 %.\n");
	run_with(&outcome, NULL, "stat --until 0.01 --json true");
	document = json_tokener_parse(outcome.text);
	assert_int_equal(number(FIND(document, "runs")), 3);
	assert_true(json_object_get_double(FIND(document, "until", "wanted_percent")) == 0.01);
	assert_true(json_object_get_double(FIND(document, "until", "error_percent")) == 0);
	assert_true(json_object_get_boolean(FIND(document, "until", "reached")));
	assert_int_equal(json_object_array_length(FIND(document, "until", "not_reached")), 0);
	json_object_put(document);
}

CASE("--until tells which metrics missed the goal")
{
	struct json_object *document;
	struct outcome outcome;

	run_with(&outcome, &growing, "stat --until 30 -r 3 sh -c 'echo run; exit 5'");
	assert_int_equal(count(&outcome, "run\n"), 3);
	expect(&outcome, 5,
		" After 3 runs the standard error of the mean is not below 30 % for "
		"dram.read (33 %), dram.write (33 %).\n");
	run_with(&outcome, &growing, "stat --until 30 -r 3 --json true");
	document = json_tokener_parse(outcome.text);
	assert_true(fabs(json_object_get_double(FIND(document, "until", "error_percent")) -
			    100 * 4 / sqrt(3) / 7) < 1e-9);
	assert_false(json_object_get_boolean(FIND(document, "until", "reached")));
	assert_string_equal(
		json_object_get_string(FIND(document, "until", "not_reached", "1")), "dram.write");
	json_object_put(document);
	run_with(&outcome, &growing, "stat --until 30 -r 3 --json -o /dev/null true");
	expect(&outcome, 0, "uncore stat: After 3 runs the standard error of the mean is not");
	run_with(&outcome, &growing, "stat --until 30 sh -c 'kill -INT $PPID; sleep 0.1'");
	expect(&outcome, 0, " Runs that were measured: 0, too few to judge");
}

CASE("the JSON says what was run, where and when")
{
	struct json_object *document;
	struct outcome outcome;
	char host[256] = "";

	run_with(&outcome, NULL, "stat -r 2 --json -- sh -c 'exit 0' '' 'a b'");
	assert_int_equal(outcome.status, 0);
	document = json_tokener_parse(outcome.text);
	assert_non_null(document);
	gethostname(host, sizeof host - 1);
	assert_string_equal(json_object_get_string(FIND(document, "host")), host);
	assert_string_equal(json_object_to_json_string_ext(FIND(document, "command"), 0),
		"[\"sh\",\"-c\",\"exit 0\",\"\",\"a b\"]");
	assert_int_equal(strlen(json_object_get_string(FIND(document, "begun"))),
		strlen("2026-01-31T23:59:59Z"));
	assert_non_null(strstr(json_object_get_string(FIND(document, "version")), "."));
	assert_int_equal(json_object_array_length(FIND(document, "wall_ns")), 2);
	assert_true(number(FIND(document, "wall_ns", "1")) > 0);
	json_object_put(document);
	run_with(&outcome, NULL, "stat -r 2 true");
	expect(&outcome, 0, "\n wall time 0.");
}

/* The @n-th field of a row of CSV without quotes. */
static const char *field(char *row, unsigned n)
{
	while (n-- && row)
		row = strchr(row, ',') + 1;
	row[strcspn(row, ",\n")] = '\0';
	return row;
}

static char *row_of(struct outcome *outcome, const char *start)
{
	char *row = strstr(outcome->text, start);

	if (!row)
		fail_msg("no row %s in:\n%s", start, outcome->text);
	return row + 1;
}

CASE("--csv has a row for each metric")
{
	static const char header[] =
		"socket,metric,unit,runs,mean,stddev,median,min,max,bytes_per_s,window_ns,skew_ns,"
		"quality,absent,run,interval,time_ns,package,idle_bytes_per_s,net,net_error\n";
	struct outcome outcome;

	run_with(&outcome, &growing, "stat --csv -r 3 true");
	assert_int_equal(outcome.status, 0);
	assert_int_equal(strncmp(outcome.text, header, strlen(header)), 0);
	assert_int_equal(count(&outcome, "\n"), 1 + 2 * 5 + 4 + 1);
	expect(&outcome, 0, "\n0,dram.read,bytes,3,7000,4000,7000,3000,11000,");
	expect(&outcome, 0, "\nall,dram.write,bytes,3,42000,24000,42000,18000,66000,");
	expect(&outcome, 0, "\n1,itom,bytes,3,,,,,,,");
	expect(&outcome, 0, ",absent,this machine has no such event,,,,2,");
	expect(&outcome, 0, "\nall,wall_time,ns,3,");
	assert_string_equal(field(row_of(&outcome, "\n1,clock,"), 9), ""); /* bytes_per_s */
	run_with(&outcome, NULL, "stat --csv true");
	expect(&outcome, 0, "\n0,dram.read,bytes,1,1000,,,,,");
}

CASE("--csv quotes a reason with a comma")
{
	struct fake_options options = { .why = "no, \"none\"" };
	struct outcome outcome;

	run_with(&outcome, &options, "stat --csv true");
	expect(&outcome, 0, ",absent,\"no, \"\"none\"\"\",,,,0,");
}

CASE("without a report of validate there is no share of the peak, but the reason")
{
	struct outcome outcome;

	run_with(&outcome, &growing, "stat true");
	expect(&outcome, 0, " share of the peak: -, since nobody has kept a report of `uncore");
	run_with(&outcome, &(struct fake_options){ .platform = "simulated" }, "stat true");
	assert_null(strstr(outcome.text, "share of the peak"));
}

CASE("--channels has a line for each channel, and --json a part")
{
	struct outcome outcome;

	run_with(&outcome, &growing, "stat --channels -e dram.read true");
	expect(&outcome, 0, "  GB/s of          dram.read\n");
	expect(&outcome, 0, " 1/imc1 ");
	run_with(&outcome, &growing, "stat --channels --json true");
	expect(&outcome, 0, "\"parts\":[\n    {\n      \"part\":\"imc0\",\n      \"socket\":0,");
	run_with(&outcome, &growing, "stat --channels --nodes true");
	expect(&outcome, 2, "choose one of --channels and --nodes");
}

CASE("--csv has intervals, too")
{
	struct outcome outcome;
	char *row;

	run_with(&outcome, NULL, "stat --csv -I 50 sleep 0.5");
	assert_int_equal(count(&outcome, "socket,metric"), 1);
	assert_true(count(&outcome, "\n0,dram.read,") >= 3);
	row = row_of(&outcome, "\n1,dram.read,");
	assert_string_equal(field(strdupa(row), 14), "1");
	assert_string_equal(field(strdupa(row), 15), "1");
	assert_true(strtoull(field(strdupa(row), 16), NULL, 10) > 0);
}

CASE("the file may be named after job, rank and host")
{
	char line[128], path[128], host[256] = "";
	struct outcome outcome;
	struct stat file;

	gethostname(host, sizeof host - 1);
	setenv("SLURM_JOB_ID", "4711", 1);
	setenv("PMI_RANK", "5", 1);
	snprintf(line, sizeof line, "stat -o /tmp/uncore-test-%d-%%j-%%r-%%%%-%%h true",
		(int)getpid());
	run_with(&outcome, NULL, line);
	unsetenv("SLURM_JOB_ID");
	unsetenv("PMI_RANK");
	assert_int_equal(outcome.status, 0);
	snprintf(path, sizeof path, "/tmp/uncore-test-%d-4711-5-%%-%.64s", (int)getpid(), host);
	assert_int_equal(stat(path, &file), 0);
	assert_true(file.st_size > 0);
	unlink(path);
	run(&outcome, "stat -o /tmp/%x true");
	expect(&outcome, 2, "are replaced in the name of a FILE, and /tmp/%x has another %.");
}

CASE("options that exclude each other are refused")
{
	static const struct {
		const char *line, *why;
	} cases[] = {
		{ "stat --json --csv true", "choose one of --json, --csv and --metric-only" },
		{ "stat --first-of-node -r 2 true", "goes with a single run" },
		{ "stat --first-of-node --until 1 true", "goes with a single run" },
		{ "stat --until 1 -r 2 true", "with --until, -r takes at least 3 runs" },
		{ "stat --until 0 true", "from 0.01 to 50, and got \"0\"." },
		{ "stat --until 51 true", "from 0.01 to 50, and got \"51\"." },
		{ "stat --until 1s true", "from 0.01 to 50, and got \"1s\"." },
	};
	struct outcome outcome;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		run(&outcome, cases[i].line);
		expect(&outcome, 2, cases[i].why);
	}
}
