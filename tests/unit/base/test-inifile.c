/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/harness/test.h"

#include <errno.h>

#include "common/macro.h"
#include "daemon/base/inifile.h"
#include "tests/harness/tree.h"

static int load(const char *text, struct inifile *ret, struct fault *fault)
{
	struct tree tree = tree_new();
	char path[128];
	int r;

	tree_write(&tree, "f", text);
	snprintf(path, sizeof path, "%s/f", tree.root);
	r = inifile_load(path, ret, fault);
	tree_free(&tree);
	return r;
}

/* The path of the tree file differs each time: compare from ":LINE:" on. */
static void refuses(const char *text, const char *expected)
{
	struct inifile ini = {};
	struct fault fault;

	assert_int_equal(load(text, &ini, &fault), -EINVAL);
	assert_non_null(strstr(fault.text, "/f:"));
	assert_string_equal(strstr(fault.text, "/f:") + 2, expected);
	assert_null(ini.sections);
	assert_null(ini.entries);
}

CASE("Sections and entries keep their lines")
{
	_cleanup_(inifile_done) struct inifile ini = {};
	struct fault fault;
	const struct inifile_section *section;

	assert_int_equal(load("# one\n\n[a]\nx = 1\n; two\n  \n\t# three\ny =\n[b]\r\n"
			      "\tx=a = b ; c|d \r",
				 &ini, &fault),
		0);
	assert_int_equal(ini.n_sections, 2);
	section = inifile_section(&ini, "a");
	assert_int_equal(section->line, 3);
	assert_int_equal(section->n, 2);
	assert_int_equal(inifile_entry(&ini, section, "x")->line, 4);
	assert_int_equal(inifile_entry(&ini, section, "y")->line, 8);
	assert_string_equal(inifile_entry(&ini, section, "y")->value, "");
	section = inifile_section(&ini, "b");
	assert_string_equal(inifile_entry(&ini, section, "x")->value, "a = b ; c|d");
	assert_null(inifile_entry(&ini, section, "y"));
	assert_null(inifile_section(&ini, "c"));
}

CASE("Nonsense is refused with file and line")
{
	refuses("x = 1\n", ":1: x stands before any section: put it below a [section].");
	refuses("[a]\nx = 1\ny = 1\nx = 2\n", ":4: second x in [a], the first is on line 2.");
	refuses("[a]\n[b]\n[a]\n", ":3: second section [a], the first is on line 1.");
	refuses("[a]\nx = 1\n  2\n", ":3: neither [section] nor key = value.");
	refuses("[a]\nx\n", ":2: neither [section] nor key = value.");
	refuses("[a\nx = 1\n", ":1: a section is a line that holds [name] and nothing else.");
	refuses("[a] x\n", ":1: a section is a line that holds [name] and nothing else.");
	refuses("[]\n", ":1: the name of a section must be 1 to 49 bytes.");
	refuses("[12345678901234567890123456789012345678901234567890]\n",
		":1: the name of a section must be 1 to 49 bytes.");
	refuses("[a]\n= 1\n", ":2: the name of a key must be 1 to 49 bytes.");
	refuses("[a]\nx = \001\n", ":2: byte 0x01: this is not a text file.");
}

CASE("A line may have any length, and a file 1 MiB")
{
	static char text[(1 << 20) + 2];
	_cleanup_(inifile_done) struct inifile ini = {};
	struct inifile other = {};
	struct fault fault;

	memset(text, 'y', sizeof text);
	memcpy(text, "[a]\nx = ", 8);
	text[1 << 20] = '\0';
	assert_int_equal(load(text, &ini, &fault), 0);
	assert_int_equal(strlen(ini.entries[0].value), (1 << 20) - 8);
	text[1 << 20] = 'y';
	text[(1 << 20) + 1] = '\0';
	assert_int_equal(load(text, &other, &fault), -EINVAL);
	assert_non_null(strstr(fault.text, "/f has more than 1048576 bytes"));
}

CASE("A file that cannot be read is named with the reason")
{
	struct inifile ini = {};
	struct fault fault;

	assert_int_equal(inifile_load("/nonexistent/file", &ini, &fault), -ENOENT);
	assert_string_equal(
		fault.text, "Cannot open /nonexistent/file: No such file or directory.");
	assert_int_equal(inifile_load("/", &ini, &fault), -EISDIR);
	assert_string_equal(fault.text, "Cannot open /: Is a directory.");
}

CASE("Numbers are digits within their range")
{
	static const char *const bad[] = { "", "-1", "+5", " 5", "5x", "0x5", "0", "11",
		"4294967301", "99999999999999999999" };
	const struct inifile_key key = { .minimum = 1, .maximum = 10, .what = "fingers" };
	struct fault why;
	uint32_t number = 77;

	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(inifile_number(&key, bad[i], &number, &why), -EINVAL);
		assert_string_equal(
			why.text, strcmp(bad[i], "5x") && strcmp(bad[i], "0x5")
					  ? "must be 1 to 10 (fingers)"
					  : "must be 1 to 10 (fingers), a number without a unit");
		assert_int_equal(number, 77);
	}
	assert_int_equal(inifile_number(&key, "10", &number, &why), 0);
	assert_int_equal(number, 10);
	assert_int_equal(inifile_octal(&key, "10", &number, &why), 0);
	assert_int_equal(number, 8);
	assert_int_equal(inifile_octal(&key, "9", &number, &why), -EINVAL);
	assert_string_equal(why.text, "must be 01 to 012 in octal (fingers)");
}

CASE("Words are whole words of the list")
{
	static const char *const bad[] = { "", "hig", "high|medium", "lowest", "|" };
	const struct inifile_key key = { .what = "high|medium|low" };
	struct fault why;
	char word[16] = "old";

	for (unsigned i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(inifile_word(&key, bad[i], word, &why), -EINVAL);
		assert_string_equal(word, "old");
	}
	assert_int_equal(inifile_word(&key, "low", word, &why), 0);
	assert_string_equal(word, "low");
	assert_int_equal(inifile_word(&key, "high", word, &why), 0);
	assert_string_equal(word, "high");
}
