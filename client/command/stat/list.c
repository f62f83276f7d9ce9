/* SPDX-License-Identifier: BSD-3-Clause */
/* uncore list: the names that `uncore stat -e` takes, and what each one is. */
#include <stdio.h>
#include <string.h>

#include "client/command/frame/command.h"
#include "client/command/frame/output.h"
#include "client/command/frame/total.h"
#include "client/command/stat/stat-options.h"
#include "client/reader/reader.h"
#include "client/report/format.h"
#include "common/macro.h"

static int stat_list_fail(const char *text)
{
	fprintf(stderr, "uncore list: %s\n", text);
	return EXIT_FAILED;
}

/* Names that do not say what they are. */
static const char *stat_list_meaning(const char *name)
{
	if (strcmp(name, "itom") == 0)
		return "  written whole, so not read before";
	return strcmp(name, "specitom") == 0 ? "  the same, as the CPU predicted" : "";
}

static void stat_list_print(const struct total *total, const struct uncore *handle)
{
	struct format_socket all;
	char words[FORMAT_QUALITY_MAX];

	total_show_one(total, handle, total->n_sockets, &all);
	for (uint32_t i = 0; i < all.n_values; i++) {
		const struct format_value *value = &all.values[i];
		bool is_absent;
		int at;

		if (format_is_check(value->name))
			continue;
		uncore_quality_words(value->quality, words, sizeof words);
		at = printf("%-*s %-5s", (int)all.name_width, value->name, value->unit);
		for (uint32_t k = 0; k < total->n_tiers; k++)
			if (value->name == total->tiers[k].name)
				at += printf("  %s + %s",
					uncore_metric_name(handle, total->tiers[k].read),
					uncore_metric_name(handle, total->tiers[k].write));
		at += printf("%s", stat_list_meaning(value->name));
		is_absent = value->quality & UNCORE_ABSENT;
		at += printf("%s", is_absent || *words ? "  " : "");
		output_rest((size_t)at, 3, "%s%s", is_absent ? "absent: " : "",
			is_absent ? value->why : words);
	}
}

int command_list(int argc, char **argv)
{
	static const struct reader_wish wish = { .use = READER_GAUGE };
	_cleanup_(readout_done) struct readout readout = {};
	_cleanup_(total_done) struct total total = {};
	struct stat_options options = {};
	_cleanup_(reader_close) struct reader reader = {};
	int status = option_parse(&list_table, argc, argv, &options, NULL);

	if (status < 0)
		status = option_no_argument(&list_table, argc, argv);
	if (status >= 0)
		return status;
	reader.socket_path = options.socket_path;
	if (reader_take(&reader, &wish, &readout) < 0)
		return stat_list_fail(uncore_error_text());
	if (total_init(&total, readout.n_sockets, NULL) == 0) {
		total_add_tiers(&total, reader.handle);
		if (total_add(&total, readout.samples, readout.samples) == 0)
			stat_list_print(&total, reader.handle);
	}
	return 0;
}
