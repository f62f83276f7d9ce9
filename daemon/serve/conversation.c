/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/serve/conversation.h"

#include <errno.h>
#include <sys/socket.h>

#include "common/bounds.h"
#include "common/clock.h"
#include "daemon/serve/deaths.h"
#include "daemon/serve/loop.h"
#include "daemon/serve/requests.h"

/* No message of an honest client costs this much CPU time. It takes microseconds. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const uint64_t DEAR_NS = 100000000; /* the sanitizers' own work */
#else
static const uint64_t DEAR_NS = 5000000;
#endif

/* What an account is forgiven in a minute, in messages of DEAR_NS: the host may take the CPU away
 * during a message, and an emulated CPU may need 15 ms for the first one. */
enum { FORGIVEN = 20 };
static const uint64_t MINUTE_NS = 60000000000;

/* After this time the budget is asked again, because other accounts may have left their part. */
static const uint64_t ASK_AGAIN_NS = 200000000;

static const uint64_t TURN_NS = 2000000;

int conversation_first_bytes(int fd)
{
	char first;
	ssize_t n = recv(fd, &first, sizeof first, MSG_PEEK | MSG_TRUNC | MSG_DONTWAIT);

	return n < 0 ? -errno : (int)n;
}

/*
 * A request that cannot be granted gets an error message. If the peer breaks the protocol, does not
 * read its answers or has left, this returns negative errno, and the peer must be freed. Nothing
 * that a peer does stops the loop.
 */
static int answer_next(struct peer *peer)
{
	struct wire_packet packet;
	int r = peer_receive(peer, &packet);

	if (r == -EAGAIN || r == -EINTR)
		return 0;
	if (r == 1)
		return requests_answer(peer, &packet.message);
	if (peer->only_collects && (r == -EOPNOTSUPP || r == -EBADMSG))
		return peer_turn_away(peer);
	if (r == -EOPNOTSUPP)
		return peer_refuse(peer, POLICY_REQUEST, "uncored knows no such request.");
	if (r == -EBADMSG)
		peer_refuse(peer, POLICY_MESSAGE, "This is not a message of uncored's protocol.");
	return r < 0 ? r : -ECONNRESET;
}

/*
 * Receiving from a client and answering it wake every watcher of its end, and asking for the locks
 * of its tables walks them all. A client that makes its messages cost too much is dropped, and a
 * closer does the last waking.
 */
static bool is_too_dear(const struct peer *peer, uint64_t cost_ns)
{
	uint64_t *forgiven_at_ns = &peer_account(peer)->forgiven_at_ns, now_ns;

	if (cost_ns <= DEAR_NS)
		return false;
	now_ns = clock_now_ns();
	if (*forgiven_at_ns > now_ns + MINUTE_NS)
		return true;
	*forgiven_at_ns =
		most_of(*forgiven_at_ns, now_ns) + cost_ns * (MINUTE_NS / FORGIVEN / DEAR_NS);
	return false;
}

/* Serves the next message of a peer, and charges its account. False: the peer was freed. */
static bool answer_one(struct peer *peer)
{
	struct server *server = peer->server;
	unsigned account = peer->account;
	uint64_t before_ns = clock_thread_ns();
	int r;

	peer->excused_ns = 0;
	r = answer_next(peer);
	if (r >= 0 && is_too_dear(peer, clock_thread_ns() - before_ns - peer->excused_ns)) {
		closers_beware(server->closers, account);
		r = -ECONNABORTED;
	}
	if (r < 0)
		peer_free(peer);
	budget_charge(&server->budget, account, server_take_cost(server));
	return r >= 0;
}

static void wait_for_budget(
	struct server *server, struct account *account, uint64_t now_ns, uint64_t wait_ns)
{
	account->due_ns = now_ns + (wait_ns < ASK_AGAIN_NS ? wait_ns : ASK_AGAIN_NS);
	loop_wake_at(server->wake_source, account->due_ns);
}

/* Serves the next message of a peer. If its account is in debt, or others of the account wait
 * already, parks the peer before anything is read. False: the peer was freed. */
static bool hear(struct peer *peer)
{
	struct server *server = peer->server;
	struct account *account = peer_account(peer);
	uint64_t now_ns = clock_now_ns();
	uint64_t wait_ns = budget_ask_own(&server->budget, peer->account, now_ns);

	if (!wait_ns && !account->first_parked)
		return answer_one(peer);
	if (!account->first_parked)
		wait_for_budget(server, account, now_ns, wait_ns);
	peer_park(peer, now_ns);
	budget_charge_unasked(&server->budget, peer->account, server_take_cost(server));
	return true;
}

/* A client that has left needs no answer, so its peer does not stay parked. Otherwise clients that
 * keep coming and leaving would use up all connections of their user with parked ones. */
static void conversation_drop(struct peer *peer)
{
	struct server *server = peer->server;
	unsigned account = peer->account;

	peer->has_left = true;
	/* Without budget the user's tables wait for the look at all. */
	if (!budget_ask_own(&server->budget, account, clock_now_ns()))
		deaths_look(peer);
	peer_free(peer);
	budget_charge_unasked(&server->budget, account, server_take_cost(server));
}

static int on_readable(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct peer *peer = userdata;

	(void)source;
	(void)fd;
	if (events & EPOLLHUP)
		conversation_drop(peer);
	else if (!peer->parked_ns && hear(peer) && !peer->parked_ns)
		peer_look_again(peer);
	return 0;
}

static int conversation_watch(struct peer *peer)
{
	int r = sd_event_add_io(peer->server->event, &peer->source, peer->fd,
		(uint32_t)(peer->parked_ns ? PEER_PARKED : PEER_READABLE), on_readable, peer);

	return r < 0 ? r : peer_limit_rate(peer);
}

/* The library sends HELLO right after it connects. It gets its answer right away, because another
 * turn of the loop would cost as much as the answer. */
int conversation_begin(struct peer *peer)
{
	int r;

	if (conversation_first_bytes(peer->fd) > 0 && !hear(peer))
		return 0;
	r = conversation_watch(peer);
	if (r < 0)
		peer_free(peer);
	return r;
}

/* --- parked peers --- */

/* Answers the first of an account's parked peers. After it the event loop reports the peer again,
 * so that its next message comes behind the others of the account. */
static void answer_first(struct account *account)
{
	struct peer *peer = account->first_parked;

	peer_unpark(peer);
	if (answer_one(peer))
		peer_look_again(peer);
}

/* Answers an account's first parked peer. False: there is none, or no budget for it. */
static bool turn_to(struct server *server, unsigned number)
{
	struct account *account = &server->accounts.accounts[number];
	uint64_t now_ns, wait_ns;

	if (!account->first_parked)
		return false;
	now_ns = clock_now_ns();
	wait_ns = account->due_ns > now_ns ? account->due_ns - now_ns
					   : budget_ask_own(&server->budget, number, now_ns);
	if (wait_ns)
		wait_for_budget(server, account, now_ns, wait_ns);
	else
		answer_first(account);
	return !wait_ns;
}

/* Accounts take turns, so that none waits for more than one message of each other, and all other
 * events have their turn after TURN_NS. */
static int on_wake(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct server *server = userdata;
	const unsigned n = server->accounts.n;
	const uint64_t end_ns = clock_now_ns() + TURN_NS;
	unsigned n_idle = 0; /* accounts in a row that had no turn */

	(void)source;
	(void)usec;
	while (n_idle < n && (n_idle || clock_now_ns() < end_ns))
		n_idle = turn_to(server, server->next_turn++ % n) ? 0 : n_idle + 1;
	if (n_idle < n)
		loop_wake_at(server->wake_source, end_ns);
	return 0;
}

int conversation_start(struct server *server)
{
	return loop_timer_new(server->event, &server->wake_source, on_wake, server);
}
