/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "client/command/frame/standing.h"
#include "common/macro.h"
#include "tests/harness/test.h"

enum { BOXES_MAX = 12, LEAST = STANDING_LEAST_BYTES };
enum { READ, WRITE, METRICS };

/* What each box of a socket does: R has counted reads and stands still now, r counts reads, 0 has
 * none of them; W, w and 0 likewise, for writes; - is absent. */
struct scene {
	const char *reads, *writes, *want; /* "read imc3 still, .." */
};

static void add(const char *what, uint32_t metric, struct standing_box boxes[], uint32_t *n)
{
	static const char *const names[METRICS] = { "dram.read", "dram.write" };
	static const char *const channels[BOXES_MAX] = { "imc0", "imc1", "imc2", "imc3", "imc4",
		"imc5", "imc6", "imc7", "imc8", "imc9", "imc10", "imc11" };

	for (uint32_t i = 0; what[i]; i++)
		boxes[(*n)++] = (struct standing_box){
			.socket = 1,
			.metric = metric,
			.metric_name = names[metric],
			.name = channels[i],
			.is_absent = what[i] == '-',
			.moved = what[i] == 'r' || what[i] == 'w' ? LEAST
				 : what[i] == 's'                 ? 1
								  : 0,
			.ever = strchr("rwRWs", what[i]) ? LEAST : 0,
		};
}

static void check(const struct scene *scene)
{
	static const char *const kinds[] = { "still", "never", "empty" };
	struct standing_box boxes[METRICS * BOXES_MAX];
	struct standing found[METRICS * BOXES_MAX];
	char text[512] = "";
	uint32_t n = 0, n_found;

	add(scene->reads, READ, boxes, &n);
	add(scene->writes, WRITE, boxes, &n);
	n_found = standing_judge(boxes, n, LEAST, found);
	for (uint32_t i = 0; i < n_found; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s %s %s",
			i ? ", " : "", found[i].metric == READ ? "read" : "write", found[i].name,
			kinds[found[i].kind]);
	if (strcmp(text, scene->want) != 0)
		fail_msg("%s and %s: \"%s\", not \"%s\"", scene->reads, scene->writes, text,
			scene->want);
}

CASE("a box that stands at 0 while its sisters count is told, and boxes without memory are not")
{
	static const struct scene scenes[] = {
		{ "rrrrrrrr", "wwwwwwww", "" },
		/* It counted before. */
		{ "rrrRrrrr", "wwwwwwww", "read imc3 still" },
		{ "rrrRrrrr", "wwwWwwww", "read imc3 still, write imc3 still" },
		/* It counts the other metric of its tier. */
		{ "rrr0rrrr", "wwwwwwww", "read imc3 still" },
		{ "rrrrrrrr", "wwwwwww0", "write imc7 still" },
		/* It never counted, and is alone. */
		{ "rrr0rrrr", "www0wwww", "read imc3 never, write imc3 never" },
		{ "rrr0", "www0", "read imc3 never, write imc3 never" },
		/* Others are like it: 10 of 12, a half, 1 of 2. */
		{ "rrrrrrrrrr00", "wwwwwwwwww00",
			"read imc10 empty, read imc11 empty, write imc10 empty, write imc11 "
			"empty" },
		{ "r0r0r0r0", "w0w0w0w0",
			"read imc1 empty, read imc3 empty, read imc5 empty, read imc7 empty, "
			"write imc1 empty, write imc3 empty, write imc5 empty, write imc7 empty" },
		{ "r0", "w0", "read imc1 empty, write imc1 empty" },
		/* Beside empty ones, one that does not count. */
		{ "rrrrrrrrR000", "wwwwwwwww000",
			"read imc8 still, read imc9 empty, read imc10 empty, read imc11 empty, "
			"write imc9 empty, write imc10 empty, write imc11 empty" },
		/* The memory of other NUMA nodes rests. */
		{ "rrRR", "wwWW", "" },
		{ "rrrrrRRR", "wwwwwwww", "" },
		/* Too little moved to say anything. */
		{ "rrrRrrrs", "wwwwwwww", "" },
		{ "RRRRRRRR", "WWWWWWWW", "" },
		{ "00000000", "00000000", "" },
		/* A box that cannot be read is flagged by uncored. */
		{ "rrr-rrrr", "www-wwww", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(scenes); i++)
		check(&scenes[i]);
}
