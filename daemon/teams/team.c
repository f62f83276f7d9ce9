/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/teams/team.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/bounds.h"
#include "common/clock.h"
#include "common/number.h"
#include "daemon/base/memfd.h"

/* A look at one table takes microseconds. */
static const uint64_t SLOW_NS = 200000, DEAR_NS = 20000000, SLOW_AGAIN_NS = 60000000000U;

/* The name of the memfd: uid, run, layout, time and name of the team. */
#define PREFIX       "uncored-team."
#define NAME_FORMAT  PREFIX "%" PRIu32 ".%" PRIu32 ".%" PRIu32 ".%" PRIu64 ".%s"
#define LINK_PREFIX  "/memfd:" PREFIX
#define LINK_POSTFIX " (deleted)"

enum {
	NAME_BYTES = 250, /* the kernel's limit, with the NUL */
	LINK_BYTES = NAME_BYTES + 32,
	SEALS = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL,
	BLOCK_BYTES = 512, /* of st_blocks, see stat(2) */
};

bool team_may_have(uint64_t size_bytes)
{
	return size_bytes && size_bytes <= TEAM_BYTES_MAX &&
	       size_bytes % (uint64_t)sysconf(_SC_PAGESIZE) == 0;
}

int team_make_memfd(struct team *team)
{
	char name[NAME_BYTES];

	snprintf(name, sizeof name, NAME_FORMAT, team->uid, team->run, team->layout, team->made_ns,
		team->name);
	team->fd = memfd_new(name, team->bytes, 0600);
	return team->fd < 0 ? team->fd : 0;
}

/* --- reading back --- */

/* Parses a number with a point after it. Returns the text after the point; NULL: @text has another
 * form. */
static const char *team_take_number(const char *text, uint64_t most, uint64_t *ret)
{
	text = text ? number_parse(text, 10, most, ret) : NULL;
	return text && *text == '.' ? text + 1 : NULL;
}

static bool team_take_name(const char *text, char ret[TEAM_NAME_BYTES])
{
	size_t length = strlen(text), postfix = strlen(LINK_POSTFIX);

	if (length < postfix || strcmp(text + length - postfix, LINK_POSTFIX) != 0 ||
		length - postfix >= TEAM_NAME_BYTES)
		return false;
	memcpy(ret, text, length - postfix);
	ret[length - postfix] = '\0';
	return team_name_is_valid(ret);
}

static bool team_parse(const char *link, struct team *team)
{
	uint64_t uid = 0, run = 0, layout = 0;
	const char *text = link + strlen(LINK_PREFIX);

	if (strncmp(link, LINK_PREFIX, strlen(LINK_PREFIX)) != 0)
		return false;
	text = team_take_number(text, UINT32_MAX, &uid);
	text = team_take_number(text, UINT32_MAX, &run);
	text = team_take_number(text, UINT32_MAX, &layout);
	text = team_take_number(text, UINT64_MAX, &team->made_ns);
	if (!text || !run || !team_take_name(text, team->name))
		return false;
	team->uid = (uint32_t)uid;
	team->run = (uint32_t)run;
	team->layout = (uint32_t)layout;
	return true;
}

static bool read_link(int fd, char ret[LINK_BYTES])
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	n = readlink(path, ret, LINK_BYTES);
	if (n < 0 || n == LINK_BYTES)
		return false;
	ret[n] = '\0';
	return true;
}

/* The kernel may add seals of its own: F_SEAL_EXEC, with the sysctl vm.memfd_noexec. */
static bool has_seals(int fd)
{
	int seals = fcntl(fd, F_GET_SEALS);

	return seals >= 0 && (seals & SEALS) == SEALS;
}

bool team_read_memfd(int fd, struct team *ret)
{
	struct team team = { .fd = fd, .bytes = memfd_bytes(fd) };
	int flags = fcntl(fd, F_GETFL);
	char link[LINK_BYTES];

	if (!read_link(fd, link) || !team_parse(link, &team) || flags < 0 ||
		(flags & O_ACCMODE) != O_RDWR || !has_seals(fd) || !team_may_have(team.bytes))
		return false;
	*ret = team;
	return true;
}

/* --- looking at it --- */

void team_measure(struct team *team)
{
	struct stat status;

	if (fstat(team->fd, &status) == 0)
		team->used_bytes = (uint64_t)status.st_blocks * BLOCK_BYTES;
}

bool team_is_reported(struct team *team)
{
	const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t rest = page_bytes > TEAM_REPORTED_BYTES ? page_bytes : TEAM_REPORTED_BYTES;

	team_measure(team);
	return team->used_bytes <= rest + page_bytes;
}

/* uncored holds no lock, so any lock is a member's. */
static bool team_is_locked(int fd)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = TEAM_SLOTS_MAX };

	return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* Returns what the look cost, in ns. The host may have taken the CPU from one look, hardly from
 * two: the shorter one counts. */
static uint64_t team_time_look(int fd, bool *ret_is_alive)
{
	uint64_t least_ns = UINT64_MAX;

	for (unsigned i = 0; i < 2 && least_ns > SLOW_NS; i++) {
		const uint64_t before_ns = clock_thread_ns();

		*ret_is_alive = team_is_locked(fd);
		least_ns = least_of(least_ns, clock_thread_ns() - before_ns);
	}
	return least_ns;
}

bool team_is_alive(struct team *team, uint64_t now_ns)
{
	uint64_t took_ns;
	bool is_alive;

	if (team->is_dear || now_ns < team->again_ns)
		return !team->ended_ns;
	took_ns = team_time_look(team->fd, &is_alive);
	team->is_dear = took_ns > DEAR_NS;
	team->again_ns = took_ns > SLOW_NS ? now_ns + SLOW_AGAIN_NS : 0;
	if (is_alive)
		team->alive_ns = now_ns;
	if (is_alive && !team->is_dear)
		team->ended_ns = 0;
	else if (!team->ended_ns)
		team->ended_ns = now_ns;
	return !team->ended_ns;
}

/* --- others --- */

static void team_note(struct team *team, const struct team *other)
{
	team->met[other->place / 64] |= UINT64_C(1) << other->place % 64;
	if (!*team->other)
		strcpy(team->other, other->name);
}

void team_meet(struct team *team, struct team *other)
{
	team_note(team, other);
	team_note(other, team);
}

unsigned team_count_others(const struct team *team)
{
	unsigned n = 0;

	for (unsigned i = 0; i < TEAM_PLACES_MAX / 64; i++)
		n += (unsigned)__builtin_popcountll(team->met[i]);
	return n;
}
