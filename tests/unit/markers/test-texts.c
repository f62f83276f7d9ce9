/* SPDX-License-Identifier: BSD-3-Clause */
/* Texts that are joined, wide or kept. */
#include <pthread.h>
#include <string.h>
#include <wchar.h>

#include "client/markers/base/texts.h"
#include "tests/harness/test.h"

static void fill(char *text, size_t n)
{
	memset(text, 'x', n);
	text[n] = '\0';
}

CASE("texts are joined, and one alone is itself")
{
	char buffer[JOINED_BYTES];
	const char *text = "text";

	assert_true(strcmp(marker_join("domain", "/", text, buffer), "domain/text") == 0);
	assert_true(strcmp(marker_join("domain", " <- ", NULL, buffer), "domain <- ") == 0);
	assert_true(marker_join(NULL, "/", text, buffer) == text);
	assert_true(marker_join("", "/", text, buffer) == text);
	assert_true(strcmp(marker_join(NULL, "/", NULL, buffer), "") == 0);
}

CASE("joined texts that are too long do not merge")
{
	char buffer[JOINED_BYTES], other[JOINED_BYTES], text[3 * JOINED_BYTES];

	fill(text, JOINED_BYTES - 3);
	marker_join("d", "/", text, buffer);
	assert_true(strlen(buffer) == JOINED_BYTES - 1 && strcmp(buffer + 2, text) == 0);
	fill(text, JOINED_BYTES - 2);
	marker_join("d", "/", text, buffer);
	assert_true(strlen(buffer) == JOINED_BYTES - 1 && buffer[JOINED_BYTES - 18] == '~');
	fill(text, sizeof text - 1);
	marker_join("d", "/", text, buffer);
	text[sizeof text - 2] = 'y';
	assert_true(strcmp(marker_join("d", "/", text, other), buffer) != 0);
	assert_true(strncmp(other, buffer, JOINED_BYTES - 18) == 0);
	assert_true(strcmp(marker_join(text, "/", "d", other),
			    marker_join("d", "/", text, buffer)) != 0);
}

CASE("wide texts are UTF-8, whatever the locale")
{
	static const wchar_t GOOD[] = { 'a', 0x7f, 0x80, 0x7ff, 0x800, 0xffff, 0x10000, 0x10ffff,
		0 };
	static const wchar_t ODD[] = { 'a', 0xd7ff, 0xd800, 0xdfff, 0xe000, 0x110000, -1, 0 };
	char buffer[JOINED_BYTES];

	assert_true(strcmp(wide_narrow(GOOD, buffer), "a\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80\xef\xbf"
						      "\xbf\xf0\x90\x80\x80\xf4\x8f\xbf\xbf") == 0);
	assert_true(strcmp(wide_narrow(ODD, buffer), "a\xed\x9f\xbf\xef\xbf\xbd\xef\xbf\xbd\xee\x80"
						     "\x80\xef\xbf\xbd\xef\xbf\xbd") == 0);
	assert_true(strcmp(wide_narrow(L"", buffer), "") == 0 &&
		    strcmp(wide_narrow(NULL, buffer), "") == 0);
}

CASE("wide texts that are too long do not merge")
{
	static wchar_t text[2 * JOINED_BYTES];
	char buffer[JOINED_BYTES], other[JOINED_BYTES];

	wmemset(text, 0x20ac, 2 * JOINED_BYTES - 1);
	wide_narrow(text, buffer);
	assert_true(strlen(buffer) == JOINED_BYTES - 1);
	text[2 * JOINED_BYTES - 2] = 'x';
	assert_true(strcmp(wide_narrow(text, other), buffer) != 0);
}

static void *keep_some(void *unused)
{
	for (int i = 0; i < 64; i++)
		marker_keep((char[]){ (char)('0' + i), '\0' });
	return unused;
}

CASE("a text is kept once, by whatever thread, and has a number")
{
	struct kept *kept = marker_keep("kept");
	pthread_t threads[4];

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, keep_some, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_true(marker_keep("kept") == kept && strcmp(kept->text, "kept") == 0);
	assert_true(kept->is_enabled && kept->number == 1 && marker_kept(1) == kept);
	assert_true(marker_kept(65) && !marker_kept(66) && !marker_kept(0) && !marker_kept(-1));
	assert_true(marker_keep(NULL) == marker_keep("") && marker_keep("")->number == 66);
}
