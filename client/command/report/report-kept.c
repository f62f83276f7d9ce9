/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/report/report-options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/command/frame/command.h"
#include "client/command/frame/output.h"
#include "client/command/report/kept.h"
#include "client/libuncore/uncore.h"
#include "client/records/join.h"
#include "client/report/json.h"
#include "client/report/print.h"
#include "common/jsonwriter.h"
#include "common/macro.h"

static bool report_kept_is_wanted(const struct report_options *options, const struct kept *kept)
{
	return options->running || !kept->n_living;
}

static void say_running(FILE *out, const struct report_options *options, const struct kept *kept)
{
	fputs(options->output == REPORT_TABLE ? "" : "uncore report: ", out);
	record_print_origin(out, &kept->record);
	fprintf(out, kept->n_living == 1 ? ": 1 process still runs" : ": %u processes still run",
		kept->n_living);
	fprintf(out, options->running ? ".\n" : "; --running shows what it did so far.\n");
}

/* --- outputs --- */

static void show_tables(
	const struct report_options *options, const struct kept_list *list, FILE *out)
{
	for (uint32_t i = 0; i < list->n; i++)
		if (report_kept_is_wanted(options, &list->teams[i]))
			record_print(out, &list->teams[i].record);
	if (!list->n && !list->n_unreadable)
		fprintf(out, "uncored keeps nothing of %s user's jobs.\n",
			options->uid == UNCORE_UNKNOWN_USER ? "this" : "that");
}

static int report_kept_show_json(
	const struct report_options *options, const struct kept_list *list, FILE *out)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;

	jsonwriter_init(&json, true);
	jsonwriter_array(&json, NULL);
	for (uint32_t i = 0; i < list->n; i++)
		if (report_kept_is_wanted(options, &list->teams[i]))
			record_json_member(&json, NULL, &list->teams[i].record);
	jsonwriter_close(&json);
	return jsonwriter_print(&json, out);
}

/* It is not known which records may be summed. */
static void show_csv(const struct report_options *options, const struct kept_list *list)
{
	record_csv_titles(stdout);
	for (uint32_t i = 0; i < list->n; i++)
		if (report_kept_is_wanted(options, &list->teams[i]))
			record_csv_lines(stdout, &list->teams[i].record, 0);
}

static int show_output(const struct report_options *options, const struct kept_list *list)
{
	if (options->output == REPORT_JSON)
		return report_kept_show_json(options, list, stdout);
	if (options->output == REPORT_CSV)
		show_csv(options, list);
	else
		show_tables(options, list, stdout);
	return 0;
}

static int report_kept_show_page(
	const struct report_options *options, const struct kept_list *list, struct page *page)
{
	if (!page->file.out)
		return 0;
	show_tables(options, list, page->part[PAGE_TEXT]);
	for (uint32_t i = 0; i < list->n; i++)
		if (report_kept_is_wanted(options, &list->teams[i]))
			report_still(page->part[PAGE_STILL], &list->teams[i].record, NULL);
	report_more_json(options, page, list->n ? list->teams[0].record.platform : "");
	return report_kept_show_json(options, list, page->part[PAGE_DATA]);
}

/* --- all --- */

/* Lines that are not part of JSON and CSV go to stderr. */
static int report_kept_show(const struct report_options *options, const struct kept_list *list)
{
	int r = show_output(options, list);

	for (uint32_t i = 0; i < list->n && r == 0; i++)
		if (list->teams[i].n_living)
			say_running(options->output == REPORT_TABLE ? stdout : stderr, options,
				&list->teams[i]);
	if (list->n_unreadable)
		fprintf(stderr, "uncore report: %s\n", list->why_unreadable);
	return r;
}

static int report_kept_fail(int error)
{
	fprintf(stderr, "uncore report: %s\n",
		error == -ENOMEM ? "There is no memory for what uncored keeps."
				 : uncore_error_text());
	if (error == -EACCES || error == -EPERM)
		fputs("uncore report: without --user it shows what is kept of your own jobs.\n",
			stderr);
	return EXIT_FAILED;
}

/* A team is forgotten only after it was written. */
static int show_and_forget(const struct report_options *options, const struct kept_choice *choice,
	const struct kept_list *list, struct page *page)
{
	int r = report_kept_show(options, list);

	if (r == 0)
		r = report_kept_show_page(options, list, page);
	if (r < 0)
		return report_kept_fail(r);
	if (output_check(stdout, "uncore report", "stdout") < 0 || page_write(page) < 0)
		return EXIT_FAILED;
	if (!options->keep)
		r = kept_forget(choice, list);
	if (r < 0)
		return report_kept_fail(r);
	return list->n_unreadable ? EXIT_FAILED : 0;
}

int report_kept(const struct report_options *options, struct page *page)
{
	const struct kept_choice choice = { .uid = options->uid };
	struct kept_list list;
	int r = kept_get(&choice, &list);
	int status = r < 0 ? report_kept_fail(r) : show_and_forget(options, &choice, &list, page);

	kept_done(&list);
	return status;
}
