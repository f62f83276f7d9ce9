/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/plan/event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/text.h"
#include "daemon/base/fault.h"
#include "daemon/plan/format.h"

enum { TEXT_MAX_BYTES = 128, CODE_TEXT_MAX = 64 };

/* Fills in the box's number for every "{n}". */
static int event_expand(const char *text, int number, char ret[TEXT_MAX_BYTES], struct fault *fault)
{
	size_t length = 0;
	const char *place;

	if (number < 0 && strstr(text, "{n}"))
		return fault_set(fault, -EINVAL, "the PMU's name has no number for {n}");
	for (; length < TEXT_MAX_BYTES && (place = strstr(text, "{n}")); text = place + 3)
		length += snprintf(ret + length, TEXT_MAX_BYTES - length, "%.*s%d",
			(int)(place - text), text, number);
	if (length < TEXT_MAX_BYTES)
		length += snprintf(ret + length, TEXT_MAX_BYTES - length, "%s", text);
	return length < TEXT_MAX_BYTES ? 0 : fault_set(fault, -EFBIG, "its text is too long");
}

static int encode_choice(const struct pmu *pmu, const struct event_choice *choice,
	const struct worth *worth, struct event_code *ret, struct fault *fault)
{
	struct encoding encoding = {};
	char text[TEXT_MAX_BYTES];
	int r = event_expand(choice->text, pmu->number, text, fault);

	if (r < 0)
		return r;
	switch (choice->kind) {
	case EVENT_SYSFS:
		r = alias_encode(pmu, text, worth, &encoding, fault);
		break;
	case EVENT_RAW:
		r = format_encode(pmu, text, &encoding, fault);
		break;
	case EVENT_PFM:
		r = pfm_encode(pmu, text, &encoding, fault);
		break;
	}
	if (r < 0)
		return r;
	*ret = (struct event_code){
		.config = encoding.word[0],
		.config1 = encoding.word[1],
		.config2 = encoding.word[2],
	};
	snprintf(ret->via, sizeof ret->via, "%s:%.116s", event_kind_name(choice->kind), text);
	return 0;
}

/* The alternative behind the alias choices->choice[@alias] that the platform file spells out, if
 * @pmu has its fields. */
static bool encode_spelled(const struct pmu *pmu, const struct event_choices *choices,
	unsigned alias, struct event_code *ret)
{
	struct fault fault;

	for (unsigned i = alias + 1; i < choices->n; i++)
		if (choices->choice[i].kind == EVENT_RAW &&
			encode_choice(pmu, &choices->choice[i], NULL, ret, &fault) == 0)
			return true;
	return false;
}

/* "0xf04", and "0x0/0x3ff" where config1 or config2 is not 0. */
static const char *code_text(const struct event_code *code, char ret[CODE_TEXT_MAX])
{
	snprintf(ret, CODE_TEXT_MAX, "%#" PRIx64, code->config);
	if (code->config1 || code->config2)
		text_append(ret, CODE_TEXT_MAX, "/%#" PRIx64, code->config1);
	if (code->config2)
		text_append(ret, CODE_TEXT_MAX, "/%#" PRIx64, code->config2);
	return ret;
}

/* Takes the code that the platform file spells out, if the kernel's alias is another. @tried:
 * PAGE_TEXT_MAX bytes, to which that is added. */
static void check_alias(const struct pmu *pmu, const struct event_choices *choices, unsigned alias,
	struct event_code *code, char tried[])
{
	char kernels[CODE_TEXT_MAX], files[CODE_TEXT_MAX];
	struct event_code spelled;

	if (choices->choice[alias].kind != EVENT_SYSFS ||
		!encode_spelled(pmu, choices, alias, &spelled) || event_is_same(code, &spelled))
		return;
	text_append(tried, PAGE_TEXT_MAX,
		"%sthis kernel's %s is %s, but %s is %s, which is counted", alias ? "; " : "",
		code->via, code_text(code, kernels), spelled.via, code_text(&spelled, files));
	spelled.is_disputed = true;
	*code = spelled;
}

int event_encode(const struct pmu *pmu, const struct event_choices *choices,
	const struct worth *worth, struct event_code *ret, char why[PAGE_TEXT_MAX])
{
	char reasons[PAGE_TEXT_MAX] = "";
	struct fault fault;
	int r = -ENOENT;

	/* If kernel and platform file disagree on the worth, no other name of the event helps. */
	for (unsigned i = 0; i < choices->n && r != -EDOM; i++) {
		const struct event_choice *choice = &choices->choice[i];

		r = encode_choice(pmu, choice, worth, ret, &fault);
		if (r == 0) {
			check_alias(pmu, choices, i, ret, reasons);
			memcpy(ret->tried, reasons, sizeof reasons);
			return 0;
		}
		text_append(reasons, sizeof reasons, "%s%s:%s: %s", i ? "; " : "",
			event_kind_name(choice->kind), choice->text, fault.text);
	}
	snprintf(why, PAGE_TEXT_MAX, "%s", choices->n ? reasons : "no event is given");
	return r == -EDOM ? r : -ENOENT;
}
