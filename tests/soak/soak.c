/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Months of uncored's life in minutes: clients come and go, jobs change hands, policies change,
 * uncored is killed, ended and started again, and CPUs go offline if that is permitted. At the end
 * its totals are the kernel's, and its memory and descriptors are as before.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "tests/continuity/truth.h"
#include "tests/harness/test.h"
#include "tests/soak/clients.h"

static const uint64_t SECOND_NS = 1000000000, SAY_EVERY_NS = 10000000000;

/* Memory that the allocator may keep, and three descriptors for each user that may be away. */
enum { KEPT_KIB = 256, AWAY = 3 * 2 };

static struct daemon_process daemon_process;
static struct truth truth;
static struct clients clients;
static bool is_exact = true; /* the policy of the moment rounds nothing */
static struct {
	unsigned kills, ends, policies, wrong_policies, owners, offline, restarted;
} did;

static void restart(void)
{
	daemon_restart(&daemon_process, "standin");
}

static void check(void)
{
	if (is_exact)
		truth_check(&truth);
}

/* --- events --- */

static void be_killed(void)
{
	daemon_kill(&daemon_process);
	restart();
	did.kills++;
}

static void be_ended(void)
{
	kill(daemon_process.pid, SIGTERM);
	assert_int_equal(wait_for(daemon_process.pid, 10), 0);
	manager_dispatch(&daemon_process.manager);
	restart();
	did.ends++;
}

static const struct policy {
	const char *config;
	bool is_exact;
} policies[] = {
	{ "", true },
	{ "[access]\nowner_only = yes\n", true },
	{ "[access]\nusers = 65534 nobody\n", true },
	{ "[disclosure]\nquantum = 65536\nmin_interval_ms = 2\n", false },
	{ "[reader]\nbudget_percent = 30\n[server]\nmax_clients_per_user = 3\n", true },
};

static void have_policy(const struct policy *policy)
{
	daemon_reload(&daemon_process, policy->config);
	is_exact = policy->is_exact;
	did.policies++;
}

static void have_another_policy(void)
{
	have_policy(&policies[(size_t)random() % ARRAY_SIZE(policies)]);
}

static void be_given_a_wrong_policy(void)
{
	daemon_reload(&daemon_process, "[access]\nusers = no-such-user\n");
	daemon_configure(&daemon_process, "");
	did.wrong_policies++;
}

static void change_hands(void)
{
	static const uint32_t owners[] = { NOBODY, SOMEBODY, UNCORE_NO_OWNER };

	assert_int_equal(uncore_set_owner(daemon_process.socket_path, owners[random() % 3]), 0);
	manager_dispatch(&daemon_process.manager);
	did.owners++;
}

/* --- a CPU goes offline and comes back, with all counters of its socket --- */

static const char cpu_file[] = "/sys/devices/system/cpu/cpu1/online";

static void set_cpu(const char *online)
{
	_cleanup_file_ FILE *file = fopen(cpu_file, "we");

	assert_non_null(file);
	assert_true(fputs(online, file) >= 0);
}

/*
 * Reads until uncored ends to have its counters opened anew, which it does once a minute at most.
 */
static void wait_for_restart(void)
{
	for (unsigned i = 0; i < 700; i++) {
		struct uncore_sample samples[2] = { UNCORE_SAMPLE_INIT, UNCORE_SAMPLE_INIT };
		struct uncore *uncore = NULL;
		int raw;

		if (waitpid(daemon_process.pid, &raw, WNOHANG) == daemon_process.pid) {
			assert_int_equal(WEXITSTATUS(raw), 75);
			manager_dispatch(&daemon_process.manager);
			restart();
			did.restarted++;
			return;
		}
		if (uncore_open(daemon_process.socket_path, &uncore) == 0)
			uncore_read_all(uncore, UNCORE_FRESH, samples, 2);
		uncore_close(uncore);
		usleep(100000);
	}
	fail_msg("the counters of the CPU that came back were not opened anew");
}

static void lose_a_cpu(void)
{
	set_cpu("0");
	usleep(300000);
	set_cpu("1");
	wait_for_restart();
	truth_begin(&truth, &daemon_process); /* counts of that socket in between are lost */
	did.offline++;
}

/* --- the run --- */

static void (*const events[])(void) = { be_killed, be_killed, be_ended, have_another_policy,
	have_another_policy, be_given_a_wrong_policy, change_hands, change_hands };

static void say(const char *when)
{
	const struct clients_tally *t = clients.tally;

	printf("# %s: %u kills, %u ends, %u policies (%u wrong), %u owners, %u times a CPU "
	       "offline; %" PRIu64 " connections, %" PRIu64 " reads, %" PRIu64 " regions, %" PRIu64
	       " refused, %" PRIu64 " saw it gone, %" PRIu64 " late; %u checks\n",
		when, did.kills, did.ends, did.policies, did.wrong_policies, did.owners,
		did.offline, t->connections, t->reads, t->regions, t->refused, t->gone, t->late,
		truth.n_checks);
	fflush(stdout);
}

static void say_from_time_to_time(void)
{
	static uint64_t began_ns, said_ns;
	uint64_t now_ns = clock_now_ns();
	char when[32];

	if (!began_ns)
		began_ns = said_ns = now_ns;
	if (now_ns - said_ns < SAY_EVERY_NS)
		return;
	said_ns = now_ns;
	snprintf(when, sizeof when, "after %" PRIu64 " s", (now_ns - began_ns) / SECOND_NS);
	say(when);
}

/*
 * Lets events happen for @duration_ns; @kill_too: kills uncored, too, so that each process lives
 * only for a moment.
 */
static void let_happen(uint64_t duration_ns, bool kill_too, bool hotplug)
{
	uint64_t end_ns = clock_now_ns() + duration_ns, next_hotplug_ns = clock_now_ns();

	while (clock_now_ns() < end_ns) {
		size_t i = (size_t)random() % ARRAY_SIZE(events);

		usleep((useconds_t)random() % 200000);
		if (kill_too || (events[i] != be_killed && events[i] != be_ended))
			events[i]();
		if (hotplug && clock_now_ns() > next_hotplug_ns) {
			lose_a_cpu();
			next_hotplug_ns = clock_now_ns() + 30 * SECOND_NS;
		}
		check();
		if (clients.tally->wrong)
			fail_msg("a client saw %s", clients_complaint());
		say_from_time_to_time();
	}
}

/* Makes each event happen once, so that all memory of first use is there. */
static void warm_up(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(policies); i++)
		have_policy(&policies[i]);
	be_given_a_wrong_policy();
	change_hands();
	let_happen(SECOND_NS, false, false);
}

struct size {
	uint64_t rss_kib;
	long descriptors;
	unsigned kept;
};

/* Measures with no client but its own. */
static struct size measure(void)
{
	daemon_reload(&daemon_process, "");
	is_exact = true;
	for (unsigned i = 0; i < 200 && daemon_number(&daemon_process, "clients") > 1; i++)
		usleep(50000);
	usleep(200000);
	manager_dispatch(&daemon_process.manager);
	return (struct size){ daemon_rss_kib(&daemon_process), daemon_descriptors(&daemon_process),
		daemon_process.manager.n_kept };
}

/*
 * uncored is killed and started again for half of the time; for the other half one process lives.
 */
CASE("it stays what it is")
{
	const char *seconds = getenv("UNCORE_SOAK_S");
	bool hotplug = getenv("UNCORE_SOAK_HOTPLUG") && access(cpu_file, W_OK) == 0;
	uint64_t duration_ns = (seconds ? strtoull(seconds, NULL, 10) : 10) * SECOND_NS;
	struct size before, after;

	clients_start(&clients);
	let_happen(duration_ns / 2, true, hotplug);
	warm_up();
	clients_stop(&clients);
	before = measure();
	clients_start(&clients);
	let_happen(duration_ns / 2, false, false);
	clients_stop(&clients);
	after = measure();
	truth_check(&truth);
	say("at the end");
	printf("# totals exact to %" PRIu64 " page faults; memory %" PRIu64 " -> %" PRIu64
	       " KiB, descriptors %ld -> %ld, kept by the manager %u -> %u\n",
		truth_resolution(&truth), before.rss_kib, after.rss_kib, before.descriptors,
		after.descriptors, before.kept, after.kept);
	assert_in_range(after.rss_kib, 0, before.rss_kib + KEPT_KIB);
	assert_in_range(after.descriptors, 0, before.descriptors + AWAY);
	assert_int_equal(after.kept, before.kept);
	assert_true(clients.tally->reads > 0 && clients.tally->regions > 0);
}

static int begin(void **state)
{
	srandom(1);
	daemon_start_activated(&daemon_process, "standin", NULL, true);
	clients_init(&clients, &daemon_process);
	truth_begin(&truth, &daemon_process);
	truth_check(&truth);
	return 0;
}

static int end(void **state)
{
	daemon_stop(&daemon_process);
	return 0;
}

int main(void)
{
	return run_privileged_cases(begin, end);
}
