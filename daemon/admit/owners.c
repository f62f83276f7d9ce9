/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/admit/owners.h"

#include <errno.h>
#include <pthread.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>

#include "common/clock.h"
#include "common/macro.h"
#include "daemon/base/memfd.h"
#include "daemon/base/privilege.h"

#define OWNERS_MAGIC 0x756e636f72656f01ULL

static const char store_name[] = "owners";
static const uint64_t LOOK_AGAIN_NS = 600000000000U; /* ten minutes */

enum {
	ENTRIES = 4096,
	PROBES = 8, /* places in the table that a uid can be at */
	QUEUE_MAX = 256,
	ANSWERS_MAX = QUEUE_MAX + OWNERS_LOOKUPS_MAX, /* and one for each lookup under way */
	PASSWD_BYTES = 16384,
	STACK_BYTES = 256 * 1024, /* name service modules use it, too */
};

enum kind { NOT_KNOWN, ITSELF, SUBORDINATE, NOBODYS };

struct owner_entry {
	uint32_t uid;
	uint32_t kind;  /* enum kind */
	uint32_t owner; /* of a SUBORDINATE uid */
	uint32_t reserved;
	uint64_t looked_ns; /* when it was last looked up, or queued for that; 0: free */
};

/* The part that outlives the process. */
struct owner_table {
	uint64_t magic;
	struct owner_entry entries[ENTRIES];
};

/* The indices of a ring buffer: first in, first out. */
struct queue {
	unsigned first, n, most;
};

struct owners {
	int fd; /* of the table */
	struct owner_table *table;
	int answer_fd; /* eventfd */

	pthread_mutex_t lock; /* protects all that follows */
	bool orphaned;        /* nobody takes answers any more: the last thread frees this */
	unsigned n_threads;
	struct queue asked, answered;
	uint32_t questions[QUEUE_MAX];
	struct owner_entry answers[ANSWERS_MAX];
};

/* The place for the next element. */
static unsigned queue_put(struct queue *queue)
{
	return (queue->first + queue->n++) % queue->most;
}

/* The place of the first element, which leaves the queue. */
static unsigned queue_take(struct queue *queue)
{
	unsigned at = queue->first;

	queue->first = (at + 1) % queue->most;
	queue->n--;
	return at;
}

/* --- one lookup --- */

static bool find_uid(const char *name, uint32_t *ret)
{
	char buffer[PASSWD_BYTES];
	struct passwd passwd, *found = NULL;

	if (getpwnam_r(name, &passwd, buffer, sizeof buffer, &found) != 0 || !found)
		return false;
	*ret = found->pw_uid;
	return true;
}

/* getpwuid_r(3) lists the errors that mean "no such user". ERANGE: the user exists, with a long
 * entry. */
static enum kind look_up_in_passwd(uint32_t uid)
{
	char buffer[PASSWD_BYTES];
	struct passwd passwd, *found = NULL;
	int r = getpwuid_r(uid, &passwd, buffer, sizeof buffer, &found);

	if (found || r == ERANGE)
		return ITSELF;
	return r == 0 || r == ENOENT || r == ESRCH || r == EBADF || r == EPERM ? NOBODYS
									       : NOT_KNOWN;
}

static struct owner_entry look_up(uint32_t uid)
{
	struct owner_entry entry = { .uid = uid, .kind = look_up_in_passwd(uid) };
	_cleanup_file_ FILE *file = NULL;

	if (entry.kind != NOBODYS)
		return entry;
	file = fopen("/etc/subuid", "re");
	if (file && subids_owner_of(file, uid, find_uid, &entry.owner) == SUBIDS_ONE)
		entry.kind = SUBORDINATE;
	return entry;
}

/* --- threads that look up --- */

static void owners_destroy(struct owners *owners)
{
	munmap(owners->table, sizeof *owners->table);
	close_fd(&owners->fd);
	close_fd(&owners->answer_fd);
	pthread_mutex_destroy(&owners->lock);
	free(owners);
}

/* Answers questions until none is left. Called with the lock held; unlocks it during a lookup. */
static void answer_all(struct owners *owners)
{
	while (owners->asked.n && owners->answered.n < QUEUE_MAX && !owners->orphaned) {
		uint32_t uid = owners->questions[queue_take(&owners->asked)];
		struct owner_entry entry;

		pthread_mutex_unlock(&owners->lock);
		entry = look_up(uid);
		pthread_mutex_lock(&owners->lock);
		owners->answers[queue_put(&owners->answered)] = entry;
		eventfd_write(owners->answer_fd, 1);
	}
}

static void *run(void *argument)
{
	struct owners *owners = argument;
	bool is_last;

	privilege_drop();
	pthread_mutex_lock(&owners->lock);
	answer_all(owners);
	is_last = !--owners->n_threads && owners->orphaned;
	pthread_mutex_unlock(&owners->lock);
	if (is_last)
		owners_destroy(owners);
	return NULL;
}

static void start_thread(struct owners *owners)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	if (pthread_create(&thread, &attr, run, owners) == 0)
		owners->n_threads++;
	pthread_attr_destroy(&attr);
}

/* A thread also ends when there is no room for its answers, so taking an answer may start one. */
static void start_what_is_needed(struct owners *owners)
{
	if (owners->asked.n && owners->answered.n < QUEUE_MAX &&
		owners->n_threads < OWNERS_LOOKUPS_MAX)
		start_thread(owners);
}

/* False: the queue of lookups is full. */
static bool ask(struct owners *owners, uint32_t uid)
{
	bool has_room;

	pthread_mutex_lock(&owners->lock);
	has_room = owners->asked.n < QUEUE_MAX;
	if (has_room)
		owners->questions[queue_put(&owners->asked)] = uid;
	start_what_is_needed(owners);
	pthread_mutex_unlock(&owners->lock);
	return has_room;
}

/* --- the table, used by the main thread only --- */

static bool is_of(const struct owner_entry *entry, uint32_t uid)
{
	return entry->looked_ns && entry->uid == uid;
}

/* The entry of @uid, or the entry that @uid would replace: the one with the oldest lookup. */
static struct owner_entry *find_place(struct owner_table *table, uint32_t uid)
{
	uint32_t at = uid * 2654435761U; /* Knuth's multiplicative hash */
	struct owner_entry *oldest = &table->entries[at % ENTRIES];

	for (uint32_t i = 0; i < PROBES; i++) {
		struct owner_entry *entry = &table->entries[(at + i) % ENTRIES];

		if (is_of(entry, uid))
			return entry;
		if (entry->looked_ns < oldest->looked_ns)
			oldest = entry;
	}
	return oldest;
}

static uint64_t account_id(const struct owner_entry *entry)
{
	if (entry->kind == ITSELF)
		return entry->uid;
	if (entry->kind == SUBORDINATE)
		return entry->owner;
	return UINT64_C(1) << 32 | entry->uid >> 16;
}

uint64_t owners_account_of(struct owners *owners, uint32_t uid)
{
	struct owner_entry *place, entry = { .uid = uid };
	uint64_t now_ns = clock_now_ns();

	if (!uid)
		return 0;
	place = find_place(owners->table, uid);
	if (is_of(place, uid))
		entry = *place;
	if ((!entry.looked_ns || now_ns - entry.looked_ns > LOOK_AGAIN_NS) && ask(owners, uid)) {
		entry.looked_ns = now_ns;
		*place = entry;
	}
	return account_id(&entry);
}

int owners_fd(const struct owners *owners)
{
	return owners->answer_fd;
}

bool owners_take_answer(struct owners *owners, uint32_t *ret_uid)
{
	struct owner_entry answer;
	bool taken;

	pthread_mutex_lock(&owners->lock);
	taken = owners->answered.n;
	if (taken)
		answer = owners->answers[queue_take(&owners->answered)];
	start_what_is_needed(owners);
	pthread_mutex_unlock(&owners->lock);
	if (!taken)
		return false;
	*ret_uid = answer.uid;
	if (answer.kind == NOT_KNOWN)
		return true; /* an old answer is better than none */
	answer.looked_ns = clock_now_ns();
	*find_place(owners->table, answer.uid) = answer;
	return true;
}

/* --- beginning and end --- */

static struct owner_table *map_table(int fd)
{
	struct owner_table *table;

	if (fd < 0 || memfd_bytes(fd) != sizeof *table)
		return NULL;
	table = memfd_map(fd, sizeof *table);
	if (table && table->magic != OWNERS_MAGIC) {
		munmap(table, sizeof *table);
		return NULL;
	}
	return table;
}

static int open_table(struct owners *owners, struct fdstore *store)
{
	owners->fd = fdstore_take(store, store_name);
	owners->table = map_table(owners->fd);
	if (owners->table)
		return 0;
	close_fd(&owners->fd);
	owners->fd = memfd_new("uncored-owners", sizeof *owners->table, 0600);
	if (owners->fd < 0)
		return owners->fd;
	owners->table = memfd_map(owners->fd, sizeof *owners->table);
	if (!owners->table)
		return -errno;
	owners->table->magic = OWNERS_MAGIC;
	return 0;
}

int owners_new(struct fdstore *store, struct owners **ret)
{
	struct owners *owners = calloc(1, sizeof *owners);
	int r;

	if (!owners)
		return -ENOMEM;
	owners->answer_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = owners->answer_fd < 0 ? -errno : open_table(owners, store);
	if (r < 0) {
		close_fd(&owners->answer_fd);
		if (owners->fd > 0)
			close_fd(&owners->fd);
		free(owners);
		return r;
	}
	owners->asked.most = QUEUE_MAX;
	owners->answered.most = ANSWERS_MAX;
	pthread_mutex_init(&owners->lock, NULL);
	*ret = owners;
	return 0;
}

int owners_keep(const struct owners *owners)
{
	fdstore_forget(store_name);
	return fdstore_keep(store_name, &owners->fd, 1);
}

struct owners *owners_free(struct owners *owners)
{
	bool is_free;

	if (!owners)
		return NULL;
	pthread_mutex_lock(&owners->lock);
	owners->orphaned = true;
	is_free = !owners->n_threads;
	pthread_mutex_unlock(&owners->lock);
	if (is_free)
		owners_destroy(owners);
	return NULL;
}
