/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/validate/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void findings_add(struct findings *findings, enum outcome outcome, const char *format, ...)
{
	va_list arguments;

	if (outcome > findings->outcome)
		findings->outcome = outcome;
	if (findings->n == FINDINGS_MAX)
		return;
	va_start(arguments, format);
	vsnprintf(findings->text[findings->n++], FINDING_BYTES, format, arguments);
	va_end(arguments);
}

bool findings_is_remark(const char *text)
{
	static const char begin[] = "Remark: ";

	return strncmp(text, begin, sizeof begin - 1) == 0;
}

const char *outcome_word(enum outcome outcome)
{
	static const char *const words[] = {
		[OUTCOME_RIGHT] = "right",
		[OUTCOME_ABSENT] = "absent",
		[OUTCOME_UNCLEAR] = "inconclusive",
		[OUTCOME_DEFECT] = "defect",
	};

	return words[outcome];
}
