/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/harness/tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/macro.h"
#include "daemon/machine/socket-numbers.h"

static char folder[] = "/tmp/uncore-socket-numbers-XXXXXX";

static struct topology load(const char *machine)
{
	struct topology topology;
	struct fault fault;
	char path[PATH_MAX];

	machine_path(machine, path);
	assert_int_equal(topology_load(path, &topology, &fault), 0);
	return topology;
}

/* A machine on which only @package is online. */
static struct topology load_half(uint32_t package)
{
	struct topology topology = load("power9");
	int left = topology.package_of_socket[1] == package;

	for (unsigned cpu = 0; cpu < topology.n_cpus; cpu++)
		topology.socket_of_cpu[cpu] =
			topology.socket_of_cpu[cpu] == left ? 0 : TOPOLOGY_OFFLINE;
	topology.package_of_socket[0] = package;
	topology.n_sockets = 1;
	return topology;
}

static void apply(struct topology *topology)
{
	struct fault fault;

	assert_int_equal(socket_numbers_apply(folder, topology, &fault), 0);
}

static void save(struct topology *topology)
{
	struct fault fault;

	assert_int_equal(socket_numbers_save(folder, topology, &fault), 0);
	topology_done(topology);
}

static const char *file(void)
{
	static char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/sockets", folder);
	return path;
}

static void write_text(const char *text)
{
	FILE *out = fopen(file(), "w");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static void assert_text(const char *expected)
{
	char text[64] = "";
	FILE *in = fopen(file(), "r");

	assert_non_null(in);
	assert_non_null(fgets(text, sizeof text, in));
	fclose(in);
	assert_string_equal(text, expected);
}

static int make_folder(void **state)
{
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	unlink(file());
	return rmdir(folder);
}

CASE("a missing package leaves a hole, and others keep their numbers")
{
	struct topology whole = load("power9"), half = load_half(8);

	unlink(file());
	save(&whole);
	apply(&half);
	assert_int_equal(half.n_sockets, 2);
	assert_int_equal(half.package_of_socket[0], 0);
	assert_int_equal(half.package_of_socket[1], 8);
	assert_false(topology_has_cpu(&half, 0));
	assert_true(topology_has_cpu(&half, 1));
	save(&half);
	assert_text("0 8\n");
}

CASE("a machine that becomes whole is numbered anew")
{
	struct topology half = load_half(8), whole = load("power9");

	unlink(file());
	apply(&half);
	assert_int_equal(half.n_sockets, 1);
	save(&half);
	assert_text("8\n");
	apply(&whole);
	assert_int_equal(whole.package_of_socket[0], 0);
	assert_int_equal(whole.package_of_socket[1], 8);
	save(&whole);
	assert_text("0 8\n");
}

CASE("the saved order wins over that of hwloc")
{
	struct topology topology = load("power9");

	write_text("8 0");
	apply(&topology);
	assert_int_equal(topology.package_of_socket[0], 8);
	assert_int_equal(topology.socket_of_cpu[0], 1);
	topology_done(&topology);
}

CASE("another machine is numbered anew")
{
	struct topology topology = load("power9");

	write_text("0 1 2 3\n");
	apply(&topology);
	assert_int_equal(topology.n_sockets, 2);
	save(&topology);
	assert_text("0 8\n");
}

CASE("a damaged file is named and replaced")
{
	static const char *const texts[] = { "0 8x", "0 0", "0 -1", "4294967296", "eight", " ",
		"0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 "
		"30 31 32" };
	struct topology topology = load("power9");

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct fault fault = {};

		write_text(texts[i]);
		assert_int_equal(socket_numbers_apply(folder, &topology, &fault), -EBADMSG);
		assert_non_null(strstr(fault.text, "made anew"));
		assert_int_equal(topology.n_sockets, 2);
	}
	save(&topology);
	assert_text("0 8\n");
}

CASE("without a folder sockets are numbered as they are found")
{
	struct topology topology = load("power9");
	struct fault fault = {};

	assert_int_equal(socket_numbers_apply(NULL, &topology, &fault), 0);
	assert_int_equal(socket_numbers_apply("/nonexistent", &topology, &fault), 0);
	assert_int_equal(socket_numbers_save("/nonexistent", &topology, &fault), -ENOENT);
	assert_non_null(strstr(fault.text, "/nonexistent/sockets"));
	topology_done(&topology);
}

CASE("everybody can read the numbers, whatever the umask is")
{
	struct topology topology = load("power9");
	mode_t before = umask(0077);
	struct stat status;

	unlink(file());
	save(&topology);
	umask(before);
	assert_int_equal(stat(file(), &status), 0);
	assert_int_equal(status.st_mode & 0777, 0644);
}

int main(void)
{
	return run_cases(make_folder, remove_folder);
}
