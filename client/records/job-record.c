/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/records/job-record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "client/records/parse-region.h"
#include "common/macro.h"
#include "common/number.h"
#include "common/unit.h"

/* --- figures --- */

/* The first socket defines the metrics and their units. */
static void parse_metrics(const struct json_reader *socket, struct record *record)
{
	const struct json_reader metrics = json_reader_object(socket, "metrics");
	const struct json_value *key = NULL;
	const char *name;

	while ((name = json_reader_next_key(&metrics, &key))) {
		char *unit = parse_metric(&metrics, name, record);
		const struct json_reader metric = json_reader_object(&metrics, name);

		if (!unit)
			return;
		strcpy(unit, UNIT_BYTES);
		if (json_reader_has(&metric, "unit"))
			json_reader_text(&metric, "unit",
				(struct json_reader_text){ unit, UNCORE_NAME_MAX });
	}
}

static void parse_used(const struct json_reader *reader, uint64_t quantum_bytes, struct record *ret)
{
	struct record_region *region = &ret->regions[0];
	struct record_socket *socket = &region->sockets[region->n_sockets++];

	parse_socket(reader, ret, socket);
	socket->quantum_bytes = quantum_bytes > 1 ? quantum_bytes : 0;
}

static void parse_sockets(const struct json_reader *reader, struct record *ret)
{
	const uint64_t quantum = (uint64_t)json_reader_number_or(reader, "quantum", INT64_MAX, 0);
	const struct json_reader list = json_reader_list(reader, "sockets", PARSE_SOCKETS_MOST);

	ret->regions[0].sockets = json_reader_room(&list, sizeof(struct record_socket));
	JSON_READER_EACH (&list, socket) {
		if (socket.index == 0)
			parse_metrics(&socket, ret);
		if (json_reader_flag(&socket, "used"))
			parse_used(&socket, quantum, ret);
		else
			ret->batch.n_unused++;
	}
}

/* --- the rest --- */

enum { SECOND_NS = 1000000000, MILLISECOND_NS = 1000000 };

static const int64_t SECONDS_MOST = 9000000000; /* in the year 2255; still fits in ns */

/* Reads the text of record_time_ms() back. -EINVAL: *@ret_real_ns is untouched. */
static int read_time(const char *text, int64_t *ret_real_ns)
{
	struct tm parts = { .tm_sec = 0 };
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S.", &parts);
	uint64_t milliseconds;
	int64_t seconds;

	if (!rest || strlen(rest) != strlen("123Z"))
		return -EINVAL;
	rest = number_parse(rest, 10, 999, &milliseconds);
	seconds = timegm(&parts);
	if (!rest || strcmp(rest, "Z") != 0 || seconds < 0 || seconds > SECONDS_MOST)
		return -EINVAL;
	*ret_real_ns = seconds * SECOND_NS + (int64_t)milliseconds * MILLISECOND_NS;
	return 0;
}

static void parse_time(const struct json_reader *reader, const char *key, int64_t *ret_ns)
{
	char text[RECORD_TIME_MAX];

	json_reader_free_text(reader, key, JSON_READER_TEXT(text));
	if (*text && read_time(text, ret_ns) < 0)
		json_reader_fail(reader, key, "is not a time like 2026-11-21T22:45:01.123Z");
}

static void parse_origin(const struct json_reader *reader, struct record *ret)
{
	parse_batch(reader, ret);
	json_reader_text(reader, "job", JSON_READER_TEXT(ret->job));
	if (!job_id_is_valid(ret->job))
		json_reader_fail(reader, "job", "is not the ID of a job");
	json_reader_free_text(reader, "run", (struct json_reader_text){ ret->step, JOB_KEY_BYTES });
	json_reader_free_text(reader, "host", JSON_READER_TEXT(ret->host));
	parse_time(reader, "begin", &ret->begun_ns);
	parse_time(reader, "end", &ret->ended_ns);
	snprintf(ret->regions[0].name, RECORD_NAME_BYTES, "%.63s", ret->job);
	ret->batch.monotonic_ns =
		(uint64_t)json_reader_number_or(reader, "monotonic_ns", INT64_MAX, 0);
}

/* A record without figures has no platform to compare. */
static void parse_figures(const struct json_reader *reader, struct record *ret)
{
	if (json_reader_flag(reader, "complete")) {
		json_reader_free_text(reader, "platform", JSON_READER_TEXT(ret->platform));
		if (json_reader_kind(reader, "generation") == JSON_TEXT)
			parse_generation(reader, ret->generation);
		parse_sockets(reader, ret);
		return;
	}
	ret->failure = parse_sentences(reader, "why", RECORD_FAILURE_BYTES);
	if (!ret->failure)
		ret->failure = strdup("The record does not say why.");
}

void job_record_parse(const struct json_reader *reader, struct record *ret)
{
	ret->regions = calloc(1, sizeof *ret->regions);
	ret->n_regions = ret->regions != NULL;
	if (!ret->regions) {
		json_reader_fail(reader, NULL, "is too long for the memory");
		return;
	}
	parse_origin(reader, ret);
	parse_figures(reader, ret);
}
