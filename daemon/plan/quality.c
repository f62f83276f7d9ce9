/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Absent has priority over partial: if one term of a sum has no box at all, users would take the
 * rest of the sum for the whole. If there are several reasons, .why has the first in the order of
 * the platform file.
 */
#include "daemon/plan/plan.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/macro.h"
#include "common/text.h"
#include "daemon/plan/match.h"

/* The boxes of one term on one socket. */
struct box_count {
	unsigned has, lost, lost_here; /* lost somewhere, or certainly on this socket */
	const struct match *lacks;     /* the first PMU that lacks some, or NULL */
	char why[2 * PAGE_TEXT_MAX];   /* ... and its reason */
};

/* Puts "uncore_imc_3: " before a reason that does not name the PMU itself. */
static void quality_explain(struct box_count *count, const struct match *match, const char *why)
{
	const char *name = match->pmu->name;
	bool named = strstr(why, name);

	count->lacks = match;
	snprintf(
		count->why, sizeof count->why, "%s%s%s", named ? "" : name, named ? "" : ": ", why);
}

static struct box_count count_boxes(
	const struct match_list *list, const struct topology *topology, unsigned s)
{
	struct box_count count = { 0 };
	char why[PAGE_TEXT_MAX];

	for (unsigned i = 0; i < list->n; i++) {
		const struct match *match = &list->matches[i];
		unsigned lost = match_n_lost(match, topology, s, why);
		int cpu = -1;

		if (lost && !count.lacks)
			quality_explain(&count, match, why);
		count.lost += lost;
		if (match->pmu->cpumask && match_next_cpu(match->pmu, topology, s, -1) >= 0)
			count.lost_here += lost;
		while (match->usable && (cpu = match_next_cpu(match->pmu, topology, s, cpu)) >= 0)
			count.has++;
	}
	return count;
}

static void _printf_(4, 5) set_quality(
	struct plan_socket *socket, unsigned metric, uint32_t flags, const char *format, ...)
{
	va_list args;

	socket->quality[metric] = flags;
	va_start(args, format);
	vsnprintf(socket->why[metric], flags & PAGE_ABSENT ? PAGE_TEXT_MAX : PLAN_WHY_MAX, format,
		args);
	va_end(args);
}

static void explain_absent(struct plan_socket *socket, unsigned metric,
	const struct platform_term *term, const struct match_list *list,
	const struct box_count *count)
{
	if (!list->n) {
		set_quality(
			socket, metric, PAGE_ABSENT, "the kernel has no PMU named %s", term->pmu);
	} else if (!count->lacks) {
		set_quality(socket, metric, PAGE_ABSENT, "no PMU named %s counts on this socket",
			term->pmu);
	} else {
		set_quality(socket, metric, PAGE_ABSENT, "%s", count->why);
		socket->contradicted[metric] = count->lacks->contradicted;
	}
}

static bool quality_is_whole(const struct plan_socket *socket, unsigned metric)
{
	return !(socket->quality[metric] & (PAGE_ABSENT | PAGE_PARTIAL));
}

/* Handles a term without a box. True: the counts of the other terms are still published. */
static bool do_without(struct plan_socket *socket, unsigned metric, uint32_t flags,
	const struct platform_term *term, const struct box_count *count)
{
	if (!term->optional[0])
		return false;
	if (quality_is_whole(socket, metric))
		set_quality(socket, metric, flags | PAGE_PARTIAL, "%s%s%s", term->optional,
			count->lacks ? " " : "", count->why);
	return true;
}

static void quality_take_found(
	struct plan_socket *socket, unsigned metric, const struct box_count *count)
{
	struct plan_found *found = &socket->found[metric];

	if (!found->n || (count->lost && quality_is_whole(socket, metric)))
		*found = (struct plan_found){ count->has, count->has + count->lost,
			count->has + count->lost_here };
}

/* What the platform file doubts on this machine; "": nothing. */
static const char *find_doubt(const struct platform_metric *asked, bool is_divided)
{
	return is_divided && asked->uncalibrated_if_divided[0] ? asked->uncalibrated_if_divided
							       : asked->uncalibrated;
}

static void note_doubt(struct plan_socket *socket, unsigned metric, const char *doubt)
{
	char *why = socket->why[metric];

	if (!doubt || !doubt[0])
		return;
	socket->quality[metric] |= PAGE_UNCALIBRATED;
	text_append(why, PLAN_WHY_MAX, "%s%s", why[0] ? "; " : "", doubt);
}

void quality_judge(
	struct plan_socket *socket, unsigned metric, const struct quality_evidence *evidence)
{
	const struct platform *platform = evidence->platform;
	const struct platform_metric *asked = &platform->metrics[metric];
	uint32_t flags = platform->standin ? PAGE_STANDIN : 0;

	if (!topology_has_cpu(evidence->topology, evidence->socket)) {
		set_quality(socket, metric, PAGE_ABSENT, "no CPU of package %u is online",
			socket->package);
		return;
	}
	if (asked->absent[0] || !asked->n_terms) {
		set_quality(socket, metric, PAGE_ABSENT, "%s", asked->absent);
		return;
	}
	set_quality(socket, metric, flags | (asked->partial[0] ? PAGE_PARTIAL : 0), "%s",
		asked->partial);
	for (unsigned t = 0; t < asked->n_terms; t++) {
		const struct match_list *list = &evidence->lists[t];
		struct box_count count = count_boxes(list, evidence->topology, evidence->socket);

		if (!count.has && do_without(socket, metric, flags, &asked->terms[t], &count))
			continue;
		if (!count.has) {
			explain_absent(socket, metric, &asked->terms[t], list, &count);
			return;
		}
		quality_take_found(socket, metric, &count);
		if (count.lost && quality_is_whole(socket, metric)) {
			set_quality(socket, metric, flags | PAGE_PARTIAL, "%u of %u boxes: %s",
				count.has, count.has + count.lost, count.why);
		}
	}
	note_doubt(socket, metric, find_doubt(asked, evidence->is_divided));
}

void quality_note_dispute(struct plan *plan, unsigned metric)
{
	const char *dispute = plan_find_dispute(plan, metric);

	for (unsigned s = 0; s < plan->n_sockets; s++)
		if (!(plan->sockets[s].quality[metric] & PAGE_ABSENT))
			note_doubt(&plan->sockets[s], metric, dispute);
}

/* Memory that no box counts makes the value too small. Other boxes may be fewer by nature. */
static void lower_uneven(
	struct plan_socket *socket, unsigned metric, unsigned other, unsigned n_expected)
{
	struct plan_found *found = &socket->found[metric];
	char before[PLAN_WHY_MAX], *why = socket->why[metric];

	memcpy(before, why, sizeof before);
	why[0] = '\0';
	if (found->n < found->n_expected)
		text_append(why, PLAN_WHY_MAX, "%s; socket %u has %u", before, other, n_expected);
	else
		text_append(why, PLAN_WHY_MAX, "%u of %u boxes: socket %u has more%s%s", found->n,
			n_expected, other, before[0] ? "; " : "", before);
	socket->quality[metric] |= PAGE_PARTIAL;
	found->n_expected = n_expected;
}

int quality_note_uneven(struct plan *plan, unsigned metric)
{
	const struct platform_term *term = &plan->platform->metrics[metric].terms[0];
	const struct plan_socket *most = &plan->sockets[0];
	unsigned other, n_most;
	char why[PAGE_TEXT_MAX];
	int r = 0;

	for (unsigned s = 1; s < plan->n_sockets; s++)
		if (plan->sockets[s].found[metric].n_here > most->found[metric].n_here)
			most = &plan->sockets[s];
	other = (unsigned)(most - plan->sockets);
	n_most = most->found[metric].n_here;
	for (unsigned s = 0; r >= 0 && s < plan->n_sockets; s++) {
		struct plan_socket *socket = &plan->sockets[s];
		const unsigned n = socket->found[metric].n_expected;

		if (socket->quality[metric] & PAGE_ABSENT || n >= n_most)
			continue;
		snprintf(why, sizeof why, "socket %u has %u of them, and socket %u has %u", s, n,
			other, n_most);
		r = plan_add_missing(plan, term->pmu, (int)metric, why);
		if (term->channel[0])
			lower_uneven(socket, metric, other, n_most);
	}
	return r;
}
