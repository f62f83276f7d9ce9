/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/site/policy.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/text.h"

#define IN_CONF(section, key)                                                                      \
	"The rule is " key " in [" section                                                         \
	"] of uncored.conf; the administrator of this node can change it."
#define OF_PROTOCOL "The rule is the protocol of uncored, which nobody can change here: "

static const struct {
	const char *name;
	int error;
	const char *who; /* where the rule is, and who can change it */
} rules[POLICY_RULES] = {
	[POLICY_GROUP] = { "access.group", -EACCES, IN_CONF("access", "group") },
	[POLICY_USERS] = { "access.users", -EACCES, IN_CONF("access", "users") },
	[POLICY_OWNER] = { "access.owner_only", -EACCES,
		"The rule is owner_only in [access] of uncored.conf; the administrator of this "
		"node can change it, or make this user the owner with `uncore owner`." },
	[POLICY_CLIENTS] = { "server.max_clients", -EDQUOT,
		"The rule is max_clients in [server] of uncored.conf, or LimitNOFILE of the unit; "
		"the administrator of this node can change it." },
	[POLICY_CLIENTS_PER_USER] = { "server.max_clients_per_user", -EDQUOT,
		"The rule is max_clients_per_user in [server] of uncored.conf, or LimitNOFILE of "
		"the unit; the administrator of this node can change it." },
	[POLICY_CLOSING] = { "server.closing", -EDQUOT,
		"No rule forbids it; end the programs of this user that use uncored, or the "
		"administrator of this node can do so." },
	[POLICY_DESCRIPTORS] = { "server.descriptors", -EMFILE,
		"The rule is LimitNOFILE of the unit; the administrator of this node can change "
		"it." },
	[POLICY_VERSION] = { "protocol.version", -EPROTONOSUPPORT,
		OF_PROTOCOL "install the libuncore that came with the daemon." },
	[POLICY_ORDER] = { "protocol.order", -EPROTO, OF_PROTOCOL "mend the client." },
	[POLICY_REQUEST] = { "protocol.request", -EOPNOTSUPP,
		OF_PROTOCOL "install the libuncore that came with the daemon." },
	[POLICY_TOPIC] = { "protocol.topic", -EINVAL,
		OF_PROTOCOL "install the libuncore that came with the daemon." },
	[POLICY_MESSAGE] = { "protocol.message", -EBADMSG, OF_PROTOCOL "mend the client." },
	[POLICY_ROOT] = { "server.root", -EPERM,
		"Root may ask that, and what root runs, such as a batch system; the administrator "
		"of this node can arrange it." },
	[POLICY_REPORT] = { "server.report", -EIO,
		"No rule forbids it; the administrator of this node can mend it." },
	[POLICY_PAGE] = { "server.page", -ENOMEM,
		"No rule forbids it; the administrator of this node can mend it." },
	[POLICY_TEAMS] = { "server.teams", -EDQUOT,
		"Regions go on without a team. No file can change the rule; end programs of this "
		"user that hold tables, or the administrator of this node can do so." },
	[POLICY_TABLE] = { "protocol.table", -EINVAL, OF_PROTOCOL "mend the client." },
};

const char *policy_rule_name(enum policy_rule rule)
{
	return rules[rule].name;
}

void policy_refuse(struct policy_refusal *ret, enum policy_rule rule, const char *format, ...)
{
	const char *who = rules[rule].who;
	size_t room = sizeof ret->text - strlen(who) - 1;
	va_list args;

	ret->rule = rule;
	ret->error = rules[rule].error;
	va_start(args, format);
	vsnprintf(ret->text, room, format, args);
	va_end(args);
	sprintf(ret->text + strlen(ret->text), " %s", who);
}

/* --- access --- */

void policy_rules(const struct policy_access *access, uint32_t owner, struct rules *ret)
{
	*ret = (struct rules){
		.owner_only = access->owner_only,
		.owner = owner,
		.by_group = access->by_group,
		.group = access->group,
		.n_users = access->n_users,
	};
	memcpy(ret->users, access->users, access->n_users * sizeof *access->users);
}

bool policy_admits(const struct policy_access *access, uint32_t owner,
	const struct rules_user *peer, struct policy_refusal *ret)
{
	static const enum policy_rule policy_rules_of[RULES] = {
		[RULE_GROUP] = POLICY_GROUP,
		[RULE_USERS] = POLICY_USERS,
		[RULE_OWNER] = POLICY_OWNER,
	};
	struct rules published;
	enum rule broken;

	policy_rules(access, owner, &published);
	broken = peer->uid ? rules_broken(&published, peer, RULE_GROUP) : RULE_NONE;
	if (broken)
		policy_refuse(
			ret, policy_rules_of[broken], "User %u %s.", peer->uid, rule_words(broken));
	return !broken;
}

bool policy_is_selective(const struct policy_access *access)
{
	return access->owner_only || access->by_group || access->n_users;
}

/* Connections that are reserved for root, who can remove the cause of refusals. */
static unsigned kept_for_root(unsigned most)
{
	return most >= 64 ? 8 : most > 1;
}

bool policy_has_room(const struct policy_load *load, uint32_t uid, struct policy_refusal *ret)
{
	if (load->n + (uid ? kept_for_root(load->most) : 0) >= load->most)
		policy_refuse(
			ret, POLICY_CLIENTS, "uncored already has %u clients, its limit.", load->n);
	else if (load->n_of_user >= load->most_of_user)
		policy_refuse(ret, POLICY_CLIENTS_PER_USER,
			"User %u already has %u connections to uncored, the limit.", uid,
			load->n_of_user);
	else
		return true;
	return false;
}

/* --- disclosure --- */

uint64_t policy_hold_ns(const struct policy_disclosure *disclosure)
{
	uint32_t overall_ms = disclosure->min_interval_ms;
	uint32_t of_user_ms = disclosure->min_interval_per_user_ms;

	return (overall_ms > of_user_ms ? overall_ms : of_user_ms) * CLOCK_NS_PER_MS;
}

bool policy_restricts(const struct policy_access *access,
	const struct policy_disclosure *disclosure, bool others_may_connect)
{
	return !others_may_connect || policy_is_selective(access) || policy_hold_ns(disclosure) ||
	       disclosure->quantum > 1 || disclosure->quantum_energy > 1;
}

/* Appends a part of policy_describe(). */
#define SAY(text, ...) text_append(text, POLICY_WORDS_MAX, __VA_ARGS__)

static void say_owner(char *text, const struct policy_access *access, uint32_t owner)
{
	if (owner == POLICY_NO_OWNER)
		SAY(text, "the owner of the node's job (it runs none now)");
	else
		SAY(text, "the owner of the node's job (user %u now)", owner);
	if (access->n_users)
		SAY(text, ", if among the users %s", access->users_text);
	if (access->by_group)
		SAY(text, ", if in group %s", access->group_text);
}

static void say_anybody(char *text, const struct policy_access *access, bool others)
{
	if (access->n_users && access->by_group)
		SAY(text, "those of the users %s who are in group %s", access->users_text,
			access->group_text);
	else if (access->n_users)
		SAY(text, "the users %s", access->users_text);
	else if (access->by_group)
		SAY(text, "the members of group %s", access->group_text);
	else
		SAY(text, others ? "everybody" : "those");
}

static void say_who(char *text, const struct policy_access *access, uint32_t owner, bool others)
{
	SAY(text, "Root may connect, and ");
	if (access->owner_only)
		say_owner(text, access, owner);
	else
		say_anybody(text, access, others);
	SAY(text, others ? "." : " that the permissions of the socket admit.");
}

void policy_describe(const struct policy_access *access, uint32_t owner,
	const struct policy_disclosure *disclosure, bool others_may_connect,
	char ret_text[POLICY_WORDS_MAX])
{
	*ret_text = '\0';
	if (!policy_restricts(access, disclosure, others_may_connect)) {
		SAY(ret_text,
			"Nothing is restricted: everybody on this node may connect and is told "
			"exact values as of any time.");
		return;
	}
	say_who(ret_text, access, owner, others_may_connect);
	if (disclosure->min_interval_ms)
		SAY(ret_text, " A socket is read at most once in %u ms.",
			disclosure->min_interval_ms);
	if (disclosure->min_interval_per_user_ms)
		SAY(ret_text, " One user can have it read at most once in %u ms.",
			disclosure->min_interval_per_user_ms);
	if (disclosure->quantum > 1)
		SAY(ret_text, " Values are rounded down to multiples of %u bytes.",
			disclosure->quantum);
	if (disclosure->quantum_energy > 1)
		SAY(ret_text, " Energy is rounded down to multiples of %u nJ.",
			disclosure->quantum_energy);
}
