/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/refusals.h"

static const uint64_t MINUTE_NS = 60000000000U;

static bool is_over(const struct refusals_user *user, uint64_t now_ns)
{
	return !user->logged_ns || now_ns - user->logged_ns >= MINUTE_NS;
}

/* The place of @uid; else one whose minute is over; else the shared one. */
static struct refusals_user *find_user(struct refusals *refusals, uint32_t uid, uint64_t now_ns)
{
	struct refusals_user *place = &refusals->users[REFUSALS_USERS];

	for (unsigned i = 0; i < REFUSALS_USERS; i++) {
		struct refusals_user *user = &refusals->users[i];

		if (user->logged_ns && user->uid == uid)
			return user;
		if (place == &refusals->users[REFUSALS_USERS] && is_over(user, now_ns))
			place = user;
	}
	if (place != &refusals->users[REFUSALS_USERS])
		*place = (struct refusals_user){ .uid = uid };
	return place;
}

bool refusals_note(struct refusals *refusals, enum policy_rule rule, uint32_t uid, uint64_t now_ns,
	uint64_t *ret_n_silent)
{
	struct refusals_user *user = find_user(refusals, uid, now_ns);

	refusals->n++;
	refusals->n_by_rule[rule]++;
	if (!is_over(user, now_ns)) {
		user->n_silent++;
		return false;
	}
	*ret_n_silent = user->n_silent;
	user->logged_ns = now_ns;
	user->n_silent = 0;
	return true;
}
