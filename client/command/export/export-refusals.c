/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/export/export-refusals.h"

#include "client/command/export/exposition.h"
#include "client/records/json.h"

/* Rules that have refused nothing are written, too: a first refusal is then an increase. */
static void write_rules(struct exposition *exposition, struct json_object *by_rule)
{
	json_object_object_foreach(by_rule, rule, n)
	{
		exposition_begin(exposition);
		exposition_label(exposition, "rule", rule);
		exposition_count(exposition, json_object_get_uint64(n));
	}
}

void export_refusals(struct exposition *exposition, const char *report)
{
	struct json_object *state = json_tokener_parse(report);
	struct json_object *by_rule = json_member(state, "refusals");

	exposition_family(exposition,
		&(struct exposition_family){ "uncore_refusals_total", "counter",
			"Requests and connections that uncored refused by this rule since it was "
			"started." });
	if (json_object_is_type(by_rule, json_type_object))
		write_rules(exposition, by_rule);
	json_object_put(state);
}
