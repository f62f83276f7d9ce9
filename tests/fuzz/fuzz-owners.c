/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which account each uid belongs to, without threads and in a time of its own. The input is a row
 * of steps: users come, alone or many at a time; a thread that looks up gets to run, or none can be
 * started; answers are taken; the directory, subuid and the time change; the daemon is replaced,
 * and finds the table of the one before it, or something else.
 *
 * With any input no user is taken for another, each lookup is answered once, and the last lookup
 * holds.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/macro.h"
#include "daemon/admit/owners.h"
#include "daemon/base/memfd.h"
#include "daemon/base/notify.h"
#include "daemon/base/privilege.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/target.h"

enum { USERS = 1024, STEPS_MAX = 1024, OWNER = 1000 };

static struct owners *owners;

/* Uids of which 64 are in one block of 65,536, and all have few places in the table. */
static uint32_t uid_of(unsigned user)
{
	return 1 + user * 1024;
}

static unsigned user_of(uint32_t uid)
{
	return uid / 1024;
}

/* --- in the place of the kernel: time and threads --- */

static uint64_t virtual_ns; /* 0: the time is the kernel's */

int clock_gettime(clockid_t clock, struct timespec *ret)
{
	static int (*kernels)(clockid_t, struct timespec *);

	if (virtual_ns && clock == CLOCK_MONOTONIC) {
		*ret = (struct timespec){ (time_t)(virtual_ns / 1000000000U),
			(long)(virtual_ns % 1000000000U) };
		return 0;
	}
	if (!kernels)
		*(void **)&kernels = dlsym(RTLD_NEXT, "clock_gettime");
	return kernels(clock, ret);
}

static struct {
	void *(*body)(void *);
	void *argument;
} threads[OWNERS_LOOKUPS_MAX]; /* threads that were started, and did not run yet */

static unsigned n_threads;
static bool no_threads; /* more can be started */

/* The sanitizer's pthread_create(), which has to see the fuzzer's own thread. */
__attribute__((weak)) int __interceptor_pthread_create(
	pthread_t *ret, const pthread_attr_t *attr, void *(*body)(void *), void *argument);

static int start_real_thread(
	pthread_t *ret, const pthread_attr_t *attr, void *(*body)(void *), void *argument)
{
	int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
		__interceptor_pthread_create;

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	return real(ret, attr, body, argument);
}

/* The C++ library calls this, too, when the fuzzer starts its own thread. */
_public_ int pthread_create(
	pthread_t *ret, const pthread_attr_t *attr, void *(*body)(void *), void *argument)
{
	if (!virtual_ns)
		return start_real_thread(ret, attr, body, argument);
	if (no_threads)
		return EAGAIN;
	if (n_threads == ARRAY_SIZE(threads))
		abort();
	*ret = pthread_self();
	threads[n_threads].body = body;
	threads[n_threads++].argument = argument;
	return 0;
}

/* Lookups run in the fuzzer's thread here, which keeps its privilege. */
int privilege_drop(void)
{
	return 0;
}

static bool run_thread(void)
{
	if (!n_threads)
		return false;
	n_threads--;
	threads[n_threads].body(threads[n_threads].argument);
	return true;
}

/* --- in the place of the directory --- */

static unsigned mood;   /* which names it knows, and how it answers for the others */
static bool has_subuid; /* there is a file */

static uint64_t told[USERS];    /* the account, by the last lookup that told it; 0: none did */
static unsigned n_asked[USERS]; /* lookups of each that are not answered yet */
static bool no_answer[USERS];   /* the last lookup did not tell */

static uint64_t block_of(uint32_t uid)
{
	return UINT64_C(1) << 32 | uid >> 16;
}

static uint64_t account_by_subuid(uint32_t uid)
{
	return has_subuid && uid >= 100000 && uid < 200000 ? OWNER : block_of(uid);
}

int getpwuid_r(
	uid_t uid, struct passwd *passwd, char *buffer, size_t size_bytes, struct passwd **ret)
{
	static const int errors[] = { 0, 0, ERANGE, ENOENT, ESRCH, EBADF, EPERM, EIO };
	unsigned user = user_of(uid), way = (user + mood) % ARRAY_SIZE(errors);

	(void)buffer;
	(void)size_bytes;
	*ret = way == 0 ? passwd : NULL;
	n_asked[user]++;
	no_answer[user] = errors[way] == EIO;
	if (!no_answer[user])
		told[user] = way == 0 || errors[way] == ERANGE ? uid : account_by_subuid(uid);
	return errors[way];
}

/* Knows the owner of one range, and not the owner of another. */
int getpwnam_r(const char *name, struct passwd *passwd, char *buffer, size_t size_bytes,
	struct passwd **ret)
{
	(void)buffer;
	(void)size_bytes;
	passwd->pw_uid = OWNER;
	*ret = strcmp(name, "known") ? NULL : passwd;
	return *ret || mood & 1 ? 0 : ENOENT;
}

FILE *fopen(const char *path, const char *mode)
{
	static const char subuid[] = "known:100000:100000\nunknown:300000:65536\n";
	static FILE *(*real)(const char *, const char *);

	if (!strcmp(path, "/etc/subuid"))
		return has_subuid ? fmemopen((void *)subuid, sizeof subuid - 1, "r") : NULL;
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "fopen");
	return real(path, mode);
}

/* --- in the place of the service manager --- */

static int kept_fd = -1;

int notify_send(const char *message, const int fds[], unsigned n_fds)
{
	(void)message;
	if (n_fds > 1)
		abort();
	if (n_fds) {
		close_fd(&kept_fd);
		kept_fd = dup(fds[0]);
	}
	return 0;
}

/* --- assertions --- */

/*
 * An account is the user's own, its owner's, or its block's. While no newer lookup is under way, it
 * is the account that the last one told.
 */
static void check_account(unsigned user)
{
	uint32_t uid = uid_of(user);
	uint64_t account = owners_account_of(owners, uid);

	if (account != uid && account != OWNER && account != block_of(uid))
		abort();
	if (!n_asked[user] && account != block_of(uid) && account != told[user])
		abort();
}

/* --- steps --- */

static void step_come(unsigned n)
{
	check_account((take_byte() << 2 | n % 4) % USERS);
}

static void step_many_come(unsigned n)
{
	unsigned first = take_byte() << 2;

	for (unsigned i = 0; i < n * 64; i++)
		check_account((first + i) % USERS);
}

static void step_look_up(unsigned n)
{
	for (unsigned i = 0; i <= n; i++)
		run_thread();
}

static bool take_answer(void)
{
	unsigned user;
	uint32_t uid;

	if (!owners_take_answer(owners, &uid))
		return false;
	user = user_of(uid);
	if (uid != uid_of(user) || !n_asked[user]--)
		abort();
	if (!n_asked[user] && !no_answer[user] && owners_account_of(owners, uid) != told[user])
		abort();
	return true;
}

static void step_take_answers(unsigned n)
{
	while (take_answer() && n--)
		;
}

static void step_time(unsigned n)
{
	virtual_ns += (uint64_t)take_byte() << (n % 9 * 5);
}

static void step_directory(unsigned n)
{
	mood = take_byte();
	has_subuid = n & 1;
}

static void step_no_threads(unsigned n)
{
	no_threads = n & 1;
}

/* Something else under the name of the table: of another size, or of other contents. */
static int something_else(bool same_size)
{
	size_t size_bytes = same_size ? memfd_bytes(kept_fd) : 4096;

	return memfd_new("something-else", size_bytes ? size_bytes : 4096, 0600);
}

static void begin(int fd)
{
	struct fdstore_item item = { .fd = fd, .name = (char *)"owners" };
	struct fdstore store = { .n = 1, .items = &item };

	if (owners_new(&store, &owners) < 0 || item.fd >= 0)
		abort();
}

/* Ends the daemon; its lookups end later, and tell nobody. */
static void end(void)
{
	owners = owners_free(owners);
	while (run_thread())
		;
	memset(n_asked, 0, sizeof n_asked);
}

static void forget_all(void)
{
	memset(told, 0, sizeof told);
	memset(no_answer, 0, sizeof no_answer);
}

/* Answers that were found and not taken yet are lost with the daemon, and do not hold any more. */
static void step_replace(unsigned n)
{
	if (owners_keep(owners) < 0)
		abort();
	while (take_answer())
		;
	end();
	if (n % 3) {
		forget_all();
		begin(something_else(n & 1));
	} else {
		begin(take_fd(&kept_fd));
	}
}

static void (*const steps[])(unsigned n) = { step_come, step_many_come, step_look_up,
	step_take_answers, step_time, step_directory, step_no_threads, step_replace };

/* Everything that was asked for is answered once threads can be started. */
static void drain(void)
{
	no_threads = false;
	while (take_answer() || run_thread())
		;
	for (unsigned i = 0; i < USERS; i++)
		if (n_asked[i])
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	input.data = data;
	input.size_bytes = size_bytes;
	virtual_ns = 1000000000000U;
	mood = n_threads = 0;
	has_subuid = no_threads = false;
	forget_all();
	begin(-1);
	for (unsigned n = 0; n < STEPS_MAX && input.size_bytes; n++) {
		uint8_t byte = take_byte();

		steps[(byte & 15) % ARRAY_SIZE(steps)](byte >> 4);
	}
	drain();
	end();
	close_fd(&kept_fd);
	virtual_ns = 0;
	return 0;
}
