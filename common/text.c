/* SPDX-License-Identifier: BSD-3-Clause */
/* Text of the caller that goes into JSON and onto a terminal, where none of its bytes may do
 * harm. */
#include "common/text.h"

#include <stddef.h>
#include <stdint.h>

#include "common/macro.h"

/* How a character begins, how many bytes follow, and the lowest character of that form. */
static const struct {
	uint8_t mask, lead, n_following;
	uint32_t least;
} forms[] = {
	{ 0x80, 0x00, 0, 0x20 }, /* below 0x20 are control characters */
	{ 0xe0, 0xc0, 1, 0xa0 }, /* below 0xa0 is C1 */
	{ 0xf0, 0xe0, 2, 0x800 },
	{ 0xf8, 0xf0, 3, 0x10000 },
};

size_t text_plain_bytes(const char *at)
{
	const uint8_t *text = (const uint8_t *)at;

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		uint32_t character = *text & (uint8_t)~forms[i].mask;

		if ((*text & forms[i].mask) != forms[i].lead)
			continue;
		for (size_t k = 1; k <= forms[i].n_following; k++) {
			if ((text[k] & 0xc0) != 0x80) /* also true for the final NUL */
				return 0;
			character = character << 6 | (text[k] & 0x3f);
		}
		if (character < forms[i].least || character == 0x7f || character > 0x10ffff ||
			(character >= 0xd800 && character <= 0xdfff))
			return 0;
		return forms[i].n_following + 1U;
	}
	return 0;
}

bool text_is_plain(const char *text)
{
	while (*text) {
		size_t n = text_plain_bytes(text);

		if (!n)
			return false;
		text += n;
	}
	return true;
}

void text_print_plain(FILE *out, const char *text)
{
	while (*text) {
		size_t n = text_plain_bytes(text);

		if (n)
			fwrite(text, 1, n, out);
		else
			fputc('?', out);
		text += n ? n : 1;
	}
}

void text_make_plain(char *text)
{
	while (*text) {
		size_t n = text_plain_bytes(text);

		if (!n)
			*text = '?';
		text += n ? n : 1;
	}
}
