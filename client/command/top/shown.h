/* SPDX-License-Identifier: BSD-3-Clause */
/* What a screen of `uncore top` is made of. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "client/command/top/course.h"
#include "client/report/format.h"

struct screen_user {
	char name[64];
	uint64_t n_clients;
	double sweeps_per_s, cpu_percent;
};

enum { SCREEN_USERS_MAX = 8 };

/* What the viewer may know of others. */
struct screen_others {
	char line[512];    /* owner, jobs, number of clients; "": nothing */
	char warning[256]; /* uncored's first one; "": none */
	uint32_t n_users;  /* 0: not root */
	struct screen_user users[SCREEN_USERS_MAX];
};

struct screen {
	const char *host, *platform, *time; /* platform "": not known */
	const char *failure; /* a sentence on why there are no figures; "": there is none */
	uint64_t interval_ns;
	bool is_held; /* the interval is the least that the site allows */
	bool is_paused, is_help, by_rate;
	uint32_t n_sockets, n; /* 0: no interval has passed; parts follow the sockets */
	const struct format_socket *shown;
	const struct course *courses; /* of each of them */
	const struct screen_others *others;
};

struct screen_form {
	unsigned width, height; /* height 0: as many lines as it takes, and no keys */
	bool utf8, colours;
};
