/* SPDX-License-Identifier: BSD-3-Clause */
/* uncored: reads its options, then plans, opens and serves the machine. uncored(8). */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "daemon/base/log.h"
#include "daemon/base/privilege.h"
#include "daemon/machine/socket-numbers.h"
#include "daemon/options.h"
#include "daemon/plan/plan-report.h"
#include "daemon/read/counters.h"
#include "daemon/serve/refusing.h"
#include "daemon/serve/serving.h"
#include "daemon/site/config-files.h"
#include "daemon/site/config.h"
#include "daemon/site/saved-config.h"

enum { EXIT_SERVES_NOTHING = 3 }; /* --check: all files are good */

/* Returns -1 to go on, or the exit status. */
static int daemon_parse_options(int argc, char *argv[], struct daemon_options *ret)
{
	int status = option_parse(&uncored_table, argc, argv, ret, NULL);

	if (status >= 0)
		return status;
	if (ret->version) {
		puts("uncored " UNCORED_VERSION);
		return EXIT_SUCCESS;
	}
	status = option_no_argument(&uncored_table, argc, argv);
	if (status < 0 && ret->json && !ret->check)
		return option_complain(&uncored_table, "--json goes with --check");
	return status;
}

/* For a description of another machine no socket numbers are kept, unless --state says where. The
 * list of folders lives as long as the process. */
static struct counters_origin machine_of(const struct daemon_options *options)
{
	static const char *const installed[] = { UNCORED_SITE_PLATFORMS, UNCORED_PLATFORMS, NULL };
	static const char *given[2];
	bool is_this = strcmp(options->root, "/") == 0;

	given[0] = options->platforms;
	return (struct counters_origin){
		.root = options->root,
		.platform_dirs = options->platforms ? given : installed,
		.state = options->state || !is_this ? options->state : SOCKET_NUMBERS_FOLDER,
	};
}

static struct config_origin origin_of(const struct daemon_options *options)
{
	return (struct config_origin){ options->config_path, options->socket_path };
}

/* Finds the configuration: the file or, if the file is wrong, its last valid text. Afterwards
 * @saved has a text only if that text is used. */
static int find_config(const struct config_origin *origin, struct saved_config *saved,
	struct config *ret, struct fault *fault)
{
	struct fault of_saved;
	int r = config_find(origin, &saved->names, ret, fault);

	if (r >= 0) {
		saved_config_done(saved);
		return r;
	}
	if (saved_config_load(saved, origin, ret, &of_saved) < 0)
		return r;
	log_error("%s uncored goes on with the configuration as it was before.", fault->text);
	ret->refused = *fault;
	return 0;
}

/* --- --check --- */

/* Where each value of the configuration is from. */
static void print_values(const struct config_files *files)
{
	for (unsigned i = 0; i < files->n_values; i++)
		printf("Configured: [%s] %s = %s (%s:%u)\n", files->values[i].section,
			files->values[i].key, files->values[i].value,
			files->files[files->values[i].file].path, files->values[i].line);
}

static void daemon_write_values(struct jsonwriter *json, const void *context)
{
	const struct config_files *files = context;

	jsonwriter_array(json, "configured");
	for (unsigned i = 0; i < files->n_values; i++) {
		jsonwriter_object(json, NULL);
		jsonwriter_text(json, "section", files->values[i].section);
		jsonwriter_text(json, "key", files->values[i].key);
		jsonwriter_text(json, "value", files->values[i].value);
		jsonwriter_text(json, "file", files->files[files->values[i].file].path);
		jsonwriter_number(json, "line", files->values[i].line);
		jsonwriter_close(json);
	}
	jsonwriter_close(json);
}

static int print_plan(const struct plan *plan, const struct config_files *files, bool as_json,
	struct fault *fault)
{
	_cleanup_free_ char *json =
		as_json ? plan_report_json(plan, daemon_write_values, files) : NULL;

	if (as_json && !json)
		return fault_set(fault, -ENOMEM, "uncored has no memory for the report.");
	if (json)
		puts(json);
	else
		plan_report_text(plan, stdout);
	if (fflush(stdout) || ferror(stdout))
		return fault_set(fault, -EIO, "Cannot write the report: %m.");
	return 0;
}

static int daemon_check(const struct daemon_options *options, struct fault *fault)
{
	_cleanup_(counters_done) struct counters counters = {};
	_cleanup_(config_files_done) struct config_files files = {};
	const struct counters_origin machine = machine_of(options);
	const struct config_origin origin = origin_of(options);
	struct config config;
	int r = config_find(&origin, NULL, &config, fault);

	if (r >= 0) {
		r = config_files_load(config_path(&origin), &files, fault);
		r = r == -ENOENT ? 0 : r;
	}
	if (r >= 0 && !options->json)
		print_values(&files);
	if (r >= 0)
		r = counters_plan(&counters, &machine, &config, fault);
	if (r == -ENODEV) {
		log_error("%s", fault->text);
		return EXIT_SERVES_NOTHING;
	}
	if (r < 0)
		return r;
	plan_take_checks(&counters.plan);
	r = print_plan(&counters.plan, &files, options->json, fault);
	return r < 0 || plan_serves(&counters.plan, -1) ? r : EXIT_SERVES_NOTHING;
}

/* --- the daemon --- */

/* The event loop receives these signals by signalfd; they must never interrupt a reader. */
static void block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static void log_disputes(const struct plan *plan)
{
	for (unsigned m = 0; m < plan->platform->n_metrics; m++) {
		const char *dispute = plan_find_dispute(plan, m);

		if (dispute)
			log_warning("%s is uncalibrated: %s.", plan->platform->metrics[m].name,
				dispute);
	}
}

static void log_start(const struct counters *counters, const char *disabled_metrics)
{
	for (unsigned i = 0; i < counters->n_warnings; i++)
		log_warning("%s", counters->warnings[i].text);
	log_info("Serving %s (sockets: %u, counter boxes: %u)%s.%s", counters->platform->name,
		counters->plan.n_sockets, counters->plan.n_boxes,
		counters->generation.resumed ? ", resumed from the uncored before" : "",
		counters->platform->standin ? " This is a stand-in: nothing it counts is memory "
					      "traffic of this machine."
					    : "");
	log_disputes(&counters->plan);
	if (*disabled_metrics)
		log_info("Not counted because of disable in [metrics] of uncored.conf: %s.",
			disabled_metrics);
	if (*counters->platform->asleep)
		log_info("Counted only if enable in [metrics] of uncored.conf names them:%s.",
			counters->platform->asleep);
}

/* The objects of one run of the daemon. */
struct daemon_run {
	struct config_origin origin;
	struct counters_origin machine;
	struct fdstore store;
	struct saved_config saved;
	struct config config;
	struct listener listener;
	struct counters counters;
	struct server server;
	struct refusing refusing;
};

static int daemon_serve(struct daemon_run *run, struct fault *fault)
{
	if (run->counters.is_kept && saved_config_keep(&run->config, &run->saved) < 0)
		log_warning("The configuration could not be left with the service manager: "
			    "a restart needs one that is right.");
	team_list_keep(run->server.teams);
	log_start(&run->counters, run->config.disabled_metrics);
	return serving_run(&run->server, &run->counters, fault);
}

/* Plans and opens the counters, unless the configuration is wrong. */
static void open_counters(struct daemon_run *run)
{
	struct refusing *refusing = &run->refusing;

	if (refusing->error >= 0)
		refusing->error =
			counters_plan(&run->counters, &run->machine, &run->config, &refusing->why);
	if (refusing->error >= 0)
		refusing->error =
			counters_open(&run->counters, &run->config, &run->store, &refusing->why);
}

/* If uncored cannot serve, it tells every client why. */
static int serve_or_refuse(struct daemon_run *run, struct fault *fault)
{
	int r = server_init(&run->server, &run->config, &run->listener, &run->store, fault);

	if (r < 0)
		return r;
	open_counters(run);
	if (run->refusing.error >= 0)
		return daemon_serve(run, fault);
	counters_done(&run->counters);
	team_list_keep(run->server.teams);
	return refusing_run(&run->refusing, fault);
}

static int listen_and_serve(struct daemon_run *run, struct fault *fault)
{
	int r = listener_open(&run->listener, &run->config, &run->store, fault);

	if (r >= 0) {
		r = serve_or_refuse(run, fault);
		server_done(&run->server);
		counters_done(&run->counters);
	}
	listener_close(&run->listener);
	return r;
}

/* Only a failure of the socket is an error here; any other failure is reported to the clients. */
static int run_daemon(const struct daemon_options *options, struct fault *fault)
{
	struct daemon_run run = {
		.origin = origin_of(options),
		.machine = machine_of(options),
		.refusing = { .listener = &run.listener },
	};
	struct refusing *refusing = &run.refusing;
	int r = fdstore_receive(&run.store, fault);

	if (r < 0)
		return r;
	block_signals();
	refusing_init(refusing, &run.store);
	saved_config_take(&run.store, &run.saved);
	refusing->error = find_config(&run.origin, &run.saved, &run.config, &refusing->why);
	if (refusing->error < 0)
		r = config_default(&run.origin, &run.config, fault);
	if (r >= 0)
		r = listen_and_serve(&run, fault);
	saved_config_done(&run.saved);
	fdstore_done(&run.store);
	return r;
}

/* Has the output of --help, --version and --check arrived? The exit status. */
static int daemon_end_output(int status)
{
	if (fflush(stdout) != EOF && !ferror(stdout))
		return status;
	log_error("Cannot write to stdout: %s.", strerror(errno));
	return EXIT_FAILURE;
}

int main(int argc, char *argv[])
{
	const struct privilege_start start = privilege_find_start();
	struct daemon_options options = { .root = "/" };
	struct fault fault = {};
	int r = daemon_parse_options(argc, argv, &options);

	if (r >= 0)
		return daemon_end_output(r);
	privilege_raise_file_limit(); /* a large machine has thousands of PMU folders and events */
	r = privilege_check_start(&start, &fault);
	if (r >= 0)
		r = (options.check ? daemon_check : run_daemon)(&options, &fault);
	if (r < 0)
		log_error("%s", fault.text);
	return r < 0 ? EXIT_FAILURE : daemon_end_output(r);
}
