/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>

#include "client/command/frame/validated.h"
#include "client/command/markers/lines.h"
#include "client/command/report/arrays.h"
#include "client/command/report/candidates.h"
#include "client/report/columns.h"
#include "client/report/derived.h"
#include "client/report/quantity.h"
#include "common/jsonwriter.h"
#include "common/macro.h"

enum { SHOWN_MOST = 8, PLACE_BYTES = 512 };

/* --- where an array was allocated --- */

/* Does the place belong to what most programs share, such as libstdc++? */
static bool is_systems(const char *place)
{
	return strncmp(place, "/usr/", 5) == 0 || strncmp(place, "/lib", 4) == 0 || *place == '0';
}

/*
 * The line in a source of the program, if one of the frames has it; else the first frame that is in
 * a module of its own.
 */
static void arrays_find_place(const struct array *array, char ret[PLACE_BYTES])
{
	char frame[PLACE_BYTES];

	*ret = '\0';
	if (array->module) {
		snprintf(ret, PLACE_BYTES, "%s in %s", array->key, array->module);
		return;
	}
	for (const char *at = array->key; *at; at += strcspn(at, "\n") + 1) {
		const char *line;

		snprintf(frame, sizeof frame, "%.*s", (int)strcspn(at, "\n"), at);
		line = lines_of_place(frame);
		if (line && !is_systems(line)) {
			snprintf(ret, PLACE_BYTES, "%s", line);
			return;
		}
		if (!*ret || is_systems(ret))
			snprintf(ret, PLACE_BYTES, "%.*s", (int)strcspn(frame, " "), frame);
	}
}

/* --- how long a region would take at least --- */

struct bound {
	double peak;     /* bytes per ns; 0: not known */
	const char *why; /* it is not */
};

static struct bound find_bound(const struct join *join, const struct record_region *row)
{
	_cleanup_(validated_done) struct validated validated = { .report = NULL };
	double sum = 0;

	if (!validated_read(&validated, join->total.platform))
		return (struct bound){ .why = "`uncore validate --keep` has not run on this "
					      "machine for this platform" };
	for (uint32_t i = 0; i < row->n_sockets; i++) {
		const double peak = validated_peak_of(&validated, row->sockets[i].socket, "hbm");

		if (row->sockets[i].sums)
			return (struct bound){ .why = "the figures are of several nodes" };
		if (!(peak > 0))
			return (struct bound){
				.why = "`uncore validate --keep` has no bandwidth of "
				       "HBM on these sockets"
			};
		sum += peak;
	}
	return (struct bound){ sum, sum > 0 ? NULL : "the region has no figures" };
}

/* --- the table --- */

static void print_arrays(const struct arrays *arrays, const char *region)
{
	char size[QUANTITY_MAX], place[PLACE_BYTES];
	const struct array *all;
	const size_t n = arrays_of(arrays, region, &all);
	double rest = 0;

	for (size_t i = 0; i < n; i++) {
		if (i >= SHOWN_MOST) {
			rest += all[i].bytes;
			continue;
		}
		quantity_bytes(all[i].bytes, size);
		arrays_find_place(&all[i], place);
		if (all[i].module)
			printf("   %10s  %s\n", size, place);
		else
			printf("   %10s  %.0f by %s: %s\n", size, all[i].n, all[i].kind,
				*place ? place : "not told apart");
	}
	if (n <= SHOWN_MOST)
		return;
	quantity_bytes(rest, size);
	printf("   %10s  at %zu other places\n", size, n - SHOWN_MOST);
}

static void arrays_print_head(const struct arrays *arrays, const char *region)
{
	char size[QUANTITY_MAX], name[COLUMN_CELL_MAX];
	const struct array *all;
	const size_t n = arrays_of(arrays, region, &all);
	double bytes = 0, count = 0;

	for (size_t i = 0; i < n; i++) {
		bytes += all[i].bytes;
		count += all[i].n;
	}
	quantity_bytes(bytes, size);
	columns_name(region, name);
	if (n)
		printf("\n region %s: %.0f %s of %s\n", name, count, count > 1 ? "arrays" : "array",
			size);
	else
		printf("\n region %s: none was allocated\n", name);
}

static void print_bound(const struct join *join, const struct candidate *one)
{
	const struct bound bound = find_bound(join, &one->row);
	char peak[QUANTITY_MAX], least[QUANTITY_MAX], whole[QUANTITY_MAX], bytes[QUANTITY_MAX];

	quantity_bytes(one->bytes, bytes);
	if (!(bound.peak > 0)) {
		printf("   No lower bound of its time in HBM: %s.\n", bound.why);
		return;
	}
	quantity_rate(bound.peak, peak);
	quantity_time(one->bytes / bound.peak, least);
	quantity_time(one->bytes / one->rate, whole);
	printf("   Lower bound: its %s of DRAM%s take at least %s of %s at HBM's validated peak of "
	       "%s.\n",
		bytes, strcmp(one->basis, "share") == 0 ? " (a share)" : "", least, whole, peak);
}

static void print_static(const struct arrays *arrays)
{
	char size[QUANTITY_MAX];
	const struct array *all;

	if (arrays_of(arrays, "", &all)) {
		printf("\n static, in all regions:\n");
		print_arrays(arrays, "");
	}
	if (arrays->unnamed_bytes > 0) {
		quantity_bytes(arrays->unnamed_bytes, size);
		printf("\n %s of static data have no names: symbols of the program or of a library "
		       "were stripped.\n",
			size);
	}
}

static void print_caveats(const struct arrays *arrays)
{
	char size[QUANTITY_MAX];

	quantity_bytes((double)arrays->least_bytes, size);
	printf("\n Arrays of at least %s that were there while a region was open, each place with "
	       "the "
	       "most that\n it had. What moved from and to each of them is not known.\n",
		size);
	if (arrays->n_lost)
		printf(" %llu blocks are missing, because the program had no memory for their "
		       "table.\n",
			(unsigned long long)arrays->n_lost);
}

static void arrays_print_table(
	const struct arrays *arrays, const struct join *join, const struct candidates *candidates)
{
	for (size_t i = 0; i < candidates->n; i++) {
		arrays_print_head(arrays, candidates->all[i].row.name);
		print_arrays(arrays, candidates->all[i].row.name);
		print_bound(join, &candidates->all[i]);
	}
	for (size_t i = 0; !join && i < arrays->n; i++)
		if (*arrays->all[i].region &&
			(!i || strcmp(arrays->all[i].region, arrays->all[i - 1].region) != 0)) {
			arrays_print_head(arrays, arrays->all[i].region);
			print_arrays(arrays, arrays->all[i].region);
		}
	print_static(arrays);
	print_caveats(arrays);
}

/* --- JSON --- */

static void write_arrays(
	struct jsonwriter *json, const char *key, const struct arrays *arrays, const char *region)
{
	const struct array *all;
	const size_t n = arrays_of(arrays, region, &all);
	char place[PLACE_BYTES];

	jsonwriter_array(json, key);
	for (size_t i = 0; i < n; i++) {
		arrays_find_place(&all[i], place);
		jsonwriter_object(json, NULL);
		jsonwriter_text(json, "kind", all[i].kind);
		jsonwriter_text_or_null(json, "place", place);
		jsonwriter_real(json, "most_bytes", all[i].bytes);
		jsonwriter_real(json, "most_blocks", all[i].n);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
}

static void write_candidate(struct jsonwriter *json, const struct arrays *arrays,
	const struct join *join, const struct candidate *one)
{
	const struct bound bound = find_bound(join, &one->row);

	jsonwriter_object(json, NULL);
	jsonwriter_text(json, "region", one->row.name);
	jsonwriter_text(json, "basis", one->basis);
	jsonwriter_rounded(json, "bytes", one->bytes, 15);
	jsonwriter_rounded(json, "window_ns", one->bytes / one->rate, 15);
	jsonwriter_real(json, "hbm_at_least_ns", bound.peak > 0 ? one->bytes / bound.peak : NAN);
	jsonwriter_text_if_any(json, "why_no_bound", bound.why ? bound.why : "");
	write_arrays(json, "arrays", arrays, one->row.name);
	jsonwriter_close(json);
}

static int arrays_print_json(
	const struct arrays *arrays, const struct join *join, const struct candidates *candidates)
{
	_cleanup_(jsonwriter_done) struct jsonwriter json;

	jsonwriter_init(&json, true);
	jsonwriter_object(&json, NULL);
	jsonwriter_number(&json, "least_bytes", arrays->least_bytes);
	jsonwriter_array(&json, "regions");
	for (size_t i = 0; i < candidates->n; i++)
		write_candidate(&json, arrays, join, &candidates->all[i]);
	for (size_t i = 0; !join && i < arrays->n; i++)
		if (*arrays->all[i].region &&
			(!i || strcmp(arrays->all[i].region, arrays->all[i - 1].region) != 0)) {
			jsonwriter_object(&json, NULL);
			jsonwriter_text(&json, "region", arrays->all[i].region);
			write_arrays(&json, "arrays", arrays, arrays->all[i].region);
			jsonwriter_close(&json);
		}
	jsonwriter_close(&json);
	write_arrays(&json, "static", arrays, "");
	jsonwriter_real(&json, "unnamed_bytes", arrays->unnamed_bytes);
	jsonwriter_number(&json, "lost_blocks", arrays->n_lost);
	jsonwriter_close(&json);
	return jsonwriter_print(&json, stdout);
}

/* Without --candidates, all regions that moved bytes of DRAM are there, in the same order. */
int arrays_show(const struct report_options *options, const struct arrays *arrays,
	const struct join *join, const char *notes)
{
	_cleanup_(candidates_done) struct candidates candidates = { .all = NULL };
	const bool is_json = options->output == REPORT_JSON;
	int r = join ? candidates_find(join, options->candidates, &candidates) : 0;

	if (r == 0 && is_json)
		r = arrays_print_json(arrays, join, &candidates);
	else if (r == 0)
		arrays_print_table(arrays, join, &candidates);
	if (r == 0)
		fputs(notes, is_json ? stderr : stdout);
	return r;
}
