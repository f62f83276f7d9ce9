/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pcp-fetch N INTERVAL_MS METRIC...: one PCP client that fetches these metrics N times, all in one
 * request. With N = 0 it fetches once for every line that it reads.
 *
 * Each fetch becomes a line of JSON: when it began (CLOCK_MONOTONIC), how long it took, and for
 * each metric its values by instance number, or the error code in place of them:
 *
 *	{"begin_ns":1,"took_ns":2,"values":{"uncore.dram.read":{"0":3,"1":4},"uncore.hbm.read":-12357}}
 *
 * Where pmcd itself does not answer the line has "error" in place of "values".
 */
#include <err.h>
#include <errno.h>
#include <inttypes.h>
#include <pcp/pmapi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { METRICS_MAX = 64 };

struct request {
	int n;
	const char **names;
	pmID ids[METRICS_MAX];
	int types[METRICS_MAX];
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static void look_up(struct request *request)
{
	pmDesc desc;
	int r = pmLookupName(request->n, request->names, request->ids);

	if (r < 0)
		errx(1, "pmLookupName: %s", pmErrStr(r));
	for (int i = 0; i < request->n; i++) {
		r = pmLookupDesc(request->ids[i], &desc);
		if (r < 0)
			errx(1, "pmLookupDesc of %s: %s", request->names[i], pmErrStr(r));
		request->types[i] = desc.type;
	}
}

static void print_value(const pmValueSet *set, int i, int type)
{
	pmAtomValue atom;
	bool is_text = type == PM_TYPE_STRING;
	int r = pmExtractValue(
		set->valfmt, &set->vlist[i], type, &atom, is_text ? type : PM_TYPE_U64);

	if (r < 0)
		errx(1, "pmExtractValue: %s", pmErrStr(r));
	printf("%s\"%d\":", i ? "," : "", set->vlist[i].inst);
	if (is_text) {
		printf("\"%s\"", atom.cp); /* no text of the agent has a quote or a backslash */
		free(atom.cp);
	} else {
		printf("%" PRIu64, atom.ull);
	}
}

static void print_values(const struct request *request, const pmResult *result)
{
	printf("\"values\":{");
	for (int i = 0; i < request->n; i++) {
		const pmValueSet *set = result->vset[i];

		printf("%s\"%s\":", i ? "," : "", request->names[i]);
		if (set->numval < 0) {
			printf("%d", set->numval);
			continue;
		}
		printf("{");
		for (int j = 0; j < set->numval; j++)
			print_value(set, j, request->types[i]);
		printf("}");
	}
	printf("}");
}

static void fetch(struct request *request)
{
	uint64_t begin_ns = now_ns();
	pmResult *result;
	int r = pmFetch(request->n, request->ids, &result);

	printf("{\"begin_ns\":%" PRIu64 ",\"took_ns\":%" PRIu64 ",", begin_ns, now_ns() - begin_ns);
	if (r < 0) {
		printf("\"error\":%d", r);
		pmReconnectContext(pmWhichContext());
	} else {
		print_values(request, result);
		pmFreeResult(result);
	}
	printf("}\n");
	fflush(stdout);
}

/* pmcd refuses connections while more than a few wait for it to accept them. */
static int connect_patiently(void)
{
	enum { ATTEMPTS = 1000, PAUSE_US = 10000 };
	int r = -ECONNREFUSED;

	for (int i = 0; i < ATTEMPTS && r == -ECONNREFUSED; i++) {
		if (i)
			usleep(PAUSE_US);
		r = pmNewContext(PM_CONTEXT_HOST, "local:");
	}
	return r;
}

int main(int argc, char *argv[])
{
	struct request request = { .n = argc - 3, .names = (const char **)argv + 3 };
	char line[16];
	int n, r;

	if (request.n < 1 || request.n > METRICS_MAX)
		errx(2, "Usage: pcp-fetch N INTERVAL_MS METRIC...");
	n = atoi(argv[1]);
	r = connect_patiently();
	if (r < 0)
		errx(1, "pmNewContext: %s", pmErrStr(r));
	look_up(&request);
	if (n == 0) {
		while (fgets(line, sizeof line, stdin))
			fetch(&request);
		return 0;
	}
	for (int i = 0; i < n; i++) {
		fetch(&request);
		usleep((unsigned)atoi(argv[2]) * 1000);
	}
	return 0;
}
