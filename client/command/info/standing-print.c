/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/output.h"
#include "client/command/frame/standing.h"
#include "client/command/info/info.h"
#include "client/libuncore/uncore.h"
#include "common/macro.h"
#include "common/text.h"

/* The last sweeps; their counts go back to the begin of uncored. 0; negative errno. */
static int standing_read_all(const struct uncore *handle, struct uncore_channel_value values[])
{
	struct uncore_socket socket = UNCORE_SOCKET_INIT;
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	int r = 0;

	for (uint32_t i = 0; r >= 0 && uncore_describe_socket(handle, i, &socket) == 0; i++)
		r = uncore_read_channels(handle, i, UNCORE_CACHED, &sample,
			&values[socket.first_channel], socket.n_channels);
	return r;
}

/* A box without any count stands at 0 in each metric of its tier; it is told once. */
static bool standing_is_told(const struct standing all[], int number)
{
	for (int i = 0; i < number; i++)
		if (all[i].kind == all[number].kind && all[i].kind != STANDING_STILL &&
			all[i].socket == all[number].socket &&
			strcmp(all[i].name, all[number].name) == 0)
			return true;
	return false;
}

static void print_alarm(const struct uncore *handle, const struct standing *one)
{
	char line[256];

	if (one->kind == STANDING_STILL)
		snprintf(line, sizeof line,
			"%s of socket %" PRIu32
			" is too low: %s stands at 0 since uncored began, while its %" PRIu32
			" sisters counted",
			uncore_metric_name(handle, one->metric), one->socket, one->name,
			one->n_sisters);
	else
		snprintf(line, sizeof line,
			"%s of socket %" PRIu32
			" has counted nothing since uncored began, while its %" PRIu32
			" sisters counted: if no memory is fitted there, that is right (`uncore "
			"validate` shows whether bytes are missing)",
			one->name, one->socket, one->n_sisters);
	output_labelled("boxes", line);
}

/* All boxes of the socket of @all[@first] that never counted; nothing if they were told. */
static void print_empty(const struct standing all[], int n, int first)
{
	char line[512];

	for (int i = 0; i < first; i++)
		if (all[i].kind == STANDING_EMPTY && all[i].socket == all[first].socket)
			return;
	snprintf(line, sizeof line, "socket %" PRIu32 ":", all[first].socket);
	for (int i = first; i < n; i++)
		if (all[i].kind == STANDING_EMPTY && all[i].socket == all[first].socket &&
			!standing_is_told(all, i))
			text_append(line, sizeof line, " %s", all[i].name);
	text_append(line, sizeof line,
		" have counted nothing since uncored began: if no memory is fitted there, that is "
		"right (`uncore validate` shows whether bytes are missing)");
	output_labelled("boxes", line);
}

void standing_print(const struct uncore *handle)
{
	struct uncore_machine machine = UNCORE_MACHINE_INIT;
	_cleanup_free_ struct uncore_channel_value *values = NULL;
	_cleanup_free_ struct standing *all = NULL;
	int n = 0;

	uncore_describe(handle, &machine);
	values = calloc(machine.n_channels + 1U, sizeof *values);
	if (values && standing_read_all(handle, values) >= 0)
		n = standing_find(handle, NULL, values, &all);
	for (int i = 0; i < n; i++)
		if (all[i].kind == STANDING_EMPTY)
			print_empty(all, n, i);
		else if (!standing_is_told(all, i))
			print_alarm(handle, &all[i]);
}
