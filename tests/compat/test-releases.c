/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two releases together on the stand-in machine: the library and the command of 0.1.0 with the
 * daemon of today, the library and the command of today with the daemon of 0.1.0, and either daemon
 * after the other was killed: it goes on, or says that it does not.
 */
#include <errno.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "client/libuncore/team-call.h"
#include "client/libuncore/uncore.h"
#include "common/macro.h"
#include "common/wire.h"
#include "tests/compat/release.h"
#include "tests/continuity/truth.h"
#include "tests/harness/kernel-count.h"
#include "tests/harness/test.h"
#include "tests/harness/tree.h"

enum { PAGES = 25600, FEW_PAGES = 2000 };

#define OLD_PROBE RELEASE "/probe"
#define PROBE     "tests/compat/compat-probe"

/* A pair of releases: a daemon, and where library, command and probe are in the build tree. */
struct pair {
	const char *daemon; /* a release; NULL: this one */
	const char *library, *command, *probe;
};

static const struct pair old_client = { NULL, RELEASE, RELEASE "/uncore", OLD_PROBE };
static const struct pair old_daemon = { RELEASE, LIBRARY_HERE, "client/uncore", OLD_PROBE };
/* A program of this release where an older library is installed, as on another node. */
static const struct pair old_library = { NULL, RELEASE, NULL, PROBE };
static const struct pair old_node = { RELEASE, RELEASE, NULL, PROBE };

static struct daemon_process daemon_process;

static void start(const struct pair *pair, const char *config)
{
	daemon_process = (struct daemon_process){ .release = pair->daemon };
	daemon_start(&daemon_process, "standin", config);
}

static void stop(void)
{
	daemon_stop(&daemon_process);
	daemon_process.pid = 0;
}

static int stop_what_is_left(void **state)
{
	daemon_stop(&daemon_process);
	return 0;
}

static void assert_runs(const struct run *run, int status, const char *words)
{
	if (run->status != status || !strstr(run->output, words))
		fail_msg("exit status %d: %s", run->status, run->output);
}

static void command(struct run *ret, const struct pair *pair, uid_t uid, const char *const words[])
{
	setenv("UNCORE_SOCKET", daemon_process.socket_path, 1);
	run_with_library(ret, uid, pair->library, pair->command, words);
	unsetenv("UNCORE_SOCKET");
}

/* --- figures --- */

/*
 * The bytes of the busy socket in the report at @path; @list: in the first element of this list.
 * Removes the file.
 */
static uint64_t take_bytes(const char *path, const char *list)
{
	static const char *const keys[] = { "metrics", "dram.read", "bytes" };
	struct json_object *root = json_object_from_file(path), *at = root;
	uint64_t bytes;

	assert_non_null(root);
	if (list)
		at = json_object_array_get_idx(json_object_object_get(at, list), 0);
	at = json_object_object_get(at, "sockets");
	at = json_object_array_get_idx(at, standin_sockets() - 1);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		at = json_object_object_get(at, keys[i]);
	bytes = json_object_get_uint64(at);
	json_object_put(root);
	unlink(path);
	return bytes;
}

/* The probe compares its delta itself, and prints the bounds of its region. */
static void probe_is_exact(const struct pair *pair, const char *folder, int fd)
{
	char cpu[16], report[128], number[16];
	const char *const arguments[] = { "truth", daemon_process.socket_path, cpu, report, number,
		NULL };
	uint64_t bytes, least, most;
	static struct run run;

	snprintf(cpu, sizeof cpu, "%u", standin_sockets() - 1);
	snprintf(number, sizeof number, "%d", fd);
	snprintf(report, sizeof report, "%s/region", folder);
	run_with_library(&run, NOBODY, pair->library, pair->probe, arguments);
	assert_runs(&run, 0, "region: ");
	assert_int_equal(sscanf(strstr(run.output, "region: "), "region: %" SCNu64 " to %" SCNu64,
				 &least, &most),
		2);
	bytes = take_bytes(report, "regions");
	assert_in_range(bytes, least, most);
}

static void command_is_exact(const struct pair *pair, const char *folder, int fd)
{
	_cleanup_free_ char *touch = strdup(build_path("tests/workload/touch-pages"));
	char cpu[16], report[128];
	const char *const words[] = { "stat", "--json", "--output", report, "--", touch, "25600",
		cpu, NULL };
	uint64_t before = kernel_bytes(fd), bytes;
	static struct run run;

	snprintf(cpu, sizeof cpu, "%u", standin_sockets() - 1);
	snprintf(report, sizeof report, "%s/stat", folder);
	command(&run, pair, NOBODY, words);
	assert_runs(&run, 0, "");
	bytes = take_bytes(report, NULL);
	assert_in_range(bytes, (uint64_t)PAGES * KERNEL_PAGE_WORTH, kernel_bytes(fd) - before);
}

static void figures_are_exact(const struct pair *pair)
{
	char folder[] = "/tmp/uncore-compat-XXXXXX";
	int fd = kernel_open(standin_sockets() - 1);

	start(pair, NULL);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(chown(folder, NOBODY, NOBODY), 0);
	probe_is_exact(pair, folder, fd);
	if (pair->command)
		command_is_exact(pair, folder, fd);
	rmdir(folder);
	stop();
	close(fd);
}

/*
 * The library of 0.1.0 refuses structs that are larger than its own. So UNCORE_METRICS_MAX cannot
 * grow without breaking all programs that are built with the new header, where it is installed.
 */
CASE("a program of this release shows exact figures with the library of 0.1.0")
{
	figures_are_exact(&old_library);
	figures_are_exact(&old_node);
}

/* --- other requests --- */

static void info_is_told(const struct pair *pair)
{
	static const char *const questions[][4] = {
		{ "info", NULL },
		{ "info", "--json", NULL },
		{ "info", "--platforms", NULL },
		{ "info", "--explain", "dram.read", NULL },
	};
	static struct run run;

	start(pair, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		command(&run, pair, NOBODY, questions[i]);
		assert_runs(&run, 0, i == 3 ? "dram.read" : "standin");
	}
	stop();
}

/* The number is where 0.1.0 has the end of the unit. */
CASE("the library of 0.1.0 does not see a metric's number for PCP")
{
	struct tree files = tree_new();
	static struct run run;

	tree_write(&files, "standin.conf",
		"[platform]\ntitle = Stand-in\nvendor = Standin\nstandin = yes\n"
		"[dram.read]\npmu = uncore_standin_[0-9]*\nevent = sysfs:page_faults\n"
		"bytes = 4096\nsource = test\nconfidence = high\npmid = 1023\n");
	daemon_process = (struct daemon_process){ .platforms = files.root };
	daemon_start(&daemon_process, "standin", NULL);
	run_with_library(&run, 0, old_client.library, RELEASE "/probe",
		(const char *const[]){ "dump", daemon_process.socket_path, NULL });
	assert_runs(&run, 0, " bytes, quality 'standin'");
	stop();
	tree_free(&files);
}

static void the_owner_is_set(const struct pair *pair)
{
	const char *const words[] = { "owner", "65533", NULL };
	char error[16];
	const char *const arguments[] = { "refused", daemon_process.socket_path, error,
		"does not own the job that this node runs", NULL };
	static struct run run;

	start(pair, "[access]\nowner_only = yes\n");
	command(&run, pair, 0, words);
	assert_runs(&run, 0, "");
	snprintf(error, sizeof error, "%d", EACCES);
	run_with_library(&run, NOBODY, pair->library, RELEASE "/probe", arguments);
	assert_runs(&run, 0, "");
	run_with_library(&run, SOMEBODY, pair->library, RELEASE "/probe",
		(const char *const[]){ "dump", daemon_process.socket_path, NULL });
	assert_runs(&run, 0, "platform standin");
	stop();
}

/* Either library passes on the daemon's own sentence. */
static void refusals_are_told(const struct pair *pair)
{
	char error[16];
	const char *const arguments[] = { "refused", daemon_process.socket_path, error,
		"is not among the users who may connect", NULL };
	static struct run run;

	start(pair, "[access]\nusers = 65533\n");
	snprintf(error, sizeof error, "%d", EACCES);
	run_with_library(&run, NOBODY, pair->library, RELEASE "/probe", arguments);
	assert_runs(&run, 0, "");
	command(&run, pair, SOMEBODY, (const char *const[]){ "owner", "65533", NULL });
	assert_runs(&run, 1, "Only root may say whose job the node runs");
	stop();
}

CASE("the command says that the daemon of 0.1.0 does not know who its clients are")
{
	static struct run run;

	start(&old_daemon, NULL);
	command(&run, &old_daemon, 0, (const char *const[]){ "info", "--clients", NULL });
	assert_runs(&run, 1, "uncored knows no such request");
	stop();
}

/* A client of a later version of the protocol has to do this with 0.1.0; see wire.h. */
CASE("the daemon of 0.1.0 refuses a later HELLO, and welcomes a second one")
{
	struct wire_packet packet;
	union wire_message hello;
	int fd;

	start(&old_daemon, NULL);
	fd = connect_raw(&daemon_process);
	wire_begin(&hello, WIRE_HELLO);
	hello.hello.version = 2;
	assert_int_equal(wire_send(fd, &hello, NULL, 0), 0);
	assert_int_equal(wire_receive(fd, WIRE_FROM_DAEMON, &packet), 1);
	assert_int_equal(packet.message.error.error, -EPROTONOSUPPORT);
	hello.hello.version = 1;
	assert_int_equal(wire_send(fd, &hello, NULL, 0), 0);
	assert_int_equal(wire_receive(fd, WIRE_FROM_DAEMON, &packet), 1);
	assert_int_equal(packet.message.header.opcode, WIRE_WELCOME);
	wire_packet_done(&packet);
	close(fd);
	stop();
}

/* --- one after the other --- */

enum { THIRDS = 3 }; /* the denominator in the platform file that meson.build makes */

/* The folder of that file. */
static const char *fractions(void)
{
	static char path[512];

	snprintf(path, sizeof path, "%s", build_path("tests/compat"));
	return path;
}

static const char NEW_GENERATION[] = "A new generation begins.";

static struct uncore_sample read_with(const struct uncore *uncore)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;

	assert_int_equal(uncore_read(uncore, 0, UNCORE_FRESH, &sample), 0);
	return sample;
}

static struct uncore_sample read_anew(void)
{
	struct uncore_sample sample;
	struct uncore *uncore;

	assert_int_equal(uncore_open(daemon_process.socket_path, &uncore), 0);
	sample = read_with(uncore);
	uncore_close(uncore);
	return sample;
}

/*
 * Either all totals go on to the last count, also for clients that have the page. Or the daemon
 * says why not, the page is withdrawn, and the library gives no difference.
 */
static void assert_no_silent_mix(
	struct truth *truth, const struct uncore *held, const struct uncore_sample *before)
{
	struct uncore_sample after = read_anew(), cached = UNCORE_SAMPLE_INIT;
	struct uncore_delta delta = UNCORE_DELTA_INIT;
	int r = uncore_read(held, 0, UNCORE_CACHED, &cached);

	if (!memcmp(before->generation, after.generation, sizeof after.generation)) {
		assert_int_equal(r, 0);
		assert_true(cached.sweep >= after.sweep);
		assert_int_equal(uncore_delta(before, &after, &delta), 0);
		assert_true(delta.values[0].count >= (uint64_t)FEW_PAGES * KERNEL_PAGE_WORTH);
	} else {
		assert_int_equal(r, -EACCES);
		assert_int_equal(uncore_delta(before, &after, &delta), -ESTALE);
		assert_true(daemon_logged(&daemon_process, NEW_GENERATION));
		truth_begin(truth, &daemon_process);
	}
	truth_check(truth);
	truth_check(truth);
}

/*
 * Kills the daemon, and starts the daemon of @release; @lost: the descriptor that the service
 * manager loses in between.
 */
static void change_to(const char *release, struct truth *truth, const char *lost)
{
	struct uncore_sample before;
	struct uncore *held;

	assert_int_equal(uncore_open(daemon_process.socket_path, &held), 0);
	pin_to_cpu(0);
	before = read_with(held);
	daemon_kill(&daemon_process);
	touch_pages(FEW_PAGES);
	if (lost)
		manager_lose(&daemon_process.manager, lost);
	daemon_process.release = release;
	daemon_restart(&daemon_process, "standin");
	assert_no_silent_mix(truth, held, &before);
	uncore_close(held);
}

static void begin_with(const char *release, struct truth *truth)
{
	daemon_process = (struct daemon_process){ .release = release };
	if (truth->denominator)
		daemon_process.platforms = fractions();
	daemon_start_activated(&daemon_process, "standin", NULL, true);
	truth_begin(truth, &daemon_process);
	truth_check(truth);
}

CASE("upgrading a killed daemon, and taking the upgrade back, mixes no counts silently")
{
	struct truth truth = {};

	begin_with(RELEASE, &truth);
	for (unsigned i = 0; i < 3; i++) {
		change_to(NULL, &truth, NULL);
		change_to(RELEASE, &truth, NULL);
	}
	assert_int_equal(daemon_process.manager.n_kept, 3 + 4 * standin_sockets());
	stop();
}

static uint32_t join_team(void)
{
	const struct team_wish wish = { .name = "own/job", .layout = 7, .bytes = 1 << 20 };
	struct team_table table;

	assert_int_equal(team_join(daemon_process.socket_path, &wish, &table), 0);
	team_table_done(&table);
	return table.run;
}

/* 0.1.0 knows no tables of teams, and drops them from the service manager's store. */
CASE("after an uncored that drops the tables of teams, a team is another run, and the log says why")
{
	static const char lost[] = "The uncored before this one knows no tables of teams";
	struct truth truth = {};
	uint32_t run, later;

	begin_with(NULL, &truth);
	run = join_team();
	change_to(NULL, &truth, NULL);
	assert_int_equal(join_team(), run);
	assert_false(daemon_logged(&daemon_process, lost));
	change_to(RELEASE, &truth, NULL);
	change_to(NULL, &truth, NULL);
	later = join_team();
	assert_true(later > run);
	assert_int_equal(daemon_logged(&daemon_process, lost), 1);
	stop();
}

/* A daemon that cannot go on for any reason behaves like this. */
CASE("a next daemon that cannot go on says why and withdraws the page")
{
	struct truth truth = {};
	uint64_t first;

	begin_with(RELEASE, &truth);
	for (unsigned i = 0; i < 2; i++) {
		first = truth.generation[0];
		change_to(i ? RELEASE : NULL, &truth, "ledger");
		assert_true(truth.generation[0] != first);
	}
	stop();
}

/*
 * The ledger of the daemon before has another scale, but with the same numerator: the daemon of
 * @release must not go on from it.
 */
static void change_scale(const char *release, uint64_t denominator, struct truth *truth)
{
	const unsigned n_new = daemon_logged(&daemon_process, NEW_GENERATION);
	const uint64_t first = truth->generation[0];

	truth->denominator = denominator;
	daemon_process.platforms = denominator == 1 ? NULL : fractions();
	change_to(release, truth, NULL);
	assert_true(truth->generation[0] != first);
	assert_int_equal(daemon_logged(&daemon_process, NEW_GENERATION), n_new + 1);
}

CASE("0.1.0 counts anew after a platform file with a fraction, and so does this release after "
     "0.1.0")
{
	static const char worth[] = "its counts are not worth what they are now";
	struct truth truth = { .denominator = THIRDS };

	begin_with(NULL, &truth);
	for (unsigned i = 1; i <= 2; i++) {
		change_scale(RELEASE, 1, &truth);
		change_scale(NULL, THIRDS, &truth);
		assert_int_equal(daemon_logged(&daemon_process, worth), i);
	}
	stop();
}

/* 0.1.0 with the file of a site that has a fraction: it ends before it looks at the counts. */
static void refuse_to_start(const char *release, const char *words)
{
	daemon_kill(&daemon_process);
	touch_pages(FEW_PAGES);
	daemon_process.release = release;
	daemon_launch(&daemon_process, "standin");
	assert_int_equal(wait_for(daemon_process.pid, 10), 1);
	assert_false(manager_dispatch(&daemon_process.manager));
	assert_int_equal(daemon_logged(&daemon_process, words), 1);
}

CASE("0.1.0 refuses a platform file with a fraction, and what the service manager keeps goes on to "
     "the last count")
{
	struct truth truth = { .denominator = THIRDS };

	begin_with(NULL, &truth);
	refuse_to_start(RELEASE, "scale");
	daemon_process.release = NULL;
	for (unsigned i = 0; i < 2; i++) {
		daemon_restart(&daemon_process, "standin");
		truth_check(&truth);
		truth_check(&truth);
		daemon_kill(&daemon_process);
		touch_pages(FEW_PAGES);
	}
	daemon_restart(&daemon_process, "standin");
	truth_check(&truth);
	assert_false(daemon_logged(&daemon_process, NEW_GENERATION));
	stop();
}

/* --- the cases of both pairs --- */

#define BOTH(function, by_an_old_client, by_an_old_daemon)                                         \
	CASE(by_an_old_client)                                                                     \
	{                                                                                          \
		function(&old_client);                                                             \
	}                                                                                          \
	CASE(by_an_old_daemon)                                                                     \
	{                                                                                          \
		function(&old_daemon);                                                             \
	}

BOTH(figures_are_exact, "library and command of 0.1.0 show exact figures of the daemon",
	"library and command show exact figures of the daemon of 0.1.0")
BOTH(info_is_told, "the command of 0.1.0 shows the state of the daemon",
	"the command shows the state of the daemon of 0.1.0")
BOTH(the_owner_is_set, "the command of 0.1.0 sets the owner, and others are refused",
	"the command sets the owner for the daemon of 0.1.0, and others are refused")
BOTH(refusals_are_told, "the library of 0.1.0 passes on why it is refused",
	"the library passes on why the daemon of 0.1.0 refuses")

int main(void)
{
	if (!release_was_built() || !system_tests_can_run())
		return 0;
	return run_cases(NULL, stop_what_is_left);
}
