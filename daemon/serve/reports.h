/* SPDX-License-Identifier: BSD-3-Clause */
/* The reports that clients may ask for: the state of the daemon, all platforms, and all clients. */
#pragma once

#include "common/wire.h"
#include "daemon/base/fault.h"
#include "daemon/serve/server.h"
#include "daemon/serve/shared-report.h"

/*
 * Gets the report as JSON. The state and the clients are at most a tenth of a second old, the
 * platforms are as they were at the first request. So frequent requests cost neither CPU nor
 * memory. *@ret stays the server's. -ENOMEM, -EMFILE; -EINVAL: a platform file is wrong now. The
 * fault says why.
 */
int reports_get(struct server *server, enum report which, const struct shared_report **ret,
	struct fault *fault);
