/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/judge/findings.h"

#include <stdarg.h>
#include <stdio.h>

_printf_(4, 0) static void add(struct findings *findings, enum outcome outcome, bool is_factor,
	const char *format, va_list arguments)
{
	struct finding *finding;

	if (outcome > findings->outcome)
		findings->outcome = outcome;
	if (findings->n == FINDINGS_MAX)
		return;
	finding = &findings->finding[findings->n++];
	finding->outcome = outcome;
	finding->is_factor = is_factor;
	vsnprintf(finding->text, sizeof finding->text, format, arguments);
}

void findings_add(struct findings *findings, enum outcome outcome, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add(findings, outcome, false, format, arguments);
	va_end(arguments);
}

void findings_add_factor(struct findings *findings, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	add(findings, OUTCOME_DEFECT, true, format, arguments);
	va_end(arguments);
}

bool findings_are_factors(const struct findings *findings)
{
	for (unsigned i = 0; i < findings->n; i++)
		if (findings->finding[i].outcome != OUTCOME_RIGHT &&
			!findings->finding[i].is_factor)
			return false;
	return findings->outcome == OUTCOME_DEFECT;
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
