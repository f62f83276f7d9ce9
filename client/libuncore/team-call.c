/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/libuncore/team-call.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "client/libuncore/call.h"
#include "client/libuncore/internal.h"
#include "common/clock.h"

/* Without these seals a peer could shrink the file under the mapping. */
enum { SEALS = F_SEAL_SHRINK | F_SEAL_GROW };

/*
 * All ranks of a job connect at once, while the machine is still busy with starting them: 576 ranks
 * on two CPUs beside other programs did not all connect within a second. A rank that gives up
 * counts alone.
 */
#define JOIN_WITHIN_NS 10000000000U
/* Pause between two attempts, if uncored ended during one. */
#define PAUSE_LEAST_NS 1000000
#define PAUSE_MOST_NS  100000000

/* --- answers --- */

/* Only memfds and other files in memory have seals. */
static bool is_as_told(int fd, uint64_t size_bytes)
{
	int seals = fcntl(fd, F_GET_SEALS), flags = fcntl(fd, F_GETFL);
	struct stat status;

	return seals >= 0 && (seals & SEALS) == SEALS && (flags & O_ACCMODE) == O_RDWR &&
	       fstat(fd, &status) == 0 && status.st_size >= 0 &&
	       (uint64_t)status.st_size == size_bytes;
}

static void take_others(const struct wire_table *table, struct team_table *ret)
{
	ret->n_others = table->n_others;
	memcpy(ret->other, table->other, sizeof ret->other);
}

static int take_table(const struct call *call, struct wire_packet *packet, struct team_table *ret)
{
	const struct wire_table *table = &packet->message.table;

	if (packet->n_fds != 1 || !is_as_told(packet->fds[0], table->bytes))
		return call_cannot_connect(-EBADMSG, call);
	*ret = (struct team_table){
		.fd = take_fd(&packet->fds[0]),
		.run = table->run,
		.layout = table->layout,
		.uid = table->uid,
		.bytes = table->bytes,
		.made_ns = table->made_ns,
	};
	memcpy(ret->name, table->name, sizeof ret->name);
	take_others(table, ret);
	return 0;
}

static int team_call_explain(int error, const struct call *call)
{
	return error != -ENOENT ? error
				: error_say(-ENODATA,
					  "uncored at %s keeps no such table: it was collected, or "
					  "kept for its hour, or never made.",
					  call->path);
}

/* Is the next answer @table? Its time distinguishes it from others of the same name. */
static bool is_answer(
	const struct call *call, const struct team_table *table, union wire_message *ret_answer)
{
	const struct wire_table *told = &ret_answer->table;

	return call_wait(call) == 0 && wire_peek(call->fd, WIRE_FROM_DAEMON, ret_answer) == 0 &&
	       told->header.opcode == WIRE_TABLE && told->made_ns == table->made_ns &&
	       told->uid == table->uid && told->run == table->run &&
	       told->layout == table->layout && strcmp(told->name, table->name) == 0;
}

/* --- requests ---
 *
 * Looking and forgetting need no HELLO, so users that the policy refuses now can still do both.
 */

static bool team_call_take_name(const char *name, char ret[TEAM_NAME_BYTES])
{
	size_t length = strnlen(name, TEAM_NAME_BYTES);

	if (length == TEAM_NAME_BYTES)
		return false;
	memcpy(ret, name, length + 1);
	return team_name_is_valid(ret);
}

static int say_name(const char *name)
{
	return error_say(-EINVAL,
		"\"%s\" cannot name a team: a name has 1 to %d printable ASCII characters other "
		"than space and \":\".",
		name, TEAM_NAME_BYTES - 1);
}

static int join_once(struct call *call, const union wire_message *request, struct team_table *ret)
{
	_cleanup_(wire_packet_done) struct wire_packet packet = { .n_fds = 0 };
	int r = call_ask_once(call, request, WIRE_TABLE, &packet);

	return r < 0 ? r : take_table(call, &packet, ret);
}

/* uncored ended or was killed before it answered. The next uncored answers at the same socket. */
static bool is_cut_off(int r)
{
	return r == -ECONNRESET || r == -ENOTCONN;
}

/* Pauses before the next attempt. False: the deadline has passed. */
static bool try_again(const struct call *call, long *pause_ns)
{
	const struct timespec pause = { .tv_nsec = *pause_ns };

	if (clock_now_ns() >= call->deadline_ns)
		return false;
	nanosleep(&pause, NULL);
	*pause_ns = 2 * *pause_ns < PAUSE_MOST_NS ? 2 * *pause_ns : PAUSE_MOST_NS;
	return true;
}

int team_join(const char *socket_path, const struct team_wish *wish, struct team_table *ret)
{
	_cleanup_(call_done) struct call call = call_to(socket_path, JOIN_WITHIN_NS);
	long pause_ns = PAUSE_LEAST_NS;
	union wire_message request;
	int r;

	wire_begin(&request, WIRE_TEAM);
	request.team.wish = TEAM_JOIN;
	request.team.uid = TEAM_OWN;
	request.team.run = wish->after_run;
	request.team.bytes = wish->bytes;
	request.team.layout = wish->layout;
	if (!team_call_take_name(wish->name, request.team.name))
		return say_name(wish->name);
	do {
		call_done(&call);
		r = join_once(&call, &request, ret);
	} while (is_cut_off(r) && try_again(&call, &pause_ns));
	return r;
}

/* If the answer is @own, leaves it in the socket; its descriptor is closed with the connection. */
static int take_unless_own(
	const struct call *call, const struct team_table *own, struct team_table *ret)
{
	_cleanup_(wire_packet_done) struct wire_packet packet = { .n_fds = 0 };
	union wire_message answer;
	int r;

	if (own && is_answer(call, own, &answer)) {
		*ret = *own;
		take_others(&answer.table, ret);
		return 0;
	}
	r = team_call_explain(call_take(call, WIRE_TABLE, &packet), call);
	return r < 0 ? r : take_table(call, &packet, ret);
}

int team_look(const char *socket_path, const struct team_choice *choice,
	const struct team_table *own, struct team_table *ret)
{
	_cleanup_(call_done) struct call call = call_to(socket_path, CALL_WITHIN_NS);
	union wire_message request;
	int r;

	if (choice->name ? choice->number : choice->run)
		return error_say(-EINVAL, "A table is chosen by name and run, or by its number.");
	wire_begin(&request, WIRE_TEAM);
	request.team.wish = TEAM_LOOK;
	request.team.uid = choice->uid;
	request.team.run = choice->run;
	request.team.number = choice->number;
	if (choice->name && !team_call_take_name(choice->name, request.team.name))
		return say_name(choice->name);
	r = call_connect(&call);
	if (r == 0)
		r = call_send(&call, &request);
	return r < 0 ? r : take_unless_own(&call, own, ret);
}

/* @opcode: WIRE_TEAM or WIRE_LAST */
static union wire_message about(const struct team_table *table, uint16_t opcode, uint32_t wish)
{
	union wire_message request;

	wire_begin(&request, opcode);
	request.team.wish = wish;
	request.team.uid = table->uid;
	request.team.run = table->run;
	memcpy(request.team.name, table->name, sizeof request.team.name);
	return request;
}

int team_forget(const char *socket_path, const struct team_table *table)
{
	_cleanup_(wire_packet_done) struct wire_packet packet = { .n_fds = 0 };
	_cleanup_(call_done) struct call call = call_to(socket_path, CALL_WITHIN_NS);
	union wire_message request = about(table, WIRE_TEAM, TEAM_FORGET);
	int r = call_connect(&call);

	if (r < 0)
		return r;
	request.team.layout = table->layout;
	return team_call_explain(call_ask(&call, &request, WIRE_DONE, &packet), &call);
}

static int team_call_take_reading(struct wire_packet *packet, struct team_reading *ret)
{
	const struct wire_reading *told = &packet->message.reading;
	const size_t n_bytes = told->n_sockets * sizeof ret->sweeps[0];

	if (packet->n_fds != 1 || told->n_sockets > PAGE_SOCKETS_MAX ||
		pread(packet->fds[0], ret->sweeps, n_bytes, 0) != (ssize_t)n_bytes)
		return -EBADMSG;
	memcpy(ret->generation, told->generation, sizeof ret->generation);
	ret->alive_ns = told->alive_ns;
	ret->noticed_ns = told->noticed_ns;
	ret->n_sockets = told->n_sockets;
	return 0;
}

static int ask_for_reading(
	struct call *call, const union wire_message *request, struct team_reading *ret)
{
	_cleanup_(wire_packet_done) struct wire_packet packet = { .n_fds = 0 };
	int r = call_ask(call, request, WIRE_READING, &packet);

	if (r == 0 && team_call_take_reading(&packet, ret) < 0)
		r = call_cannot_connect(-EBADMSG, call);
	return team_call_explain(r, call);
}

int team_last_reading(
	const char *socket_path, const struct team_table *table, struct team_reading *ret)
{
	_cleanup_(call_done) struct call call = call_to(socket_path, JOIN_WITHIN_NS);
	const union wire_message request = about(table, WIRE_LAST, TEAM_LOOK);
	long pause_ns = PAUSE_LEAST_NS;
	int r = call_connect(&call);

	if (r < 0)
		return r;
	do
		r = ask_for_reading(&call, &request, ret);
	while (r == -EAGAIN && try_again(&call, &pause_ns));
	return r == -EAGAIN ? -ETIMEDOUT : r;
}

void team_table_done(struct team_table *table)
{
	close_fd(&table->fd);
}
