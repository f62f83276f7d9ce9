/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/harness/tree.h"

#include <errno.h>

#include "daemon/machine/pmu.h"

static const struct pmu *find(const struct pmu_list *list, const char *name)
{
	for (unsigned i = 0; i < list->n; i++)
		if (strcmp(list->pmus[i].name, name) == 0)
			return &list->pmus[i];
	fail_msg("%s is not listed", name);
	return NULL;
}

static void list_machine(const char *name, struct pmu_list *ret)
{
	int fd = machine_open(name);

	assert_int_equal(pmu_list_load(fd, ret), 0);
	close(fd);
}

static void list_tree(const struct tree *tree, struct pmu_list *ret)
{
	assert_int_equal(pmu_list_load(tree->fd, ret), 0);
}

CASE("a machine's PMUs are listed in natural order")
{
	struct pmu_list list;
	const struct pmu *pmu;

	list_machine("icelake-sp", &list);
	assert_int_equal(list.n, 12 + 4 + 40 + 2 + 3 + 1 + 2 * 6);
	pmu = find(&list, "uncore_imc_10");
	assert_string_equal(pmu->why, "");
	assert_int_equal(pmu->number, 10);
	assert_true(hwloc_bitmap_isset(pmu->cpumask, 0));
	assert_true(hwloc_bitmap_isset(pmu->cpumask, 4));
	assert_int_equal(hwloc_bitmap_weight(pmu->cpumask), 2);
	assert_true(pmu < find(&list, "uncore_imc_11"));
	assert_true(pmu > find(&list, "uncore_imc_9"));
	assert_int_equal(find(&list, "uncore_imc_free_running_2")->number, 2);
	assert_int_equal(find(&list, "software")->number, -1);
	pmu_list_done(&list);
	assert_int_equal(list.n, 0);
}

CASE("the last number of a PMU's name is its box number")
{
	struct pmu_list list;

	list_machine("power9", &list);
	assert_int_equal(find(&list, "nest_mba3_imc")->number, 3);
	pmu_list_done(&list);
	list_machine("sapphire-rapids-kernel61", &list);
	assert_int_equal(find(&list, "uncore_type_14_31")->number, 31);
	pmu_list_done(&list);
}

CASE("a broken PMU is listed with its fault")
{
	static const struct {
		const char *pmu, *why;
	} cases[] = {
		{ "cpu", "cpu has no cpumask file, so it is not known on which CPUs it counts" },
		{ "uncore_imc_3",
			"uncore_imc_3 has no cpumask file, so it is not known on which CPUs it "
			"counts" },
		{ "uncore_imc_7",
			"the cpumask of uncore_imc_7 says \"0-x\", which is not a list of CPUs" },
		{ "uncore_imc_8", "the type of uncore_imc_8 says \"imc\", which is not a number" },
		{ "uncore_cha_12",
			"the cpumask of uncore_cha_12 is empty: every CPU it could count on is "
			"offline" },
	};
	struct pmu_list list;

	list_machine("icelake-sp-broken", &list);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(find(&list, cases[i].pmu)->why, cases[i].why);
	assert_null(find(&list, "uncore_imc_7")->cpumask);
	assert_true(hwloc_bitmap_iszero(find(&list, "uncore_cha_12")->cpumask));
	pmu_list_done(&list);
}

CASE("cpumasks are range lists and nothing else")
{
	static const struct {
		const char *text, *list; /* NULL: refused */
	} cases[] = {
		{ "0-1\n", "0-1" },
		{ "0,2\n", "0,2" },
		{ "7", "7" },
		{ "0-3,8-11,64\n", "0-3,8-11,64" },
		{ "3-", NULL },
		{ "3-1\n", NULL },
		{ "0,\n", NULL },
		{ ",0\n", NULL },
		{ "-1\n", NULL },
		{ "0x3\n", NULL },
		{ "0 1\n", NULL },
		{ "99999999999999999999\n", NULL },
		{ "65536\n", NULL },
	};
	struct tree tree = tree_new();
	struct pmu_list list;
	char text[64];

	tree_write_pmu(&tree, "box", "type", "12\n");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		tree_write_pmu(&tree, "box", "cpumask", cases[i].text);
		list_tree(&tree, &list);
		assert_int_equal(list.n, 1);
		if (cases[i].list) {
			hwloc_bitmap_list_snprintf(text, sizeof text, list.pmus[0].cpumask);
			assert_string_equal(text, cases[i].list);
			assert_string_equal(list.pmus[0].why, "");
		} else {
			assert_null(list.pmus[0].cpumask);
			assert_non_null(strstr(list.pmus[0].why, "which is not a list of CPUs"));
		}
		pmu_list_done(&list);
	}
	tree_free(&tree);
}

CASE("a PMU without cpumask may have cpus instead")
{
	struct tree tree = tree_new();
	struct pmu_list list;

	tree_write_pmu(&tree, "armv8_pmuv3_0", "type", "8\n");
	tree_write_pmu(&tree, "armv8_pmuv3_0", "cpus", "0-3\n");
	list_tree(&tree, &list);
	assert_int_equal(list.pmus[0].type, 8);
	assert_int_equal(hwloc_bitmap_weight(list.pmus[0].cpumask), 4);
	pmu_list_done(&list);
	tree_free(&tree);
}

CASE("a type is a number of 32 bits")
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{ "4294967295\n", "" },
		{ "4294967296\n", "the type of box says \"4294967296\", which is not a number" },
		{ "12 \n", "the type of box says \"12 \", which is not a number" },
		{ "\n", "the type of box cannot be read: No data available" },
	};
	struct tree tree = tree_new();
	struct pmu_list list;

	tree_write_pmu(&tree, "box", "cpumask", "0\n");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		tree_write_pmu(&tree, "box", "type", cases[i].text);
		list_tree(&tree, &list);
		assert_string_equal(list.pmus[0].why, cases[i].why);
		pmu_list_done(&list);
	}
	tree_free(&tree);
}

CASE("an entry that is not a PMU is listed with a reason")
{
	char name[101], why[256];
	struct tree tree = tree_new();
	struct pmu_list list;

	memset(name, 'x', 100);
	name[100] = '\0';
	tree_write_pmu(&tree, name, "type", "1\n");
	tree_write(&tree, "sys/bus/event_source/devices/file", "no directory\n");
	list_tree(&tree, &list);
	assert_int_equal(list.n, 2);
	assert_string_equal(list.pmus[0].why, "file cannot be opened: Not a directory");
	snprintf(why, sizeof why, "%.63s... has a name longer than 63 characters", name);
	assert_string_equal(list.pmus[1].why, why);
	pmu_list_done(&list);
	tree_free(&tree);
}

CASE("a kernel without PMUs is an error")
{
	struct pmu_list list = { .n = 77 };
	struct tree tree = tree_new();

	assert_int_equal(pmu_list_load(tree.fd, &list), -ENOENT);
	assert_int_equal(list.n, 77);
	tree_free(&tree);
}

CASE("a file is read without its final newline, or not at all")
{
	struct tree tree = tree_new();
	char text[8] = "before", long_text[5001];

	memset(long_text, 'a', 5000);
	long_text[5000] = '\0';
	tree_write(&tree, "long", long_text);
	tree_write(&tree, "eight", "12345678\n");
	tree_write(&tree, "newline", "\n");
	tree_write(&tree, "nothing", "");
	tree_write(&tree, "seven", "1234567\n");
	tree_write(&tree, "two", "a\n\n");
	assert_int_equal(text_file_read(tree.fd, "absent", text, sizeof text), -ENOENT);
	assert_int_equal(text_file_read(tree.fd, "eight", text, sizeof text), -EFBIG);
	assert_int_equal(text_file_read(tree.fd, "long", text, sizeof text), -EFBIG);
	assert_int_equal(text_file_read(tree.fd, "newline", text, sizeof text), -ENODATA);
	assert_int_equal(text_file_read(tree.fd, "nothing", text, sizeof text), -ENODATA);
	assert_int_equal(text_file_read(tree.fd, ".", text, sizeof text), -EISDIR);
	assert_string_equal(text, "before");
	assert_int_equal(text_file_read(tree.fd, "seven", text, sizeof text), 0);
	assert_string_equal(text, "1234567");
	assert_int_equal(text_file_read(tree.fd, "two", text, sizeof text), 0);
	assert_string_equal(text, "a\n");
	tree_free(&tree);
}
