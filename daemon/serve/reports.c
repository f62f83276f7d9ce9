/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/reports.h"

#include <errno.h>
#include <stdlib.h>

#include "common/macro.h"
#include "daemon/plan/platform-report.h"
#include "daemon/serve/clients.h"
#include "daemon/serve/state.h"

/* A client gets the last report if that is not older than this. */
static const uint64_t STATE_AGE_NS = 100000000, PLATFORMS_AGE_NS = UINT64_MAX;

static char *make(struct server *server, enum report which, struct fault *fault)
{
	fault->text[0] = '\0';
	switch (which) {
	case REPORT_PLATFORMS:
		return platform_report_json(server->counters->origin.platform_dirs, fault);
	case REPORT_CLIENTS:
		return clients_json(server);
	default:
		return state_json(server);
	}
}

int reports_get(struct server *server, enum report which, const struct shared_report **ret,
	struct fault *fault)
{
	struct shared_report *report = &server->reports[which];
	_cleanup_free_ char *json = NULL;
	int r;

	*ret = report;
	if (shared_report_is_recent(
		    report, which == REPORT_PLATFORMS ? PLATFORMS_AGE_NS : STATE_AGE_NS))
		return 0;
	json = make(server, which, fault);
	if (!json && fault->text[0])
		return -EINVAL;
	r = json ? shared_report_write(report, json) : -ENOMEM;
	if (r >= 0)
		return 0;
	return fault_set(fault, r, "uncored has no memory or descriptor for a report.");
}
