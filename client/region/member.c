/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/region/member.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>

#include "client/launcher/launch.h"
#include "client/libuncore/internal.h"
#include "client/region/cell.h"
#include "client/region/own-table.h"
#include "common/clock.h"
#include "common/cpus.h"
#include "common/same-file.h"

static const uint64_t LOOK_AFTER_NS = 1000000000;

static uint64_t state_after(uint64_t state, enum table_phase phase)
{
	const bool is_new = phase == TABLE_JOINED || phase == TABLE_OBSERVES;

	return ((state >> 8) + is_new) << 8 | phase;
}

static int lock_slot(int fd, unsigned slot, short type)
{
	struct flock lock = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = (off_t)slot, .l_len = 1
	};

	if (fd == MEMBER_ALONE)
		return 0;
	return fcntl(fd, F_SETLK, &lock) < 0 ? -errno : 0;
}

/* --- joining --- */

static void raise(uint32_t *number, uint32_t least)
{
	uint32_t now = __atomic_load_n(number, __ATOMIC_SEQ_CST);

	while (now < least && !REPLACE(*number, now, least))
		;
}

/* Closes the passages that a member left open because it died or exited inside regions. Those of
 * the dead are added to the region's count. */
static void close_cells(struct table *table, unsigned slot)
{
	const unsigned n = table_count_regions(table);

	for (unsigned i = 0; i < n; i++) {
		const uint32_t n_open =
			table_has_cell(table, slot, i)
				? cell_bury(&table->cells[slot][i], &table->seen[slot][i])
				: 0;

		if (n_open)
			table->works[slot][i].n_died += n_open;
	}
	cell_bury(&table->cells[slot][TABLE_OUTSIDE], &table->seen[slot][TABLE_OUTSIDE]);
}

/* Takes @slot over with its counts. */
static void take_over(struct member *member, unsigned slot, uint64_t before)
{
	struct table_slot *own = &member->table->slots[slot];
	char cpus[sizeof own->cpus] = "";
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof set, &set) == 0)
		cpus_list(&set, sizeof set, cpus);
	member->slot = slot;
	member->state = state_after(before, member->phase);
	STORE(own->pid, (int32_t)getpid());
	STORE(own->rank, launch_rank());
	TABLE_WRITE_TEXT(own->cpus, cpus);
	if ((before & 0xff) != TABLE_FREE)
		close_cells(member->table, slot);
	raise(&member->table->header.n_slots, slot + 1);
	__atomic_store_n(&own->state, member->state, __ATOMIC_SEQ_CST);
	if (member->phase == TABLE_JOINED)
		__atomic_fetch_add(&member->table->header.n_joined, 1, __ATOMIC_SEQ_CST);
}

static bool has_row(const struct member *member, unsigned slot)
{
	const struct table *table = member->table;

	return member_has_room(member, table->cells[slot], sizeof table->cells[slot]) &&
	       member_has_room(member, table->seen[slot], sizeof table->seen[slot]) &&
	       member_has_room(member, table->works[slot], sizeof table->works[slot]);
}

/* 1: the slot is ours; 0: it is not in @phase, or another process has it. */
static int try_slot(struct member *member, unsigned slot, enum table_phase phase)
{
	uint64_t *state = &member->table->slots[slot].state;
	uint64_t before = __atomic_load_n(state, __ATOMIC_SEQ_CST);
	/* The phase stays until all is taken over. If this process is killed meanwhile, the next
	 * one still finds what the former member left. */
	const uint64_t claimed = before + (1 << 8);
	int r;

	if ((before & 0xff) != phase)
		return 0;
	r = lock_slot(member->fd, slot, F_WRLCK);
	if (r == -EACCES || r == -EAGAIN)
		return 0;
	if (r < 0)
		return error_say(
			r, "Cannot lock this process's place in the table of its team: %m.");
	if (!has_row(member, slot)) {
		lock_slot(member->fd, slot, F_UNLCK);
		return error_say(-ENOSPC, "The disk with the table of this process is full.");
	}
	/* If all members of the table hold locks, only this process can change the state now. */
	if (!REPLACE(*state, before, claimed)) {
		lock_slot(member->fd, slot, F_UNLCK);
		return 0;
	}
	take_over(member, slot, claimed);
	return 1;
}

static int find_slot(struct member *member)
{
	/* Unused slots come first, so that a report names each member. An observer takes no other:
	 * it leaves its slot as if it had never been there. */
	static const enum table_phase phases[] = { TABLE_FREE, TABLE_OBSERVES, TABLE_LEFT,
		TABLE_DIED };
	const size_t n = member->phase == TABLE_OBSERVES ? 2 : ARRAY_SIZE(phases);

	for (size_t p = 0; p < n; p++)
		for (unsigned i = 0; i < TABLE_MEMBERS_MAX; i++) {
			int r = try_slot(member, i, phases[p]);

			if (r)
				return r;
		}
	return error_say(-ENOSPC, "Each of the %d places of this team is held by a process.",
		TABLE_MEMBERS_MAX);
}

static int note_descriptor(struct member *member)
{
	struct stat status;

	if (member->fd == MEMBER_ALONE)
		return 0;
	if (fstat(member->fd, &status) < 0)
		return error_say(-errno, "Cannot look at the table of this team: %m.");
	member->device = status.st_dev;
	member->inode = status.st_ino;
	return 0;
}

int member_join(struct member *ret, struct table *table, int fd, enum table_phase phase)
{
	int r;

	*ret = (struct member){ .table = table, .fd = fd, .phase = phase };
	r = note_descriptor(ret);
	if (r == 0)
		r = find_slot(ret);
	return r < 0 ? r : 0;
}

/* --- who lives --- */

bool member_has_slot(const struct member *member)
{
	const uint64_t *state = &member->table->slots[member->slot].state;

	return LOAD(*state) >> 8 == member->state >> 8;
}

int member_check(const struct member *member)
{
	if (LOAD(member->table->slots[member->slot].state) == member->state &&
		(member_is_alone(member) || member_has_file(member, member->fd)))
		return 0;
	return error_say(-EBADF,
		"The program has closed a descriptor of libuncore, so its regions are not measured "
		"any more.");
}

/* Uses an open file description lock, which conflicts with the locks of all processes. F_GETLK
 * would not report this process's own locks, which another copy of the library may hold. */
static bool member_is_locked(int fd, off_t from, off_t n, pid_t *ret_holder)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = from, .l_len = n
	};
	bool is_known = fcntl(fd, F_OFD_GETLK, &lock) == 0;

	*ret_holder = is_known ? lock.l_pid : 0;
	return !is_known || lock.l_type != F_UNLCK;
}

bool member_has_file(const struct member *member, int fd)
{
	return member->fd != MEMBER_ALONE && same_file_is_open(fd, member->device, member->inode);
}

/* If the program has closed the descriptor, its lock is lost, and the file may be opened again. */
bool member_has_room(const struct member *member, const void *part, size_t size_bytes)
{
	const size_t from = (size_t)((const char *)part - (const char *)member->table);
	_cleanup_close_ int again = -1;

	if (!LOAD(member->table->header.boot_ns))
		return true;
	if (member_has_file(member, member->fd))
		return own_table_reserve(member->fd, from, size_bytes);
	again = member->file ? open(member->file, O_RDWR | O_CLOEXEC) : -1;
	return again >= 0 && member_has_file(member, again) &&
	       own_table_reserve(again, from, size_bytes);
}

/*
 * A member takes its lock before it has joined, so the state must be read before the lock. A query
 * for a range with several locks returns any of them, so each slot is queried alone. The descriptor
 * is checked last, because the program may close it at any time.
 */
static bool mark_if_dead(const struct member *member, unsigned slot)
{
	uint64_t *state = &member->table->slots[slot].state;
	uint64_t before = __atomic_load_n(state, __ATOMIC_SEQ_CST);
	pid_t holder;

	if (member_is_locked(member->fd, (off_t)slot, 1, &holder) ||
		!member_has_file(member, member->fd))
		return false;
	if ((before & 0xff) == TABLE_JOINED)
		REPLACE(*state, before, state_after(before, TABLE_DIED));
	return true;
}

static unsigned member_look(const struct member *member)
{
	const unsigned n_slots = table_count_slots(member->table);
	unsigned n = 0;

	for (unsigned i = 0; i < n_slots; i++)
		if (i != member->slot && table_phase(member->table, i) == TABLE_JOINED) {
			mark_if_dead(member, i);
			n += table_phase(member->table, i) == TABLE_JOINED;
		}
	return n;
}

/* Slot + 1, and the number of the slot's owner. */
static uint64_t claim_of(unsigned slot, uint64_t state)
{
	return (slot + 1) | state >> 8 << 16;
}

uint64_t member_claim(const struct member *member)
{
	return claim_of(member->slot, member->state);
}

bool member_holds_claim(const struct member *member, uint64_t claim)
{
	const unsigned slot = (unsigned)(claim & 0xffff) - 1;
	enum table_phase phase;
	uint64_t state;

	if (slot >= TABLE_MEMBERS_MAX)
		return false; /* no member wrote it */
	state = __atomic_load_n(&member->table->slots[slot].state, __ATOMIC_SEQ_CST);
	phase = (enum table_phase)(state & 0xff);
	if ((phase != TABLE_JOINED && phase != TABLE_OBSERVES) || claim != claim_of(slot, state))
		return false;
	return slot == member->slot || member_is_alone(member) || !mark_if_dead(member, slot);
}

unsigned member_look_for_dead(const struct member *member)
{
	STORE(member->table->header.last_look_ns, clock_now_ns());
	if (member_is_alone(member) || !member_has_file(member, member->fd))
		return 0;
	return member_look(member);
}

bool member_should_look(const struct member *member, uint64_t now_ns)
{
	uint64_t *last = &member->table->header.last_look_ns;
	uint64_t before_ns = LOAD(*last);

	return !member_is_alone(member) && now_ns > before_ns &&
	       now_ns - before_ns >= LOOK_AFTER_NS && REPLACE(*last, before_ns, now_ns);
}

unsigned member_count_living(struct table *table, int fd)
{
	struct member nobody = { .table = table, .fd = fd, .slot = TABLE_MEMBERS_MAX };

	return note_descriptor(&nobody) < 0 ? 0 : member_look(&nobody);
}

bool member_is_any_there(int fd)
{
	pid_t holder;

	return member_is_locked(fd, 0, TABLE_MEMBERS_MAX, &holder);
}

/* A query for a range with several locks returns any of them, so each slot is queried alone, unless
 * all have ended. */
bool member_is_this_process(int fd)
{
	const off_t n = member_is_any_there(fd) ? TABLE_MEMBERS_MAX : 0;
	bool is_own = false;
	pid_t holder;

	for (off_t i = 0; i < n && !is_own; i++)
		is_own = member_is_locked(fd, i, 1, &holder) && holder == getpid();
	return is_own;
}

/* --- leaving --- */

void member_leave(struct member *member)
{
	const enum table_phase phase = member->phase == TABLE_JOINED ? TABLE_LEFT : TABLE_FREE;
	uint64_t state = member->state;

	REPLACE(member->table->slots[member->slot].state, state, state_after(state, phase));
}

void member_let_go(const struct member *member)
{
	if (member_has_file(member, member->fd))
		lock_slot(member->fd, member->slot, F_UNLCK);
}
