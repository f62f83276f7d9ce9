/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/stat/stat-run.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "client/command/page/still.h"
#include "client/report/format.h"
#include "client/report/quantity.h"
#include "common/jsonwriter.h"
#include "common/macro.h"
#include "common/text.h"
#include "common/unit.h"

enum { DIGITS = 5 };

/* --- a column for each value of each row --- */

void stat_course_name(const struct format_socket *shown, char ret_name[STAT_COURSE_NAME_MAX])
{
	*ret_name = '\0';
	if (shown->socket == FORMAT_ALL_SOCKETS)
		text_append(ret_name, STAT_COURSE_NAME_MAX, "all sockets");
	else
		text_append(ret_name, STAT_COURSE_NAME_MAX, "socket %" PRIu32, shown->socket);
	if (shown->part)
		text_append(ret_name, STAT_COURSE_NAME_MAX, ", %s", shown->part);
}

static uint32_t stat_course_count_columns(const struct total *total, const struct uncore *handle)
{
	struct format_socket shown;
	uint32_t n = 0;

	for (uint32_t row = 0; row < total_n_rows(total); row++) {
		total_show(total, handle, row, &shown);
		n += shown.n_values;
	}
	return n;
}

void stat_course_note(struct stat_run *run, const struct total *interval, struct course_point time)
{
	const struct uncore *handle = run->reader.handle;
	struct course_cell *cell =
		course_next(&run->course, stat_course_count_columns(interval, handle), time);
	struct format_socket shown;

	for (uint32_t row = 0; cell && row < total_n_rows(interval); row++) {
		total_show(interval, handle, row, &shown);
		for (uint32_t i = 0; i < shown.n_values; i++) {
			const struct format_value *value = &shown.values[i];
			const bool is_absent = value->quality & UNCORE_ABSENT;

			course_note(cell++, is_absent ? NAN : value->rate, value->quality, time);
		}
	}
}

/* --- the course as JSON --- */

static double figure_of(const struct course_cell *cell, int figure)
{
	const double figures[] = { cell->sum / cell->ns, cell->least, cell->most };

	return cell->ns > 0 ? figures[figure] : NAN;
}

/* A point of one interval has no least and most. */
static void write_rates(struct jsonwriter *json, const struct course *course, uint32_t column)
{
	static const char *const keys[] = { "rate", "least", "most" };

	for (int figure = 0; figure < (course->per_point > 1 ? 3 : 1); figure++) {
		jsonwriter_array(json, keys[figure]);
		for (size_t i = 0; i < course->n; i++)
			jsonwriter_rounded(json, NULL,
				figure_of(&course_cells(course, i)[column], figure), DIGITS);
		jsonwriter_close(json);
	}
}

/* Flags of each point; stat_course_json() has their words. */
static void stat_course_write_quality(
	struct jsonwriter *json, const struct course *course, uint32_t column)
{
	jsonwriter_array(json, "quality");
	for (size_t i = 0; i < course->n; i++)
		jsonwriter_number(json, NULL, course_cells(course, i)[column].quality);
	jsonwriter_close(json);
}

/* Points @first to @end - 1 as one. */
static struct course_cell stat_course_fold(
	const struct course *course, uint32_t column, size_t first, size_t end)
{
	struct course_cell all = {};

	for (size_t i = first; i < end; i++)
		course_add(&all, &course_cells(course, i)[column]);
	return all;
}

/* Null: it is never known. */
static void write_column(struct jsonwriter *json, const struct course *course, uint32_t column)
{
	const struct course_cell all = stat_course_fold(course, column, 0, course->n);

	if (all.ns <= 0) {
		jsonwriter_text(json, NULL, NULL);
		return;
	}
	jsonwriter_object(json, NULL);
	write_rates(json, course, column);
	if (all.quality)
		stat_course_write_quality(json, course, column);
	jsonwriter_close(json);
}

static void stat_course_write_times(struct jsonwriter *json, const struct course *course)
{
	for (int is_end = 0; is_end < 2; is_end++) {
		jsonwriter_array(json, is_end ? "end_us" : "begin_us");
		for (size_t i = 0; i < course->n; i++)
			jsonwriter_number(json, NULL,
				(is_end ? course->points[i].end_ns : course->points[i].begin_ns) /
					1000);
		jsonwriter_close(json);
	}
}

/* The words of each flag: of bit 0, bit 1.. */
static void write_words(struct jsonwriter *json)
{
	char words[FORMAT_QUALITY_MAX];

	jsonwriter_array(json, "words");
	for (unsigned bit = 0; bit < 32; bit++) {
		uncore_quality_words(UINT32_C(1) << bit, words, sizeof words);
		jsonwriter_text(json, NULL, words);
	}
	jsonwriter_close(json);
}

/* --- the course without scripts --- */

/* A still picture of a column that is known at some time. */
static void stat_course_write_still(
	struct still *still, const struct course *course, uint32_t column, const char *name)
{
	const struct course_cell all = stat_course_fold(course, column, 0, course->n);
	struct still_band bands[STILL_WIDTH];

	for (size_t i = 0; i < STILL_WIDTH; i++) {
		const size_t first = i * course->n / STILL_WIDTH;
		const size_t end = (i + 1) * course->n / STILL_WIDTH;
		const struct course_cell band =
			stat_course_fold(course, column, first, end > first ? end : first + 1);

		bands[i] = (struct still_band){ figure_of(&band, 1), figure_of(&band, 2) };
	}
	still->most = all.most;
	if (all.ns > 0)
		still_row(still, name, (double[2]){ figure_of(&all, 0), all.most }, bands);
}

/* Of metrics in bytes. */
void stat_course_still(const struct stat_run *run, FILE *out)
{
	const struct course *course = &run->course;
	struct still still = { .out = out,
		.caption = "Rates over time, each from 0 to its highest",
		.columns = { "Metric", "Over time", "Mean", "Highest" },
		.write = quantity_rate };
	uint32_t column = 0;

	still_begin(&still);
	for (uint32_t row = 0; course->n && row < total_n_rows(&run->total); row++) {
		struct format_socket shown;
		char name[STAT_COURSE_NAME_MAX];
		size_t n;

		total_show(&run->total, run->reader.handle, row, &shown);
		stat_course_name(&shown, name);
		n = strlen(name);
		for (uint32_t i = 0; i < shown.n_values && column < course->n_columns; i++) {
			snprintf(name + n, sizeof name - n, " %s", shown.values[i].name);
			if (unit_is_bytes(shown.values[i].unit) &&
				!format_is_check(shown.values[i].name))
				stat_course_write_still(&still, course, column, name);
			column++;
		}
	}
	still_end(&still);
}

void stat_course_json(const struct stat_run *run, FILE *out)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;

	jsonwriter_init(&json, false);
	jsonwriter_object(&json, NULL);
	jsonwriter_text(&json, "caveat", format_warning(run->reader.machine.platform));
	jsonwriter_number(&json, "intervals", run->course.n_intervals);
	jsonwriter_number(&json, "intervals_per_point", run->course.per_point);
	stat_course_write_times(&json, &run->course);
	write_words(&json);
	jsonwriter_array(&json, "columns");
	for (uint32_t i = 0; i < run->course.n_columns; i++)
		write_column(&json, &run->course, i);
	jsonwriter_close(&json);
	jsonwriter_close(&json);
	jsonwriter_print(&json, out);
}
