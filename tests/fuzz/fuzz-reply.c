/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any answer on uncored's socket: the library opens a handle and uses it, or gets a report, or
 * refuses with a sentence. It loses no descriptor and no memory.
 *
 * The input is struct plan, then the first answer, the second, and the content of the first
 * descriptor that comes with each (a page, a report).
 *
 * A thread of this process answers. It takes no signal: libFuzzer's alarm would end its accept() or
 * recv() now and then, and the input at that moment would be blamed for it.
 */
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/libuncore/internal.h"
#include "tests/fuzz/handle.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

enum {
	ASK_STATE = 1 << 0, /* a report instead of a handle */
	ASK_PLATFORMS = 1 << 1,
	PADDED = 1 << 2,     /* zeros behind the content */
	FRESH = 1 << 3,      /* read so, too */
	OPEN_ENDED = 1 << 4, /* the content could be cut while the library uses it */
	NO_FILE = 1 << 5,    /* the first descriptor is one that cannot be mapped */
	LAID_OUT = 1 << 6,   /* the content is the difference from a page as uncored lays it out */
	NO_BELLS = 1 << 7,   /* the last descriptor of the first answer is missing */
};
enum more {
	HANGS_UP = 1 << 0,       /* after the first answer */
	SWEPT = 1 << 1,          /* a page that is laid out shows a later sweep already */
	FULL_DOORBELLS = 1 << 2, /* they have been rung as often as can be */
	DEAF_DOORBELLS = 1 << 3, /* they cannot be written */
	SILENT = 1 << 4,         /* it does not answer at all; and HANGS_UP: nor listen */
	SET_OWNER = 1 << 5,      /* the client sets the owner, instead of opening a handle */
	NOBODY = 1 << 6,         /* nobody listens */
	LONG_PATH = 1 << 7,      /* no socket can have such a path; and NOBODY: all places are
				    taken */
	NO_PLACE = NOBODY | LONG_PATH,
};
enum { SHORTLY_NS = 2000000, LONG_NS = 1000000000 };
enum { ANSWERS = 2, PADDED_BYTES = 65536, FDS_MAX = 64, CALLS_MOST = 8 };

struct plan {
	uint8_t flags;
	uint8_t n_fds[ANSWERS]; /* of each answer; with the first come the wake-ups, besides */
	uint8_t more;
	uint16_t bytes[ANSWERS]; /* of each answer */
};

struct part {
	const uint8_t *data;
	size_t size_bytes;
};

static struct {
	int listener;
	char path[64];
	unsigned n_calls; /* connections, which the client waits for to be served */
	sem_t served;     /* a connection is closed; after the last one the server reads the plan no
			     more */
	struct plan plan;
	struct part answers[ANSWERS];
	struct part content;
} fake;

/* --- the server --- */

static int content_fd(void)
{
	int fd = memfd_create("content", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 ||
		(fake.content.size_bytes && write(fd, fake.content.data, fake.content.size_bytes) !=
						    (ssize_t)fake.content.size_bytes))
		err(1, "Cannot make the content");
	if (fake.plan.flags & PADDED && ftruncate(fd, PADDED_BYTES) < 0)
		err(1, "Cannot pad the content");
	if (!(fake.plan.flags & OPEN_ENDED) && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0)
		err(1, "Cannot seal the content");
	return fd;
}

static int doorbell_fd(void)
{
	int fd = fake.plan.more & DEAF_DOORBELLS ? open("/dev/null", O_RDONLY | O_CLOEXEC)
						 : eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	if (fake.plan.more & FULL_DOORBELLS)
		eventfd_write(fd, UINT64_MAX - 1);
	if (fd < 0)
		err(1, "Cannot make a doorbell");
	return fd;
}

static int wakeups_fd(void)
{
	int fd = memfd_create("wakeups", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, PAGE_SOCKETS_MAX * sizeof(struct page_wakeup)) < 0 ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0)
		err(1, "Cannot make the wake-ups");
	return fd;
}

/* As wire_send(), which refuses to send what it should not. */
static void send_answer(int client, const struct part *answer, unsigned n_fds, bool with_wakeups)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int) * (FDS_MAX + 1))];
	} control = {};
	struct iovec part = { .iov_base = (void *)answer->data, .iov_len = answer->size_bytes };
	struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };
	int fds[FDS_MAX + 1];

	for (unsigned i = 0; i < n_fds; i++)
		fds[i] = i || fake.plan.flags & NO_FILE ? doorbell_fd() : content_fd();
	if (with_wakeups && n_fds)
		fds[n_fds++] = wakeups_fd();
	if (n_fds) {
		packet.msg_control = control.bytes;
		packet.msg_controllen = CMSG_SPACE(sizeof(int) * n_fds);
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(sizeof(int) * n_fds);
		memcpy(CMSG_DATA(&control.header), fds, sizeof(int) * n_fds);
	}
	sendmsg(client, &packet, MSG_NOSIGNAL);
	for (unsigned i = 0; i < n_fds; i++)
		close(fds[i]);
}

static void serve_client(int client)
{
	struct pollfd asked = { .fd = client, .events = POLLIN };
	char request[WIRE_MESSAGE_MAX];

	if (fake.plan.more & SILENT && fake.plan.more & HANGS_UP) {
		poll(&asked, 1, -1); /* an unread message makes the close a reset */
		return;
	}
	for (int i = 0; i < ANSWERS; i++) {
		if (recv(client, request, sizeof request, 0) <= 0)
			return;
		if (fake.plan.more & SILENT)
			continue;
		send_answer(client, &fake.answers[i], fake.plan.n_fds[i] % FDS_MAX,
			i == 0 && !(fake.plan.flags & NO_BELLS));
		if (fake.plan.more & HANGS_UP)
			return;
	}
}

static void *serve(void *userdata)
{
	struct pollfd listener = { .fd = fake.listener, .events = POLLIN };

	for (;;) {
		int client;

		/* accept() takes a descriptor before it waits, and would look like a leak. */
		if (poll(&listener, 1, -1) < 0)
			err(1, "Cannot wait for a client");
		client = accept4(fake.listener, NULL, NULL, SOCK_CLOEXEC);
		if (client < 0)
			err(1, "Cannot accept");
		serve_client(client);
		close(client);
		sem_post(&fake.served);
	}
	return userdata;
}

/* Wrong arguments, which the library refuses without any answer. */
static void misuse(void)
{
	struct uncore *handle;

	if (uncore_open(fake.path, NULL) >= 0 || uncore_open_within(fake.path, 0, &handle) >= 0 ||
		uncore_info(fake.path, NULL) >= 0)
		abort();
	uncore_close(NULL);
}

static void start(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	sigset_t all, before;
	pthread_t thread;

	sigfillset(&all);
	snprintf(fake.path, sizeof fake.path, "%s/socket", scratch_folder());
	strcpy(address.sun_path, fake.path);
	sem_init(&fake.served, 0, 0);
	fake.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (bind(fake.listener, (struct sockaddr *)&address, sizeof address) < 0 ||
		listen(fake.listener, 8) < 0 || pthread_sigmask(SIG_SETMASK, &all, &before) ||
		pthread_create(&thread, NULL, serve, NULL) ||
		pthread_sigmask(SIG_SETMASK, &before, NULL))
		err(1, "Cannot serve on %s", fake.path);
	pthread_detach(thread);
	setenv("UNCORE_SOCKET", fake.path, 1); /* for calls that name no path */
	misuse();
}

/* --- the client --- */

static struct part take(struct part *rest, size_t most_bytes)
{
	struct part part = *rest;

	if (part.size_bytes > most_bytes)
		part.size_bytes = most_bytes;
	rest->data += part.size_bytes;
	rest->size_bytes -= part.size_bytes;
	return part;
}

/*
 * A page with these differences: such inputs outlive a change of the layout. The caller owns its
 * memory.
 */
static struct part lay_out(const struct part *differences)
{
	struct page_header header = {
		.state = PAGE_LIVE, .n_metrics = 2, .n_sockets = 2, .n_channels = 2, .n_texts = 1
	};
	struct page_header *page;

	page_lay_out(&header, 1);
	page = calloc(1, header.page_bytes);
	if (!page)
		err(1, "Cannot make a page");
	*page = header;
	for (uint32_t i = 0; i < header.n_sockets; i++) {
		page_sockets(page)[i] = (struct page_socket){ .first_channel = i, .n_channels = 1 };
		page_channels(page)[i].socket = i;
		page_cell(page, i)->sweep.number = 1;
		page_cell(page, i)->finished = !!(fake.plan.more & SWEPT);
	}
	for (size_t i = 0; i < differences->size_bytes && i < header.page_bytes; i++)
		((uint8_t *)page)[i] ^= differences->data[i];
	return (struct part){ (uint8_t *)page, header.page_bytes };
}

/* Checks a failure of the library: @r is an errno, and there is a sentence with an end. */
static void check_refusal(int r)
{
	size_t length = strnlen(uncore_error_text(), ERROR_TEXT_MAX);

	if (r < -4095 || !length || length == ERROR_TEXT_MAX)
		abort();
}

static bool has_no_place(void)
{
	return (fake.plan.more & NO_PLACE) == NO_PLACE;
}

static const char *path(void)
{
	static const char too_long[200] = { [0 ... 198] = 'x' };

	return has_no_place()               ? fake.path
	       : fake.plan.more & NOBODY    ? "/nowhere/at/all"
	       : fake.plan.more & LONG_PATH ? too_long
					    : fake.path;
}

/* In the place of the kernel's. A report that does not fit its end is asked for again and again,
 * for ten seconds: here until nobody listens any more. */
int connect(int fd, const struct sockaddr *address, socklen_t size)
{
	int r;

	if (has_no_place() || fake.n_calls == CALLS_MOST) {
		errno = has_no_place() ? EAGAIN : ECONNREFUSED;
		return -1;
	}
	r = (int)syscall(SYS_connect, fd, address, size);
	fake.n_calls += r == 0;
	return r;
}

static void wait_until_served(void)
{
	for (; fake.n_calls; fake.n_calls--)
		while (sem_wait(&fake.served) < 0)
			;
}

/* The rules are behind the wake-ups. */
static void ask_about_user(const struct uncore *handle)
{
	static const uint32_t groups[] = { 10, 20 };
	const struct uncore_user user = { 1000, 1000, ARRAY_SIZE(groups), groups };
	int r = uncore_admits(handle, &user);

	if (r < 0)
		check_refusal(r);
}

static void open_and_use(void)
{
	struct uncore *handle = NULL;
	bool in_vain = fake.plan.more & SILENT || has_no_place();
	int r = uncore_open_within(path(), in_vain ? SHORTLY_NS : LONG_NS, &handle);

	if (!handle != (r < 0))
		abort();
	if (r < 0) {
		check_refusal(r);
		return;
	}
	if (fake.plan.flags & (OPEN_ENDED | NO_FILE))
		abort(); /* cut now, each access would be a SIGBUS */
	if (fake.plan.more & HANGS_UP)
		wait_until_served();
	handle_use(handle, fake.plan.flags & FRESH);
	ask_about_user(handle);
	uncore_close(handle);
}

static void set_owner(void)
{
	int r = uncore_set_owner(path(), 1000);

	if (r < 0)
		check_refusal(r);
}

static void ask(int (*question)(const char *path, char **ret_json))
{
	_cleanup_free_ char *text = NULL;
	int r = question(fake.plan.more & (NOBODY | LONG_PATH) ? path() : NULL, &text);

	if (!text != (r < 0) || (text && strlen(text) > fake.content.size_bytes))
		abort();
	if (r < 0)
		check_refusal(r);
}

/* The next descriptor to be given out must not change. */
static void look_for_leaks(void)
{
	static int first_free;
	int fd = dup(fake.listener);

	close(fd);
	if (first_free && fd != first_free)
		errx(1, "Descriptors were lost: the next one is %d, it was %d.", fd, first_free);
	first_free = fd;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct part rest = { .data = data, .size_bytes = size_bytes };
	_cleanup_free_ void *page = NULL;

	if (size_bytes < sizeof fake.plan)
		return 0;
	if (!fake.listener)
		start();
	memcpy(&fake.plan, take(&rest, sizeof fake.plan).data, sizeof fake.plan);
	if (fake.plan.flags & (ASK_STATE | ASK_PLATFORMS) || fake.plan.more & SET_OWNER)
		fake.plan.more &= /* these requests wait for seconds */
			(uint8_t) ~(SILENT | (has_no_place() ? LONG_PATH : 0));
	for (int i = 0; i < ANSWERS; i++)
		fake.answers[i] = take(&rest, fake.plan.bytes[i]);
	fake.content = rest;
	if (fake.plan.flags & LAID_OUT) {
		fake.content = lay_out(&rest);
		page = (void *)fake.content.data;
	}
	if (fake.plan.more & SET_OWNER)
		set_owner();
	else if (fake.plan.flags & ASK_STATE)
		ask(uncore_info);
	else if (fake.plan.flags & ASK_PLATFORMS)
		ask(uncore_platforms);
	else
		open_and_use();
	wait_until_served();
	look_for_leaks();
	return 0;
}
