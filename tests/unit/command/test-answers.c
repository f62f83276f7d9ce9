/* SPDX-License-Identifier: BSD-3-Clause */
/* What people type and what it must lead to: each answer says what to type instead. */
#include "tests/unit/command/command-case.h"

static const struct {
	const char *line;
	int status;
	const char *says;
} answers[] = {
	{ "top", 2,
		"uncore top: stdout is not a terminal, and it is for people who watch one. `uncore "
		"stat -I 1s` prints" },
	{ "statt", 2, "did you mean stat?" },
	{ "events", 2, "say `uncore list`" },
	{ "-I 100", 2, "say `uncore stat -I`." },
	{ "stat -e cycles true", 2, "`perf stat -e cycles`" },
	{ "stat --for 10", 2, "--for takes a time from 100ms to 8760h, like 10s or 500ms" },
	{ "stat --for 1s true", 2, "--for goes without a COMMAND, and got true" },
	{ "stat --repeat 3", 2, "--repeat needs a COMMAND to run" },
	{ "stat --subtract", 2, "--subtract needs a COMMAND to run" },
	{ "stat -e dram.reed true", 2, "no metric dram.reed; did you mean dram.read?" },
	{ "stat ./nosuch", 127, "cannot run ./nosuch: No such file or directory." },
	{ "compare --fail-above 5% nosuch.json b", 2,
		"uncore compare: nosuch.json cannot be read: No such file or directory.\n" },
	{ "check --against nosuch.json true", 2, "--update makes a baseline." },
	{ "stat --socket /etc/passwd true", 125, "That is a file or a folder, and not a socket." },
	{ "info --socket /tmp", 1, "That is a file or a folder, and not a socket." },
	{ "info --socket $(printf /%0200d 0)", 1, "The path of a socket has at most 107 bytes" },
	{ "job foo", 2, "unknown command foo; there are: begin end list show report." },
	{ "run -o /nonexistent/file -- echo ran", 1,
		"cannot write the report to /nonexistent/file: No such file or directory. The job "
		"was not run.\n" },
	{ "job begin 1 --uid nosuch", 1, "uncore job begin: this machine has no user nosuch." },
	{ "owner nosuch", 1, "uncore owner: this machine has no user nosuch." },
	{ "report --user nosuch", 1, "uncore report: this machine has no user nosuch." },
	{ "info --explain dram.reed", 1, "did you mean dram.read?" },
	{ "info dram.reed", 1, "did you mean dram.read?" },
	{ "info dram.total", 0, "\ndram.write, in bytes, on platform fake" },
	{ "info dram.read dram.write", 2, "it takes no argument dram.write." },
	{ "info dram.read --json", 2, "--explain excludes --json" },
	{ "info --explain dram.total", 0,
		"dram.total is the sum of these.\n\ndram.read, in bytes, on platform fake" },
	{ "info --explain dram.total", 0, "\ndram.write, in bytes, on platform fake" },
	{ "info --explain hbm.total", 1, "platform fake does not have the metric hbm.total." },
};

CASE("each answer says what to type instead")
{
	struct fake_options options = {
		.report = "{\"platform\":\"fake\",\"metrics\":["
			  "{\"name\":\"dram.read\",\"unit\":\"bytes\"},"
			  "{\"name\":\"dram.write\",\"unit\":\"bytes\"}]}",
	};
	struct outcome outcome;

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		run_with(&outcome, &options, answers[i].line);
		expect(&outcome, answers[i].status, answers[i].says);
		assert_null(strstr(outcome.text, "ran\n"));
	}
}
