/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/read/counters.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "common/macro.h"
#include "daemon/base/call-filter.h"
#include "daemon/base/privilege.h"
#include "daemon/count/tally.h"
#include "daemon/machine/machine.h"
#include "daemon/machine/socket-numbers.h"
#include "daemon/plan/platform-search.h"

static_assert((uint32_t)CONFIG_BYTES_MAX == (uint32_t)PLATFORM_BYTES_MAX, "bytes per count");

static struct fault *new_warning(struct counters *counters)
{
	assert(counters->n_warnings < COUNTERS_WARNINGS_MAX);
	return &counters->warnings[counters->n_warnings++];
}

/* The site's calibration must not contradict the kernel. */
static int check_calibration(const struct plan *plan, struct fault *fault)
{
	char worth[SCALE_TEXT_MAX];

	for (unsigned s = 0; s < plan->n_sockets; s++)
		for (unsigned m = 0; m < plan->platform->n_metrics; m++) {
			const struct platform_metric *metric = &plan->platform->metrics[m];

			if (!metric->calibrated || !plan->sockets[s].contradicted[m])
				continue;
			scale_text(metric->terms[0].scale, worth);
			return fault_set(fault, -EINVAL,
				"[calibration] says that a count of %s is worth %s %s, but the "
				"kernel knows better: %s.",
				metric->name, worth, metric->unit, plan->sockets[s].why[m]);
		}
	return 0;
}

static int load_topology(struct counters *counters, struct fault *fault)
{
	struct fault why = {};
	int r = topology_load(counters->origin.root, &counters->topology, fault);

	if (r < 0)
		return r;
	r = socket_numbers_apply(counters->origin.state, &counters->topology, &why);
	if (r == -ENOMEM)
		return fault_set(fault, r, "Out of memory.");
	if (r < 0)
		*new_warning(counters) = why;
	return 0;
}

int counters_plan(struct counters *counters, const struct counters_origin *origin,
	const struct config *config, struct fault *fault)
{
	_cleanup_close_ int root_fd = open(origin->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r;

	if (root_fd < 0)
		return fault_set(
			fault, -errno, "Cannot open the root directory %s: %m.", origin->root);
	counters->origin = *origin;
	r = platform_find(
		origin->platform_dirs, root_fd, config->platform, &counters->platform, fault);
	if (r >= 0)
		r = platform_choose(counters->platform,
			&(struct platform_choice){
				config->enabled_metrics, config->disabled_metrics },
			fault);
	for (unsigned i = 0; r >= 0 && i < config->n_calibrations; i++)
		r = platform_calibrate(counters->platform, config->calibrations[i].metric,
			config->calibrations[i].bytes, fault);
	if (r < 0)
		return r;
	counters->is_guest = machine_is_guest(root_fd);
	r = load_topology(counters, fault);
	if (r < 0)
		return r;
	r = planner_make_plan(
		counters->platform, root_fd, &counters->topology, &counters->plan, fault);
	return r < 0 ? r : check_calibration(&counters->plan, fault);
}

static int explain_no_boxes(const struct counters *counters, struct fault *fault)
{
	return fault_set(fault, -ENODEV,
		"This machine is %s, but the kernel shows none of the counters it should have "
		"(`uncored --check` lists what was looked for). %s",
		counters->platform->title,
		counters->is_guest
			? "It is a virtual machine, and those have no uncore counters."
			: "A kernel module may be missing, or this is a virtual machine.");
}

static int explain_nothing_open(const struct counters *counters, struct fault *fault)
{
	const struct box *first = &counters->generation.boxes[0];

	if (privilege_is_denial(first->error))
		return privilege_explain(first->error, fault);
	return fault_set(fault, first->error,
		"The kernel refused to open every one of %u counter boxes, the first (%s on CPU "
		"%d) with: %s.",
		counters->plan.n_boxes, first->plan->pmu, first->plan->cpu,
		strerror(-first->error));
}

static void warn_of_refusals(struct counters *counters, unsigned n_open)
{
	unsigned n = counters->plan.n_boxes, i = 0;

	if (n_open == n)
		return;
	while (counters->generation.boxes[i].error >= 0)
		i++;
	fault_set(new_warning(counters), 0,
		"The kernel refused to open %u of %u counter boxes, the first (%s on CPU %d) with: "
		"%s. Metrics that need the refused boxes are flagged as partial or absent.",
		n - n_open, n, counters->plan.boxes[i].pmu, counters->plan.boxes[i].cpu,
		strerror(-counters->generation.boxes[i].error));
}

/* Flexible boxes that are open: extra ones, or the others. */
static unsigned count_flexible(const struct counters *counters, bool is_extra)
{
	unsigned n = 0;

	for (unsigned i = 0; i < counters->plan.n_boxes; i++) {
		const struct box *box = &counters->generation.boxes[i];

		n += box->mode != BOX_CLOSED && !box_is_pinned(box) &&
		     counters->plan.boxes[i].is_extra == is_extra;
	}
	return n;
}

/* It is uncored itself that leaves an extra box few counters. */
static void warn_of_shared_boxes(struct counters *counters)
{
	unsigned n_shared = count_flexible(counters, false);
	unsigned n_extra = count_flexible(counters, true);

	if (n_shared)
		fault_set(new_warning(counters), 0,
			"%u of %u counter boxes are shared with other users of their counters: "
			"their values are estimated while the kernel multiplexes.",
			n_shared, counters->plan.n_boxes);
	if (n_extra)
		fault_set(new_warning(counters), 0,
			"%u boxes of metrics that the site enables have fewer counters than "
			"events: these values are estimated.",
			n_extra);
}

static void warn_of_reopening(struct counters *counters, const struct fault *why)
{
	if (why->text[0])
		fault_set(new_warning(counters), 0,
			"The state that an earlier uncored left with the service manager cannot be "
			"continued: %s. A new generation begins.",
			why->text);
	if (counters->generation.n_reopened)
		fault_set(new_warning(counters), 0,
			"%u of %u counter boxes had stopped or were missing when uncored came "
			"back, and were opened anew: what they counted meanwhile is lost, and "
			"their values are flagged as reset.",
			counters->generation.n_reopened, counters->plan.n_boxes);
}

static struct reader_rules rules_of(const struct config *config)
{
	const struct policy_disclosure *disclosure = &config->disclosure;

	return (struct reader_rules){
		.budget = { config->budget_percent, config->burst_ms, disclosure->min_interval_ms,
			disclosure->min_interval_per_user_ms },
		.quanta = { disclosure->quantum, disclosure->quantum_energy },
	};
}

void counters_apply(struct counters *counters, const struct config *config)
{
	const struct reader_rules rules = rules_of(config);

	shared_page_tell_hold(
		&counters->generation.shared_page, policy_hold_ns(&config->disclosure));
	for (unsigned s = 0; s < counters->n_readers; s++)
		reader_set_rules(&counters->readers[s], &rules);
}

static int init_reader(struct counters *counters, unsigned socket, const struct config *config)
{
	const struct reader_options options = {
		.affinity = affinity_of(&counters->plan, socket),
		.realtime = config->realtime,
		.may_use_program = strcmp(config->sweep_method, "read") != 0,
		.rules = rules_of(config),
		.sweep_every_s = counters->platform->sweep_every_s,
		.stopped_fd = counters->stopped_fd,
	};

	counters->n_readers++;
	return reader_init(&counters->readers[socket], &options, &counters->generation, socket);
}

static int start_readers(
	struct counters *counters, const struct config *config, struct fault *fault)
{
	bool realtime = true, pinned = true;
	int r = 0;

	counters->readers = calloc(counters->plan.n_sockets, sizeof *counters->readers);
	counters->stopped_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (!counters->readers || counters->stopped_fd < 0)
		return fault_set(fault, -ENOMEM, "No memory or descriptor for the readers.");
	for (unsigned s = 0; s < counters->plan.n_sockets && r >= 0; s++)
		r = init_reader(counters, s, config);
	for (unsigned s = 0; s < counters->plan.n_sockets && r >= 0; s++) {
		r = reader_thread_start(&counters->readers[s]);
		realtime &= counters->readers[s].state.realtime;
		pinned &= counters->readers[s].state.pinned;
	}
	if (r < 0)
		return fault_set(fault, r, "Cannot start the reader threads: %s.", strerror(-r));
	if (config->realtime && !realtime)
		fault_set(new_warning(counters), 0,
			"The system refuses real-time priority to the reader threads, so fresh "
			"reads are late while all CPUs are busy: give the unit LimitRTPRIO=1, or "
			"set realtime = no.");
	if (!pinned)
		fault_set(new_warning(counters), 0,
			"The system refuses the reader threads the CPUs of their sockets (a cpuset "
			"or CPUAffinity=?), so every read of a counter interrupts another CPU.");
	return 0;
}

/* Takes over the boxes of an earlier process or opens new ones, and warns of refusals. */
static int acquire_boxes(struct counters *counters, struct fdstore *store, struct fault *fault)
{
	struct generation *generation = &counters->generation;
	struct fault why = {};
	unsigned n_open;

	if (!generation_resume(generation, store, &why))
		generation_open(generation);
	n_open = generation_count_open(generation);
	if (!n_open)
		return explain_nothing_open(counters, fault);
	generation_settle(generation);
	warn_of_reopening(counters, &why);
	warn_of_refusals(counters, n_open);
	warn_of_shared_boxes(counters);
	tally_note_refusals(&counters->plan, generation->boxes);
	plan_take_checks(&counters->plan);
	return 0;
}

/* A client that had the earlier process's page may not be allowed to have the page now. */
static int counters_withdraw_if_selective(
	struct counters *counters, const struct config *config, struct fault *fault)
{
	int r = 0;

	if (counters->generation.resumed && policy_is_selective(&config->access))
		r = counters_replace_page(
			counters, ledger_current(&counters->generation.ledger).owner);
	return r < 0 ? fault_set(fault, r, "Cannot make another page: %s.", strerror(-r)) : 0;
}

/* From here on the next process can go on with the generation, if a service manager keeps it. */
static void counters_hand_over(struct counters *counters)
{
	int r = generation_keep(&counters->generation);

	counters->is_kept = r >= 0;
	if (r < 0 && r != -ENOTCONN)
		fault_set(new_warning(counters), 0,
			"The counters cannot be left with the service manager: %s. Their totals "
			"will not outlive this process.",
			strerror(-r));
}

/* The filter applies to every thread, so it comes after the start of the readers. */
static void give_up_calls(struct counters *counters)
{
	int r = call_filter_set();

	if (r < 0)
		fault_set(new_warning(counters), 0,
			"uncored cannot give up the system calls that it no longer needs: %s. It "
			"has given up its capabilities, and serves as usual.",
			strerror(-r));
}

/* What decides is whether uncored can run its programs without privilege. */
static void choose_method(struct counters *counters, const struct config *config)
{
	const struct reader *slow = NULL;

	for (unsigned s = counters->n_readers; s-- > 0;)
		if (!reader_use_program(&counters->readers[s]))
			slow = &counters->readers[s];
	if (slow && !strcmp(config->sweep_method, "bpf"))
		fault_set(new_warning(counters), 0,
			"uncored.conf has method = bpf in [sweep], but socket %u is read by "
			"read(2). %s",
			slow->sweep.socket, slow->why_read.text);
}

/* With a single socket no other socket can get its number, so a failure does not matter. */
static void save_numbers(struct counters *counters)
{
	const struct topology *topology = &counters->topology;
	struct fault fault = {};

	if (counters->origin.state &&
		socket_numbers_save(counters->origin.state, topology, &fault) < 0 &&
		topology->n_sockets > 1)
		*new_warning(counters) = fault;
}

int counters_open(struct counters *counters, const struct config *config, struct fdstore *store,
	struct fault *fault)
{
	int r;

	if (!counters->plan.n_boxes)
		return explain_no_boxes(counters, fault);
	r = generation_init(&counters->generation, &counters->plan);
	if (r < 0)
		return fault_set(fault, r, "Out of memory.");
	r = acquire_boxes(counters, store, fault);
	if (r >= 0)
		r = counters->generation.resumed
			    ? counters_withdraw_if_selective(counters, config, fault)
			    : generation_publish(&counters->generation, fault);
	if (r < 0)
		return r;
	counters_hand_over(counters);
	save_numbers(counters);
	shared_page_tell_hold(
		&counters->generation.shared_page, policy_hold_ns(&config->disclosure));
	r = start_readers(counters, config, fault);
	if (r < 0)
		return r;
	ledger_complete(&counters->generation.ledger);
	r = privilege_drop();
	if (r < 0)
		return fault_set(fault, r, "Cannot give up privilege: %s.", strerror(-r));
	give_up_calls(counters);
	choose_method(counters, config);
	return 0;
}

int counters_replace_page(struct counters *counters, uint32_t owner)
{
	struct shared_page old;
	int r = generation_replace_page(&counters->generation, owner, &old);

	if (r < 0)
		return r;
	if (!counters->readers)
		shared_page_copy_cells(&old, &counters->generation.shared_page);
	for (unsigned s = 0; s < counters->n_readers; s++)
		reader_move(&counters->readers[s], counters->generation.shared_page.header);
	shared_page_retire(&old);
	shared_page_done(&old);
	generation_forget_page(&counters->generation);
	return 0;
}

void counters_done(struct counters *counters)
{
	for (unsigned s = 0; s < counters->n_readers; s++)
		reader_done(&counters->readers[s]);
	if (counters->readers)
		close_fd(&counters->stopped_fd);
	free(counters->readers);
	generation_done(&counters->generation);
	plan_done(&counters->plan);
	topology_done(&counters->topology);
	free(counters->platform);
	*counters = (struct counters){};
}
