/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * driver PLUGIN FOLDER WORD.. loads a plugin, calls it as Score-P 8.4 does, and writes a trace.
 * The metrics are in SCOREP_METRIC_<PLUGIN>, as for Score-P. A word is something that the "program"
 *does:
 *
 *	+NAME -NAME       enters or leaves a region
 *	SOCKET:KIND:N     moves N lines (KIND 0 reads, 1 writes)
 *	sleep:MS
 *	wait              prints "waiting", and waits for a line
 *	thread            the rest, in another thread
 *	fork              the rest, in a child; the parent waits for it, does "-main", and ends
 */
#include <ctype.h>
#include <dlfcn.h>
#include <err.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/languages/programs/mover.h"
#include "tests/scorep/trace.h"

static struct scorep_plugin plugin;
static struct scorep_metric metrics[SCOREP_METRICS_MAX];
static int32_t ids[SCOREP_METRICS_MAX];
static uint32_t n_metrics;
static bool is_strict, records;

/* --- the plugin --- */

static struct scorep_plugin load(const char *name)
{
	char file[128], symbol[128];
	struct scorep_plugin (*info)(void);
	void *library;

	snprintf(file, sizeof file, "lib%s.so", name);
	snprintf(symbol, sizeof symbol, "SCOREP_MetricPlugin_%s_get_info", name);
	library = dlopen(file, RTLD_NOW);
	if (!library)
		errx(1, "%s", dlerror());
	*(void **)&info = dlsym(library, symbol);
	if (!info)
		errx(1, "%s", dlerror());
	return info();
}

/* What Score-P demands before it takes a plugin. */
static void check(void)
{
	if (plugin.interface > SCOREP_INTERFACE || !plugin.initialize || !plugin.finalize ||
		!plugin.list || !plugin.add)
		errx(1, "Score-P would not take this plugin");
	if (is_strict ? plugin.recorder != SCOREP_PER_THREAD || !plugin.read
		      : !plugin.read_all || !plugin.take_clock)
		errx(1, "Score-P would not take a plugin of this timing");
}

static void list_all(const char *name)
{
	char variable[128] = "SCOREP_METRIC_", *words, *rest;
	size_t at = strlen(variable);

	for (const char *c = name; *c; c++)
		variable[at++] = (char)toupper(*c);
	words = strdup(getenv(variable) ? getenv(variable) : "");
	for (char *word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		struct scorep_metric *list = plugin.list(word);

		if (!list)
			errx(1, "Score-P would end the program: no list for %s", word);
		for (struct scorep_metric *metric = list; metric->name; metric++)
			metrics[n_metrics++] = *metric;
		free(list);
	}
	free(words);
}

/* For one thread. */
static void add_all(void)
{
	for (uint32_t i = 0; i < n_metrics; i++)
		if ((ids[i] = plugin.add(metrics[i].name)) < 0)
			errx(1, "no id for %s", metrics[i].name);
}

/* As SCOREP_Metric_Reinitialize() does. */
static void initialize_and_end(const char *name)
{
	if (plugin.initialize() == 0)
		list_all(name);
	plugin.finalize();
	while (n_metrics > 0)
		free(metrics[--n_metrics].name);
}

static void begin(const char *name, const char *folder)
{
	plugin = load(name);
	if (getenv("DRIVER_AGAIN"))
		initialize_and_end(name);
	is_strict = plugin.timing == SCOREP_STRICTLY_SYNCHRONOUS;
	check();
	if (plugin.take_clock)
		plugin.take_clock(trace_clock);
	if (plugin.initialize() == 0)
		list_all(name);
	records = is_strict || !getenv("OMPI_COMM_WORLD_LOCAL_RANK") ||
		  strcmp(getenv("OMPI_COMM_WORLD_LOCAL_RANK"), "0") == 0;
	if (records)
		add_all();
	trace_open(folder);
	trace_define(metrics, n_metrics, is_strict);
	if (plugin.synchronize && n_metrics > 0)
		plugin.synchronize(records, SCOREP_BEGIN);
}

static void end(void)
{
	if (plugin.synchronize && n_metrics > 0)
		plugin.synchronize(records, SCOREP_END);
	for (uint32_t i = 0; !is_strict && records && i < n_metrics; i++) {
		struct scorep_pair *pairs = NULL;
		uint64_t n = plugin.read_all(ids[i], &pairs);

		for (uint64_t at = 0; at < n; at++)
			trace_value(i, pairs[at]);
		free(pairs);
	}
	trace_close();
	plugin.finalize();
	for (uint32_t i = 0; i < n_metrics; i++) {
		free(metrics[i].name);
		free(metrics[i].description);
		free(metrics[i].unit);
	}
}

/* --- the program --- */

/* Score-P has prepended each metric to a list, so it asks for the last one first. */
static void event(uint32_t thread, bool enters, const char *region)
{
	uint64_t values[SCOREP_METRICS_MAX] = { 0 };

	for (uint32_t i = n_metrics; is_strict && i-- > 0;)
		values[i] = plugin.read(ids[i]);
	trace_event(thread, enters, region, values);
}

static void move(const char *word)
{
	unsigned socket, kind, lines;

	if (sscanf(word, "%u:%u:%u", &socket, &kind, &lines) != 3)
		errx(1, "what is %s?", word);
	mover_move(lines, (int)socket, (int)kind);
}

static void wait_for_line(void)
{
	puts("waiting");
	fflush(stdout);
	if (getchar() == EOF)
		errx(1, "nobody answers");
}

static void run(uint32_t thread, char **words);

static void *run_thread(void *words)
{
	if (is_strict)
		add_all();
	run(1, words);
	return NULL;
}

static void in_thread(char **words)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, run_thread, words) != 0)
		errx(1, "no thread");
	pthread_join(thread, NULL);
}

/* The child writes no trace: it tells what its metrics say, before and after. */
static void in_child(char **words)
{
	uint64_t before = is_strict ? plugin.read(ids[0]) : 0;
	struct scorep_pair *pairs = NULL;
	uint64_t n = 0;

	for (; *words; words++)
		move(*words);
	if (!is_strict) {
		plugin.synchronize(records, SCOREP_END);
		n = plugin.read_all(ids[0], &pairs);
	}
	printf("child %llu\n", (unsigned long long)(is_strict ? plugin.read(ids[0]) - before : n));
	plugin.finalize();
	fflush(stdout);
	_exit(0);
}

static void forked(char **words)
{
	pid_t child = fork();
	int status = -1;

	if (child == 0)
		in_child(words);
	if (child < 0 || waitpid(child, &status, 0) != child || status != 0)
		errx(1, "the child ended with %d", status);
	event(0, false, "main");
}

static void run(uint32_t thread, char **words)
{
	for (; *words; words++)
		if (**words == '+' || **words == '-')
			event(thread, **words == '+', *words + 1);
		else if (strcmp(*words, "wait") == 0)
			wait_for_line();
		else if (strncmp(*words, "sleep:", 6) == 0)
			usleep(1000U * (unsigned)atoi(*words + 6));
		else if (strcmp(*words, "thread") == 0)
			return in_thread(words + 1);
		else if (strcmp(*words, "fork") == 0)
			return forked(words + 1);
		else
			move(*words);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		errx(2, "usage: driver PLUGIN FOLDER WORD..");
	begin(argv[1], argv[2]);
	run(0, argv + 3);
	end();
	return 0;
}
