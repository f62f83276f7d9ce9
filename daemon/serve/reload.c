/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/serving.h"

#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/notify.h"
#include "daemon/serve/admission.h"
#include "daemon/serve/job-owner.h"
#include "daemon/serve/peer.h"
#include "daemon/site/saved-config.h"

static void say_kept(const char *key)
{
	log_warning("%s has changed, which needs a restart: the old value stays until then.", key);
}

/* Clients that may stay get the new limits. The others are disconnected. */
static void review_peers(struct server *server)
{
	unsigned n_gone = server->n_peers;

	for (struct peer *peer = server->peers, *next; peer; peer = next) {
		next = peer->next;
		admission_review(peer);
	}
	n_gone -= server->n_peers;
	if (n_gone)
		log_info("%u clients may not connect any more and were disconnected.", n_gone);
}

/* Clients that had the page and may no longer have it still have it mapped. */
static void reload_withdraw_if_selective(struct server *server, const struct policy_access *before)
{
	const struct policy_access *now = &server->config->access;

	if (!policy_is_selective(now) || !memcmp(before, now, sizeof *now))
		return;
	if (job_owner_withdraw(server, server_owner(server), NULL) == 0)
		return;
	log_error("uncored has no memory or descriptors for another page, or cannot leave it with "
		  "the service manager. So it cannot withdraw the page that clients have: it ends, "
		  "and withdraws the page when it is started again.");
	sd_event_exit(server->event, RESTART_EXIT_STATUS);
}

static void reload_apply_access(struct server *server, const struct policy_access *before)
{
	struct fault fault;

	if (listener_set_permissions(server->listener, &fault) < 0)
		log_warning("%s", fault.text);
	server_limit_peers(server);
	server_apply_budget(server);
	counters_apply(server->counters, server->config);
	server_tell_users(server);
	review_peers(server);
	reload_withdraw_if_selective(server, before);
	if (server->counters->is_kept)
		saved_config_keep(server->config, NULL);
	log_info("The configuration was read again.");
}

void reload(struct server *server)
{
	const struct policy_access before = server->config->access;
	struct fault fault;

	notify_reloading();
	owners_read(&server->owners);
	if (config_reload(server->config, say_kept, &fault) < 0)
		log_error("The configuration is unchanged, because the new one is wrong: %s",
			fault.text);
	else
		reload_apply_access(server, &before);
	shared_report_invalidate(&server->reports[REPORT_STATE]);
}
