/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/server.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "daemon/base/log.h"
#include "daemon/base/memfd.h"
#include "daemon/serve/loop.h"
#include "daemon/serve/peer.h"
#include "daemon/serve/reload.h"
#include "daemon/serve/report.h"
#include "daemon/serve/restart.h"
#include "daemon/serve/socket-closer.h"

static const uint64_t REPORT_AGE_NS = 100000000; /* who asks sooner gets the same report */

enum {
	/* Connections yet to be closed, while others are taken in: an eighth of LimitNOFILE= of the
	 * unit. With 4096 one client, whose refused messages linger, shut others out for 240 ms. */
	CLOSING_MAX = 65536,
	CLOSING_PAUSE_US = 20000,
	NO_ROOM_PAUSE_US = 50000,
	WAKE_ACCURACY_US = 250,
	UNPARK_NS = 500000,
};

/* --- the listening socket --- */

/*
 * Connections that wait to be accepted; further ones wait in their connect(2). One process that
 * connects without pause fills any queue, and each newcomer waits behind it: with SOMAXCONN a
 * victim's uncore_open() took 70 ms instead of 0.14, with 32 it takes 0.7.
 */
enum { BACKLOG = SERVER_AT_ONCE - 1 };

#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD 76 /* asm-generic/socket.h since Linux 6.5 */
#endif
#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS 83 /* asm-generic/socket.h since Linux 6.16 */
#endif

/* Best effort: without the last one socket-closer.h has more to do. */
void server_take_bare_messages(int fd)
{
	static const int options[] = { SO_PASSCRED, SO_PASSSEC, SO_PASSPIDFD, SO_PASSRIGHTS };
	const int off = 0;

	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		setsockopt(fd, SOL_SOCKET, options[i], &off, sizeof off);
}

static int take_activated(struct server *server, int fd, struct fault *fault)
{
	server->listen_fd = fd;
	if (sd_is_socket_unix(fd, SOCK_SEQPACKET, 1, NULL, 0) <= 0)
		return fault_set(fault, -EINVAL,
			"systemd passed a descriptor that is not a listening SOCK_SEQPACKET "
			"socket: "
			"the socket unit needs ListenSequentialPacket=.");
	server_take_bare_messages(fd);
	/* The socket unit may be a site's own, without Backlog=. */
	return fcntl(fd, F_SETFL, O_NONBLOCK) < 0 || listen(fd, BACKLOG) < 0 ? -errno : 0;
}

/* A socket file that nobody answers at was left by a daemon that was killed. */
static bool is_left_over(const struct sockaddr_un *address)
{
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	/* connect(2) is refused by a file that is no socket, too. */
	if (fd < 0 || lstat(address->sun_path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return false;
	return connect(fd, (const void *)address, sizeof *address) < 0 && errno == ECONNREFUSED;
}

static int bind_path(int fd, const struct sockaddr_un *address)
{
	if (bind(fd, (const void *)address, sizeof *address) == 0)
		return 0;
	if (errno != EADDRINUSE || !is_left_over(address))
		return -errno;
	unlink(address->sun_path);
	return bind(fd, (const void *)address, sizeof *address) < 0 ? -errno : 0;
}

int server_set_permissions(const struct server *server, struct fault *fault)
{
	const struct config *config = server->config;
	const struct policy_access *access = &config->access;

	if (!server->owns_path)
		return 0;
	if (chmod(config->socket_path, config->socket_mode) < 0)
		return fault_set(fault, -errno, "Cannot set the permissions of the socket %s: %m.",
			config->socket_path);
	if (chown(config->socket_path, -1, access->by_group ? access->group : getegid()) < 0)
		return fault_set(fault, -errno,
			"Cannot give the socket %s to group %s: %m. uncored must be a member of "
			"it: name it in SupplementaryGroups= of the unit.",
			config->socket_path, access->group_text);
	return 0;
}

bool server_socket(const struct server *server, struct rules_socket *ret)
{
	struct sockaddr_un address = {};
	socklen_t size = sizeof address - 1; /* the path may lack its NUL */
	struct stat st;

	if (getsockname(server->listen_fd, (void *)&address, &size) < 0 ||
		stat(address.sun_path, &st) < 0)
		return false;
	*ret = (struct rules_socket){ st.st_uid, st.st_gid, st.st_mode & 0777 };
	return true;
}

static int make_socket(struct server *server, const struct config *config, struct fault *fault)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int r;

	if (fd < 0)
		return fault_set(fault, -errno, "Cannot make a socket: %m.");
	memcpy(address.sun_path, config->socket_path, sizeof address.sun_path);
	r = bind_path(fd, &address);
	if (r == -EADDRINUSE)
		return fault_set(fault, r,
			"%s is taken: by another uncored, which is to be stopped first, or by a "
			"file "
			"that is not a socket.",
			address.sun_path);
	if (r < 0)
		return fault_set(fault, r,
			"Cannot bind the socket %s: %s. Its directory must exist and be writable "
			"for "
			"uncored; name another with --socket.",
			address.sun_path, strerror(-r));
	server->owns_path = true;
	r = server_set_permissions(server, fault);
	if (r < 0)
		return r;
	server_take_bare_messages(fd);
	if (listen(fd, BACKLOG) < 0)
		return fault_set(fault, -errno, "Cannot listen at %s: %m.", address.sun_path);
	server->listen_fd = take_fd(&fd);
	return 0;
}

int server_listen(
	struct server *server, struct config *config, struct fdstore *store, struct fault *fault)
{
	int r, fd = -1;
	unsigned n = fdstore_take_sockets(store, &fd);

	*server = (struct server){
		.config = config,
		.listen_fd = -1,
		.reports = { { .write_fd = -1, .read_fd = -1 }, { .write_fd = -1, .read_fd = -1 } },
	};
	if (n > 1) {
		close_fd(&fd);
		return fault_set(fault, -EINVAL,
			"systemd passed %u sockets, uncored serves one: the socket unit may have "
			"one "
			"Listen line.",
			n);
	}
	r = owners_new(store, &server->owners);
	if (r < 0) {
		close_fd(&fd);
		return fault_set(fault, r, "No memory or descriptor: %s.", strerror(-r));
	}
	return n == 1 ? take_activated(server, fd, fault) : make_socket(server, config, fault);
}

/* --- the loop --- */

static int on_retry(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct server *server = userdata;

	(void)source;
	(void)usec;
	server_resume_accepting(server);
	return 0;
}

/* Clients can cause it as often as they like. */
static void warn_at_times(struct log_limit *limit, const char *what, int error)
{
	uint64_t n_silent;

	if (log_limit_permits(limit, clock_now_ns(), &n_silent))
		log_warning("%s (%" PRIu64 " more times since the last such line): %s.", what,
			n_silent, strerror(error));
}

static void pause_accepting(struct server *server, uint64_t pause_us)
{
	sd_event_source_set_enabled(server->listen_source, SD_EVENT_OFF);
	sd_event_source_set_time_relative(server->retry_source, pause_us);
	sd_event_source_set_enabled(server->retry_source, SD_EVENT_ONESHOT);
}

/* Trying again at once would spin: wait until somebody leaves, or for some time. */
static void pause_without_room(struct server *server, int error)
{
	warn_at_times(&server->paused, "No new client can be taken in for now", error);
	pause_accepting(server, NO_ROOM_PAUSE_US);
}

/* A connection, or -1: that was all for now. */
static int accept_one(struct server *server, int fd)
{
	int accepted = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (accepted < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
		pause_without_room(server, errno);
	return accepted;
}

/* One for whom there is no room goes on waiting until others_are_heard(). */
static void take_in(struct server *server, int fd, bool others_are_heard)
{
	int r = peer_accept(server, &fd, others_are_heard);

	if (r == -EAGAIN)
		server->waiting[server->n_waiting++] = fd;
	else if (r < 0)
		warn_at_times(&server->lost, "A client could not be taken in", -r);
}

/*
 * All that wait, and only then the first of them is looked at. Where many connect without end, the
 * places in the queue are taken by those that happen to run, and one that waits for a place is
 * woken in vain, again and again. If all places become free at once, there is one for it.
 */
static void accept_all(struct server *server, int fd)
{
	int accepted[SERVER_AT_ONCE];
	unsigned n = 0;

	while (n < ARRAY_SIZE(accepted) && (accepted[n] = accept_one(server, fd)) >= 0)
		n++;
	for (unsigned i = 0; i < n; i++)
		take_in(server, accepted[i], false);
}

/*
 * A newcomer goes before the requests of those that are there, of which one client may have sent
 * hundreds; further ones, which may come without end, take their turn until none is left waiting.
 */
static void prefer_newcomers(struct server *server, bool prefer)
{
	sd_event_source_set_priority(server->listen_source,
		prefer ? SD_EVENT_PRIORITY_IMPORTANT : SD_EVENT_PRIORITY_NORMAL);
}

/* All that was pending when they were accepted is done: those that have left have made room. */
static void others_are_heard(struct server *server)
{
	unsigned n = server->n_waiting;

	server->n_waiting = 0;
	for (unsigned i = 0; i < n; i++)
		take_in(server, server->waiting[i], true);
}

static int on_connection(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct server *server = userdata;

	(void)source;
	(void)events;
	others_are_heard(server);
	closers_charge(server->closers, &server->budget);
	if (closers_pending(server->closers) > CLOSING_MAX)
		pause_accepting(server, CLOSING_PAUSE_US);
	else
		accept_all(server, fd);
	prefer_newcomers(server, false);
	return 0;
}

/* One waking of a closer is for all that was closed since. */
static void at_rest(void *userdata)
{
	struct server *server = userdata;

	others_are_heard(server);
	prefer_newcomers(server, true);
	closers_hand_over(server->closers);
}

void server_resume_accepting(struct server *server)
{
	if (server->listen_source)
		sd_event_source_set_enabled(server->listen_source, SD_EVENT_ON);
}

/* --- accounts --- */

/* What was known of the account under @number is void. */
static void forget_account(struct server *server, unsigned number)
{
	users_forget_account(&server->users, number);
	budget_forget(&server->budget, number);
	for (unsigned s = 0; s < server->counters->n_readers; s++)
		reader_forget_account(&server->counters->readers[s], number);
}

unsigned server_account_of(struct server *server, uint32_t uid)
{
	uint64_t id = owners_account_of(server->owners, uid);
	bool is_new;
	unsigned number = accounts_find(&server->accounts, id, &is_new);

	if (is_new)
		forget_account(server, number);
	return number;
}

/* Something is known of a uid: it may belong to another account than it was charged as. */
static int on_answer(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct server *server = userdata;
	eventfd_t count;
	uint32_t uid;

	(void)source;
	(void)events;
	eventfd_read(fd, &count);
	while (owners_take_answer(server->owners, &uid)) {
		unsigned account = server_account_of(server, uid);

		if (account == ACCOUNTS_NONE)
			continue;
		users_set_account(&server->users, uid, account);
		for (struct peer *peer = server->peers; peer; peer = peer->next)
			if (peer->uid == uid)
				peer_set_account(peer, account);
	}
	return 0;
}

uint64_t server_take_cost(struct server *server)
{
	uint64_t before_ns = server->charged_ns;

	server->charged_ns = clock_thread_ns();
	return server->charged_ns - before_ns;
}

/* Of each account whose wait is over, the one that is parked longest. */
static void find_longest(struct server *server, uint64_t now_ns)
{
	for (struct peer *peer = server->peers; peer; peer = peer->next) {
		struct account *account = &server->accounts.accounts[peer->account];

		if (peer->parked_ns && account->unpark_ns <= now_ns &&
			(!account->longest || peer->parked_ns < account->longest->parked_ns))
			account->longest = peer;
	}
}

/* One at a time: all at once would cost much, for an account that may pay for one. */
static void unpark_longest(struct server *server, uint64_t now_ns)
{
	for (struct peer *peer = server->peers; peer; peer = peer->next) {
		struct account *account = &server->accounts.accounts[peer->account];

		if (account->longest != peer)
			continue;
		account->longest = NULL;
		account->unpark_ns = now_ns + UNPARK_NS;
		peer_unpark(peer);
	}
}

static int on_wake(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct server *server = userdata;
	uint64_t now_ns = clock_now_ns(), next_ns = UINT64_MAX;

	(void)source;
	(void)usec;
	find_longest(server, now_ns);
	unpark_longest(server, now_ns);
	for (const struct peer *peer = server->peers; peer; peer = peer->next) {
		uint64_t unpark_ns = server->accounts.accounts[peer->account].unpark_ns;

		if (peer->parked_ns && unpark_ns < next_ns)
			next_ns = unpark_ns;
	}
	if (next_ns != UINT64_MAX)
		server_wake_at(server, next_ns);
	return 0;
}

void server_wake_at(struct server *server, uint64_t due_ns)
{
	uint64_t due_us = due_ns / 1000 + 1, set_us;
	int enabled;

	if (sd_event_source_get_enabled(server->wake_source, &enabled) < 0 ||
		sd_event_source_get_time(server->wake_source, &set_us) < 0 ||
		(enabled != SD_EVENT_OFF && set_us <= due_us))
		return;
	sd_event_source_set_time(server->wake_source, due_us);
	sd_event_source_set_enabled(server->wake_source, SD_EVENT_ONESHOT);
}

/* --- reports --- */

static bool is_recent(const struct report *report, enum wire_topic topic)
{
	return report->made_ns &&
	       (topic == WIRE_PLATFORMS || clock_now_ns() - report->made_ns < REPORT_AGE_NS);
}

static char *make_report(struct server *server, enum wire_topic topic, struct fault *fault)
{
	fault->text[0] = '\0';
	if (topic == WIRE_PLATFORMS)
		return report_platforms(server->counters->platform_dirs, fault);
	return report_state(server);
}

/* Only root has us make other memory for it, when the page is withdrawn: see server_withdraw(). */
static int open_report(struct report *report)
{
	if (report->write_fd < 0)
		report->write_fd = memfd_new_growing("uncored-report", 0444);
	if (report->write_fd >= 0 && report->read_fd < 0)
		report->read_fd = memfd_reopen_read_only(report->write_fd);
	return report->write_fd < 0 ? report->write_fd : report->read_fd;
}

static void close_report(struct report *report)
{
	close_fd(&report->write_fd);
	close_fd(&report->read_fd);
	report->made_ns = 0;
}

static int write_at(int fd, const void *bytes, size_t size_bytes, uint64_t at)
{
	ssize_t n = pwrite(fd, bytes, size_bytes, (off_t)at);

	return n < 0 ? -errno : (size_t)n < size_bytes ? -ENOSPC : 0;
}

static int write_report(struct report *report, const char *json)
{
	const uint64_t size_bytes = strlen(json);
	const struct wire_report_end end = { size_bytes, wire_hash(json, size_bytes) };
	int r = open_report(report);

	report->made_ns = 0;
	if (r >= 0)
		r = write_at(report->write_fd, json, size_bytes, 0);
	if (r >= 0)
		r = write_at(report->write_fd, &end, sizeof end, wire_report_end_at(size_bytes));
	if (r < 0)
		return r;
	report->size_bytes = size_bytes;
	report->made_ns = clock_now_ns();
	return 0;
}

int server_report(struct server *server, enum wire_topic topic, const struct report **ret,
	struct fault *fault)
{
	struct report *report = &server->reports[topic];
	_cleanup_free_ char *json = NULL;
	int r;

	*ret = report;
	if (is_recent(report, topic))
		return 0;
	json = make_report(server, topic, fault);
	if (!json && fault->text[0])
		return -EINVAL;
	r = json ? write_report(report, json) : -ENOMEM;
	if (r >= 0)
		return 0;
	return fault_set(fault, r, "uncored has no memory or descriptor for a report.");
}

static void tell_clients(struct server *server)
{
	publication_tell_clients(&server->counters->generation.publication, server->n_peers,
		server->n_refused_before + server->refusals.n);
}

void server_count_peer(struct server *server, int change)
{
	server->n_peers += change;
	tell_clients(server);
}

void server_note_refusal(struct server *server, uint32_t uid, const struct policy_refusal *refusal)
{
	uint64_t n_silent;

	if (refusals_note(&server->refusals, refusal->rule, uid, clock_now_ns(), &n_silent))
		log_warning("Refused user %u (%s; %" PRIu64 " more since the last such line): %s",
			uid, policy_rule_name(refusal->rule), n_silent, refusal->text);
	tell_clients(server);
}

static_assert((uint32_t)LEDGER_NO_OWNER == (uint32_t)POLICY_NO_OWNER, "nobody");

uint32_t server_owner(const struct server *server)
{
	return ledger_current(&server->counters->generation.ledger).owner;
}

int server_withdraw(struct server *server, uint32_t owner, const struct peer *but)
{
	int r = counters_replace_page(server->counters, owner);

	if (r < 0)
		return r;
	for (struct peer *peer = server->peers, *next; peer; peer = next) {
		next = peer->next;
		if (peer != but)
			peer_free(peer);
	}
	users_drop_away(&server->users);
	server_tell_users(server);
	close_report(&server->reports[WIRE_STATE]);
	tell_clients(server);
	return 0;
}

/* A socket whose file cannot be found is open to nobody. */
void server_tell_users(struct server *server)
{
	struct rules rules;

	policy_rules(&server->config->access, server_owner(server), &rules);
	server_socket(server, &rules.socket);
	users_tell(&server->users, server->config->disclosure.quantum, &rules);
}

int server_set_owner(struct server *server, uint32_t owner, const struct peer *but)
{
	struct ledger *ledger = &server->counters->generation.ledger;
	struct ledger_current current = ledger_current(ledger);

	if (owner == current.owner)
		return 0;
	if (server->config->access.owner_only)
		return server_withdraw(server, owner, but);
	current.owner = owner;
	ledger_set_current(ledger, current);
	server_tell_users(server);
	server->reports[WIRE_STATE].made_ns = 0;
	return 0;
}

/*
 * How many peers the limit of open files has room for, next to what is open already: each has a
 * connection, and may be the only one of its user, with doorbells and memory.
 */
static unsigned peers_that_fit(const struct counters *counters)
{
	struct rlimit limit;
	unsigned long reserved = 48;

	for (unsigned i = 0; i < counters->plan.n_boxes; i++)
		reserved += counters->plan.boxes[i].n_events;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur <= reserved)
		return 1;
	return (unsigned)((limit.rlim_cur - reserved) / (2 + counters->n_readers));
}

/* Users that are away have descriptors, too, but no more than a few clients would. */
static unsigned limit_away(struct users *users, unsigned n_fit)
{
	users->most_away = n_fit / 4 < USERS_AWAY_MAX ? n_fit / 4 : USERS_AWAY_MAX;
	return n_fit - users->most_away;
}

/* Where the site says nothing: every rank of a job has a place, with four ranks to a CPU. */
static void take_limits(struct server *server)
{
	unsigned of_machine = 4 * server->counters->topology.n_cpus;

	server->max_peers_of_user = server->config->max_clients_per_user;
	if (!server->max_peers_of_user)
		server->max_peers_of_user = of_machine > 512 ? of_machine : 512;
	server->max_peers = server->config->max_clients;
	if (!server->max_peers)
		server->max_peers = 4 * server->max_peers_of_user;
	if (server->max_peers > USERS_MAX)
		server->max_peers = USERS_MAX;
}

void server_limit_peers(struct server *server)
{
	unsigned fit = limit_away(&server->users, peers_that_fit(server->counters));

	take_limits(server);
	if (fit >= server->max_peers)
		return;
	log_warning("The limit of open files leaves room for %u clients, not for the %u of "
		    "max_clients: raise LimitNOFILE of the unit.",
		fit, server->max_peers);
	server->max_peers = fit;
	/* Nobody decided that one user may have all of these few. */
	if (server->max_peers_of_user > (fit + 1) / 2)
		server->max_peers_of_user = (fit + 1) / 2;
}

void server_apply_budget(struct server *server)
{
	server->budget.rules = (struct budget_rules){
		.percent = server->config->budget_percent,
		.burst_ms = server->config->burst_ms,
	};
	/* One request may turn out dear before it can be known to be. */
	server->budget.least_ns = -(int64_t)(server->config->burst_ms * UINT64_C(1000));
}

static int on_hangup(sd_event_source *source, const struct signalfd_siginfo *info, void *userdata)
{
	(void)source;
	(void)info;
	reload(userdata);
	return 0;
}

/*
 * Made before it is needed, which is when there may be no descriptor left for it. The loop's own
 * timer comes with it: a loop that cannot make one when a client is over its rate fails.
 */
static int add_retry(struct server *server)
{
	int r = sd_event_add_time(
		server->event, &server->retry_source, CLOCK_MONOTONIC, 0, 0, on_retry, server);

	return r < 0 ? r : sd_event_source_set_enabled(server->retry_source, SD_EVENT_OFF);
}

static int add_sources(struct server *server)
{
	int r = loop_new(&server->event, on_hangup, server);

	if (r >= 0)
		r = sd_event_add_io(server->event, &server->listen_source, server->listen_fd,
			EPOLLIN, on_connection, server);
	if (r >= 0)
		r = sd_event_add_io(
			server->event, NULL, owners_fd(server->owners), EPOLLIN, on_answer, server);
	if (r >= 0)
		r = sd_event_add_time(server->event, &server->wake_source, CLOCK_MONOTONIC,
			UINT64_MAX, WAKE_ACCURACY_US, on_wake, server);
	if (r >= 0)
		r = sd_event_source_set_enabled(server->wake_source, SD_EVENT_OFF);
	if (r >= 0)
		r = add_retry(server);
	return r;
}

/* What is there for clients; server_done() takes back what there is. */
static int prepare(struct server *server)
{
	const struct budget_rules rules = {};
	int r = closers_new(&server->closers);

	if (r >= 0)
		r = accounts_init(&server->accounts);
	if (r >= 0)
		r = budget_init(&server->budget, &rules, ACCOUNTS_MAX);
	if (r >= 0)
		r = users_init(&server->users, server->counters->readers,
			server->counters->n_readers, server->closers);
	if (r < 0)
		return r;
	server_tell_users(server);
	server_apply_budget(server);
	server_limit_peers(server);
	server_take_cost(server); /* that of the start */
	return 0;
}

void server_say_ready(const struct server *server)
{
	const struct counters *counters = server->counters;

	sd_notifyf(0, "READY=1\nSTATUS=Serving %s, %u sockets, %u counter boxes.",
		counters->platform->name, counters->plan.n_sockets, counters->plan.n_boxes);
}

int server_run(struct server *server, struct counters *counters, struct fault *fault)
{
	int r;

	server->counters = counters;
	server->n_refused_before = counters->generation.publication.header->daemon.refused;
	r = prepare(server);
	if (r >= 0)
		r = add_sources(server);
	if (r >= 0)
		r = restart_watch(server);
	if (r >= 0)
		r = watchdog_start(
			&server->watchdog, server->event, counters->readers, counters->n_readers);
	if (r < 0)
		return fault_set(fault, r, "Cannot set up the event loop: %s.", strerror(-r));
	server_say_ready(server);
	r = loop_run(server->event, at_rest, server);
	sd_notify(0, "STOPPING=1");
	return r < 0 ? fault_set(fault, r, "The event loop failed: %s.", strerror(-r)) : r;
}

void server_done(struct server *server)
{
	struct socket_closer closer = {};

	while (server->peers)
		peer_free(server->peers);
	users_done(&server->users);
	while (server->n_waiting)
		closers_close_connection(
			server->closers, ACCOUNTS_NONE, &server->waiting[--server->n_waiting]);
	closers_free(server->closers);
	budget_done(&server->budget);
	accounts_done(&server->accounts);
	owners_free(server->owners);
	sd_event_source_unref(server->wake_source);
	sd_event_source_unref(server->retry_source);
	sd_event_source_unref(server->listen_source);
	sd_event_unref(server->event);
	if (server->owns_path)
		unlink(server->config->socket_path);
	for (unsigned i = 0; i < ARRAY_SIZE(server->reports); i++)
		close_report(&server->reports[i]);
	socket_closer_close_listening(&closer, &server->listen_fd);
	socket_closer_done(&closer);
}
