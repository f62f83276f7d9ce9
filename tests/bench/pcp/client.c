/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/bench/pcp/client.h"

#include <err.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"

enum { CONNECT_TIMEOUT_S = 10 };

/* Items of cluster 0 of pmdauncore; the no-op agent has the same. */
enum { SOCKET_COUNTERS = 8, SOCKET_COUNTERS_PRESENT = 3 };

static void check(int status, const char *what)
{
	if (status < 0)
		errx(1, "%s: %s", what, pmErrStr(status));
}

/* --- the metrics --- */

static void ask_for_socket_counters(struct request *request, unsigned domain)
{
	request->n_metrics = SOCKET_COUNTERS;
	request->n_values = SOCKET_COUNTERS_PRESENT * SOCKETS;
	for (unsigned item = 0; item < SOCKET_COUNTERS; item++)
		request->metrics[item] = pmID_build(domain, 0, item);
}

/* Takes the counts of boxes; pmdaperfevent also names ".dutycycle" and the kernel's own events. */
static void add_metric(const char *name, void *argument)
{
	struct request *request = argument;
	const char *leaf = strrchr(name, '.');

	if (!strstr(name, ".uncore_standin_") || !leaf || strcmp(leaf, ".value"))
		return;
	if (request->n_metrics == ARRAY_SIZE(request->metrics))
		errx(1, "pmdaperfevent has more events than the machine.");
	check(pmLookupName(1, &name, &request->metrics[request->n_metrics++]), name);
}

static void ask_for_perfevent(struct request *all, struct request *one)
{
	check(pmTraversePMNS_r("perfevent.hwcounters", add_metric, all), "perfevent.hwcounters");
	all->n_values = COUNTERS;
	one->n_metrics = 1;
	one->n_values = SOCKETS;
	one->metrics[0] = all->metrics[0];
}

/* --- fetching --- */

static void check_values(const struct request *request, const pmResult *result)
{
	unsigned n_values = 0;

	for (int i = 0; i < result->numpmid; i++) {
		check(result->vset[i]->numval, pmIDStr(result->vset[i]->pmid));
		n_values += (unsigned)result->vset[i]->numval;
	}
	if (n_values != request->n_values)
		errx(1, "A fetch of %s and others has %u values instead of %u.",
			pmIDStr(request->metrics[0]), n_values, request->n_values);
}

static double time_fetch(const struct request *request)
{
	uint64_t begin_ns = clock_now_ns(), end_ns;
	pmResult *result;

	check(pmFetch((int)request->n_metrics, (pmID *)request->metrics, &result), "pmFetch");
	end_ns = clock_now_ns();
	check_values(request, result);
	pmFreeResult(result);
	return (double)(end_ns - begin_ns) / 1e3;
}

static double time_fresh_read(const struct uncore *uncore)
{
	struct uncore_sample samples[SOCKETS] = { UNCORE_SAMPLE_INIT, UNCORE_SAMPLE_INIT };
	uint64_t begin_ns = clock_now_ns();

	if (uncore_read_all(uncore, UNCORE_FRESH, samples, SOCKETS) < 0)
		errx(1, "%s", uncore_error_text());
	return (double)(clock_now_ns() - begin_ns) / 1e3;
}

double client_time_us(const struct client *client, enum kind kind)
{
	switch (kind) {
	case FRESH_AGAIN:
		time_fresh_read(client->uncore);
		return time_fresh_read(client->uncore);
	case FRESH:
		return time_fresh_read(client->uncore);
	default:
		return time_fetch(&client->requests[kind]);
	}
}

static uint64_t sweeps_so_far(const struct client *client)
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;

	if (uncore_read(client->uncore, 0, UNCORE_CACHED, &sample) < 0)
		errx(1, "%s", uncore_error_text());
	return sample.sweep;
}

/* A fetch that took no sweep would be fast, and not worth measuring. */
static void check_fresh(const struct client *client, enum kind kind)
{
	uint64_t before = sweeps_so_far(client);

	client_time_us(client, kind);
	if (sweeps_so_far(client) == before)
		errx(1, "A fetch of pmdauncore was answered without a sweep.");
}

/* --- connecting --- */

static void connect_pmcd(void)
{
	uint64_t deadline_ns = clock_deadline_ns(CONNECT_TIMEOUT_S * 1000000000ULL);
	int status;

	while ((status = pmNewContext(PM_CONTEXT_HOST, "local:")) < 0 &&
		clock_now_ns() < deadline_ns)
		usleep(20000);
	check(status, "Cannot connect to the private pmcd");
}

void client_open(struct client *client, const char *uncored_socket)
{
	*client = (struct client){};
	connect_pmcd();
	if (uncore_open(uncored_socket, &client->uncore) < 0)
		errx(1, "%s", uncore_error_text());
	uncore_set_timeout(client->uncore, 5000000000U);
	ask_for_socket_counters(&client->requests[FLOOR_PIPE], DOMAIN_FLOOR_PIPE);
	ask_for_socket_counters(&client->requests[FLOOR_DSO], DOMAIN_FLOOR_DSO);
	ask_for_socket_counters(&client->requests[OURS_PIPE], DOMAIN_OURS_PIPE);
	ask_for_socket_counters(&client->requests[OURS_DSO], DOMAIN_OURS_DSO);
	ask_for_perfevent(&client->requests[PERFEVENT], &client->requests[PERFEVENT_ONE]);
	check_fresh(client, OURS_PIPE);
	check_fresh(client, OURS_DSO);
}

void client_close(struct client *client)
{
	pmDestroyContext(pmWhichContext());
	uncore_close(client->uncore);
}
