/* SPDX-License-Identifier: BSD-3-Clause */
/* `uncore tiers`: nodes and kinds of memory of trees, and pages of processes whose memory is known.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/command/tiers/nodes.h"
#include "client/command/tiers/pages.h"
#include "common/clock.h"
#include "tests/harness/tree.h"
#include "tests/unit/command/command-case.h"

enum { MB = 1 << 20, ARRAY = 64 * MB };

static const struct nodes_counted nothing = {}, flat = { .dram = true, .hbm = true };

static int read_nodes(const char *root, struct nodes_counted counted, struct nodes *ret)
{
	int r = nodes_read(root, ret);

	if (r == 0)
		nodes_judge(root, counted, ret);
	return r;
}

static uint64_t figure(const struct node *node, const char *name)
{
	for (unsigned i = 0; i < node->n_figures; i++)
		if (strcmp(node->figures[i].name, name) == 0)
			return node->figures[i].value;
	fail_msg("node %u has no %s", node->number, name);
	return 0;
}

/* Says which kinds the nodes of a machine of tests/machines have, "dram hbm". */
static void kinds_of(const char *machine, struct nodes_counted counted, char ret_text[256])
{
	struct nodes nodes = { .n = 0 };
	char path[PATH_MAX];

	machine_path(machine, path);
	assert_int_equal(read_nodes(path, counted, &nodes), 0);
	*ret_text = '\0';
	for (unsigned i = 0; i < nodes.n; i++)
		sprintf(ret_text + strlen(ret_text), "%s%s", i ? " " : "",
			node_kind_name(nodes.all[i].kind));
	nodes_done(&nodes);
}

CASE("the kind of memory follows from what uncored counts, where only that is known")
{
	const struct {
		const char *machine;
		struct nodes_counted counted;
		const char *kinds;
	} rows[] = {
		{ "knl", flat, "dram hbm" },
		{ "knl", nothing, "dram unknown" },
		{ "knl-cache", flat, "dram" },
		{ "a64fx", { .hbm = true }, "hbm" },
		{ "grace-hopper", { .dram = true }, "dram dram gpu gpu gpu gpu gpu gpu gpu gpu" },
		{ "icelake-sp", { .dram = true }, "dram dram" },
	};
	char kinds[256];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		kinds_of(rows[i].machine, rows[i].counted, kinds);
		assert_string_equal(kinds, rows[i].kinds);
	}
}

CASE("what nobody can know of memory that is a cache is said")
{
	struct nodes nodes = { .n = 0 };
	char path[PATH_MAX];

	machine_path("knl-cache", path);
	assert_int_equal(read_nodes(path, flat, &nodes), 0);
	assert_non_null(
		strstr(nodes_unknown(&nodes, 0), "hbm.* is counted here, but no node has HBM"));
	assert_null(nodes_unknown(&nodes, 1));
	nodes_done(&nodes);
	machine_path("knl", path);
	assert_int_equal(read_nodes(path, flat, &nodes), 0);
	assert_null(nodes_unknown(&nodes, 0));
	nodes_done(&nodes);
}

/* --- a tree --- */

#define NODE "sys/devices/system/node/"

static void write_nodes(const struct tree *tree, const char *numbers)
{
	char path[64];

	tree_write(tree, NODE "online", numbers);
	tree_write(tree, NODE "has_cpu", "0\n");
	for (int i = 0; i < 4; i++) {
		snprintf(path, sizeof path, NODE "node%d/meminfo", i);
		tree_write(tree, path,
			"Node 1 MemTotal:       8192 kB\nNode 1 MemFree:         2048 kB\n"
			"Node 1 MemUsed:        6144 kB\nNode 1 AnonHugePages:  2048 kB\n"
			"Node 1 FileHugePages:     64 kB\nNode 1 HugePages_Total:     3\n");
	}
}

static void write_dax(
	const struct tree *tree, const char *name, const char *parent, const char *node)
{
	char path[128], target[128];

	snprintf(path, sizeof path, "sys/devices/%s/%s/target_node", parent, name);
	tree_write(tree, path, node);
	tree_write(tree, "sys/bus/dax/devices/.keep", "");
	snprintf(path, sizeof path, "sys/bus/dax/devices/%s", name);
	snprintf(target, sizeof target, "../../../devices/%s/%s", parent, name);
	assert_int_equal(symlinkat(target, tree->fd, path), 0);
}

CASE("figures of nodes are those of the kernel's files")
{
	struct tree tree = tree_new();
	struct nodes nodes = { .n = 0 };
	const struct node *node;

	write_nodes(&tree, "0-1\n");
	tree_write(&tree, NODE "node1/hugepages/hugepages-2048kB/nr_hugepages", "3\n");
	tree_write(&tree, NODE "node1/hugepages/hugepages-2048kB/free_hugepages", "1\n");
	tree_write(&tree, NODE "node0/memory_side_cache/index1/size", "17179869184\n");
	tree_write(&tree, NODE "node0/memory_side_cache/index1/line_size", "64\n");
	assert_int_equal(read_nodes(tree.root, nothing, &nodes), 0);
	assert_int_equal(nodes.n, 2);
	node = &nodes.all[1];
	assert_int_equal(node->number, 1);
	assert_false(node->has_cpus);
	assert_int_equal(figure(node, "capacity_bytes"), 8 * MB);
	assert_int_equal(figure(node, "used_bytes"), 6 * MB);
	assert_int_equal(figure(node, "free_bytes"), 2 * MB);
	assert_int_equal(figure(node, "thp_bytes"), 2 * MB + 65536);
	assert_int_equal(figure(node, "hugetlb_2048kB_pages"), 3);
	assert_int_equal(figure(node, "hugetlb_2048kB_free_pages"), 1);
	assert_int_equal(figure(&nodes.all[0], "memory_side_cache_1_bytes"), 17179869184);
	assert_int_equal(figure(&nodes.all[0], "memory_side_cache_1_line_bytes"), 64);
	assert_non_null(strstr(nodes_unknown(&nodes, 0), "memory-side cache has no pages"));
	nodes_done(&nodes);
	tree_free(&tree);
}

CASE("drivers and the firmware name the kind of nodes without CPUs")
{
	struct tree tree = tree_new();
	struct nodes nodes = { .n = 0 };

	write_nodes(&tree, "0,2-3\n");
	write_dax(&tree, "dax0.0", "LNXSYSTM:00/ndbus0/region0", "2\n");
	write_dax(&tree, "dax1.0", "platform/ACPI0017:00/root0", "3\n");
	assert_int_equal(read_nodes(tree.root, flat, &nodes), 0);
	assert_int_equal(nodes.n, 3);
	assert_int_equal(nodes.all[1].kind, NODE_PMM);
	assert_int_equal(nodes.all[2].kind, NODE_CXL);
	nodes_done(&nodes);
	write_nodes(&tree, "0-1\n");
	tree_write(&tree, "sys/bus/cxl/devices/mem0", "");
	assert_int_equal(read_nodes(tree.root, flat, &nodes), 0);
	assert_int_equal(nodes.all[1].kind, NODE_UNKNOWN); /* it may be CXL's */
	nodes_done(&nodes);
	tree_write(&tree, NODE "node0/access0/initiators/read_bandwidth", "200000\n");
	tree_write(&tree, NODE "node1/access0/initiators/read_bandwidth", "299999\n");
	assert_int_equal(read_nodes(tree.root, flat, &nodes), 0);
	assert_int_equal(nodes.all[1].kind, NODE_UNKNOWN);
	nodes_done(&nodes);
	tree_write(&tree, NODE "node1/access0/initiators/read_bandwidth", "409600\n");
	assert_int_equal(read_nodes(tree.root, nothing, &nodes), 0);
	assert_int_equal(nodes.all[1].kind, NODE_HBM);
	nodes_done(&nodes);
	tree_free(&tree);
}

CASE("a machine without NUMA has no nodes")
{
	struct tree tree = tree_new();
	struct nodes nodes = { .n = 0 };

	assert_int_equal(read_nodes(tree.root, nothing, &nodes), -ENOENT);
	tree_write(&tree, NODE "online", "none\n");
	assert_int_equal(read_nodes(tree.root, nothing, &nodes), -ENOENT);
	tree_free(&tree);
}

/* --- pages --- */

CASE("pages of any size are added up by node")
{
	static const uint64_t pids[] = { 7, 8 };
	struct tree tree = tree_new();
	struct pages pages;

	tree_write(&tree, "proc/7/numa_maps",
		"7f00 default file=/lib/N1=9\\040N0=4 mapped=3 mapmax=2 N0=2 N1=1 "
		"kernelpagesize_kB=4\n"
		"7f01 bind:1 anon=5 dirty=5 N1=5 kernelpagesize_kB=4\n"
		"7f02 default file=/dev/hugepages/x huge dirty=2 N1=2 kernelpagesize_kB=2048\n"
		"7f03 default stack N0=1\n7f04 default N5000=1 N0=x kernelpagesize_kB=4\n7f05 "
		"default\n");
	assert_int_equal(pages_init(&pages, tree.root, pids, 2), 0);
	assert_true(pages_look(&pages, 1));
	assert_int_equal(pages.all[0].error, 0);
	assert_int_equal(pages.all[0].bytes[0], 2 * 4096);
	assert_int_equal(pages.all[0].bytes[1], 6 * 4096 + 4 * MB);
	assert_int_equal(pages.all[0].huge_bytes, 4 * MB);
	assert_int_equal(pages.all[1].error, -ESRCH);
	pages_done(&pages);
	tree_write(&tree, "proc/8/stat", "8 (x) R");
	assert_int_equal(pages_init(&pages, tree.root, pids, 2), 0);
	assert_true(pages_look(&pages, 1));
	assert_int_equal(pages.all[1].error, -ENOSYS);
	pages_done(&pages);
	tree_free(&tree);
}

CASE("pages are read at most 1 % of the time")
{
	const uint64_t pids[] = { (uint64_t)getpid() };
	struct pages pages;
	uint64_t first_ns, took_ns;

	assert_int_equal(pages_init(&pages, "", pids, 1), 0);
	first_ns = clock_now_ns();
	assert_true(pages_look(&pages, first_ns));
	took_ns = pages.took_ns;
	assert_true(took_ns > 0);
	assert_false(pages_look(&pages, first_ns + 99 * took_ns));
	assert_int_equal(pages.all[0].error, 0);
	assert_int_equal(pages.read_ns, first_ns);
	assert_true(pages_look(&pages, first_ns + 100 * took_ns));
	pages_done(&pages);
}

/* The kernel touches the pages: for each byte that a program writes, the thread sanitizer writes to
 * others. MAP_POPULATE would do, but its faults are in /proc/vmstat and not in the event "page
 * faults" (mm_account_fault() in the kernel's mm/memory.c), and suites that run at the same time
 * compare these two. */
static char *touch_array(void)
{
	_cleanup_close_ int zeros = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char *array = mmap(NULL, ARRAY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(array != MAP_FAILED);
	assert_int_equal(syscall(SYS_read, zeros, array, (size_t)ARRAY), ARRAY);
	return array;
}

static uint64_t bytes_of(const struct process *process)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < NODE_NUMBERS; i++)
		sum += process->bytes[i];
	return sum;
}

CASE("64 MB that a program touches appear as 64 MB")
{
	const uint64_t pids[] = { (uint64_t)getpid() };
	struct pages pages;
	uint64_t before;
	char *array;

	assert_int_equal(pages_init(&pages, "", pids, 1), 0);
	assert_true(pages_look(&pages, 1));
	before = bytes_of(&pages.all[0]);
	array = touch_array();
	assert_true(pages_look(&pages, clock_now_ns()));
	assert_in_range(bytes_of(&pages.all[0]) - before, ARRAY - ARRAY / 100, ARRAY + ARRAY / 100);
	munmap(array, ARRAY);
	pages_done(&pages);
}

/* --- the command --- */

/* A process that has touched an array, and waits. */
static pid_t start_program(void)
{
	int gate[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(gate), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		touch_array();
		if (write(gate[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(gate[0], &byte, 1), 1);
	close(gate[0]);
	close(gate[1]);
	return pid;
}

static void end_program(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

CASE("the end of a process is noticed between two readings")
{
	const pid_t pid = start_program();
	const uint64_t pids[] = { (uint64_t)pid };
	struct pages pages;

	assert_int_equal(pages_init(&pages, "", pids, 1), 0);
	assert_true(pages_look(&pages, 1));
	assert_false(pages_are_gone(&pages));
	end_program(pid);
	assert_false(pages_look(&pages, 2));
	assert_int_equal(pages.all[0].error, -ESRCH);
	assert_true(pages_are_gone(&pages));
	pages_done(&pages);
}

CASE("the command shows nodes, the pages of a process and the traffic beside")
{
	struct outcome outcome;
	pid_t pid = start_program();
	struct json_object *json, *process;
	char line[64];
	uint64_t sum = 0;

	snprintf(line, sizeof line, "tiers --json -p %d", pid);
	run_with(&outcome, NULL, line);
	end_program(pid);
	assert_int_equal(outcome.status, 0);
	json = json_tokener_parse(outcome.text);
	assert_non_null(json);
	assert_true(number(FIND(json, "nodes", "0", "capacity_bytes")) > ARRAY);
	process = FIND(json, "processes", "0");
	assert_int_equal(number(FIND(process, "pid")), pid);
	for (size_t i = 0; i < json_object_array_length(FIND(process, "nodes")); i++)
		sum += number(FIND(json_object_array_get_idx(FIND(process, "nodes"), i), "bytes"));
	assert_in_range(sum, ARRAY, ARRAY + 32 * MB);
	assert_int_equal(
		number(FIND(json, "traffic", "sockets", "1", "metrics", "dram.write", "bytes")),
		4000);
	assert_false(json_object_object_get_ex(
		FIND(json, "traffic", "sockets", "1", "metrics"), "itom", NULL));
	json_object_put(json);
}

static size_t longest_line(const char *text)
{
	size_t longest = 0;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		longest = strcspn(text, "\n") > longest ? strcspn(text, "\n") : longest;
	return longest;
}

CASE("its table fits 80 columns")
{
	struct outcome outcome;
	char line[64];

	snprintf(line, sizeof line, "tiers -p %d", getpid());
	run_with(&outcome, NULL, line);
	expect(&outcome, 0, "\n node  kind        capacity        used        free         thp\n");
	expect(&outcome, 0, "\n    0  dram ");
	expect(&outcome, 0, ": node 0 ");
	expect(&outcome, 0, "   dram.total ");
	assert_in_range(longest_line(outcome.text), 60, 80);
}

CASE("rows of CSV have nodes, processes and sockets")
{
	struct outcome outcome;
	char line[64];

	snprintf(line, sizeof line, "tiers --csv -p %d", getpid());
	run_with(&outcome, NULL, line);
	expect(&outcome, 0, "time_ns,of,number,kind,metric,value,quality,absent\n");
	expect(&outcome, 0, ",node,0,dram,capacity_bytes,");
	snprintf(line, sizeof line, ",process,%d,dram,node0_bytes,", getpid());
	expect(&outcome, 0, line);
	expect(&outcome, 0, ",socket,1,dram,dram.write_bytes,4000,,\n");
}

/* Ends the process as soon as the command has shown it. */
static void run_until_ended(struct outcome *ret, pid_t pid)
{
	struct fake_daemon daemon;
	char line[256];
	FILE *output;
	size_t n;

	fake_daemon_start(&daemon, NULL, 1);
	snprintf(line, sizeof line, "%s/client/uncore tiers --json -I 100ms -p %d --socket %s",
		getenv("UNCORE_BUILD_ROOT"), pid, daemon.path);
	output = popen(line, "re");
	assert_non_null(output);
	assert_non_null(fgets(ret->text, sizeof ret->text, output));
	end_program(pid);
	n = strlen(ret->text);
	n += fread(ret->text + n, 1, sizeof ret->text - n - 1, output);
	ret->text[n] = '\0';
	ret->status = WEXITSTATUS(pclose(output));
	fake_daemon_stop(&daemon);
	fake_daemon_done(&daemon);
}

CASE("it goes on until its processes have ended")
{
	struct outcome outcome;

	run_until_ended(&outcome, start_program());
	assert_int_equal(outcome.status, 0);
	assert_true(count(&outcome, "{\"time_ns\":") >= 2);
	assert_true(count(&outcome, "\"hugetlb_bytes\":0") >= 1);
	assert_int_equal(count(&outcome, "cannot be read: it has ended"), 1);
}

CASE("errors are sentences, and without uncored only the traffic is absent")
{
	struct outcome outcome;

	run(&outcome, "tiers --socket /nowhere/socket");
	expect(&outcome, 0, " node  kind ");
	expect(&outcome, 0, "The traffic is absent: ");
	run(&outcome, "tiers --json --socket /nowhere/socket");
	expect(&outcome, 0, "\"traffic_absent\":\"Cannot connect to uncored at /nowhere/socket: ");
	run(&outcome, "tiers -p 4194305 --socket /nowhere/socket");
	expect(&outcome, 1,
		"uncore tiers: The pages of process 4194305 cannot be read: it has ended, or there "
		"is "
		"no such process here.\n");
	run(&outcome, "tiers --json --csv");
	expect(&outcome, 2, "choose one of --json and --csv");
}
