/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connecting to uncored: the greeting, the handle that it fills, and what else a client may ask
 * for. The connection stays open for as long as the handle lives, because the daemon frees all that
 * a client holds when it closes.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>

#include "client/internal.h"
#include "common/clock.h"

#define ANSWER_WITHIN_NS 1000000000U
#define AWAKE_NS         1000000U
#define ASLEEP_LEAST_US  1000U
#define ASLEEP_MOST_US   100000U
enum { REPORT_BYTES_MAX = 16 << 20 };

/* --- sentences --- */

static const struct {
	int error;
	const char *hint;
} hints[] = {
	{ -ENOENT, "Start it with `systemctl start uncored.socket`, or name another socket with "
		   "UNCORE_SOCKET." },
	{ -ECONNREFUSED,
		"The socket is there but no daemon listens on it: start it with `systemctl "
		"start uncored.socket`." },
	{ -EACCES, "Its socket is not open to this user. The rule is mode and group in [access] of "
		   "uncored.conf, or SocketMode= and SocketGroup= of uncored.socket; the "
		   "administrator "
		   "of this node can change it." },
	{ -EPROTONOSUPPORT, "uncored and libuncore are of releases that do not go together: "
			    "install the same of both (in a container, its libuncore is its own), "
			    "then `systemctl restart uncored`." },
	{ -ETIMEDOUT, "It did not answer in time: look at `systemctl status uncored`." },
	{ -EDQUOT, "This user has too many connections: close some, or ask the administrator of "
		   "this node to raise the limits in uncored.conf." },
	{ -EMFILE, "This process has too many open files: close some, or raise `ulimit -n`." },
	{ -EBADMSG, "It does not speak like uncored: is this the right socket?" },
};

static const char *hint_for(int error)
{
	for (size_t i = 0; i < ARRAY_SIZE(hints); i++)
		if (hints[i].error == error)
			return hints[i].hint;
	return "Look at `systemctl status uncored`.";
}

static int cannot_connect(int error, const char *path)
{
	return error_say(error, "Cannot connect to uncored at %s: %m. %s", path, hint_for(error));
}

/* The daemon knows better than we why it refuses and what to do about it. */
static int refused(const char *path, const struct wire_error *answer)
{
	int error = answer->error < -4095 ? -EPROTO : answer->error; /* MAX_ERRNO of the kernel */

	return error_say(error, "uncored at %s refuses: %s", path,
		*answer->text ? answer->text : hint_for(error));
}

/* --- the greeting --- */

/* One call of the library to the daemon. However often it waits, it has one deadline. */
struct call {
	const char *path;
	uint64_t deadline_ns;
	int fd;
};

static void call_done(struct call *call)
{
	close_fd(&call->fd);
}

static struct call call_to(const char *path, uint64_t timeout_ns)
{
	if (!path)
		path = secure_getenv("UNCORE_SOCKET");
	return (struct call){
		.path = path && *path ? path : WIRE_SOCKET_PATH,
		.deadline_ns = clock_deadline_ns(timeout_ns),
		.fd = -1,
	};
}

/* False: the deadline is over. */
static bool time_left(const struct call *call, uint64_t *ret_ns)
{
	uint64_t now_ns = clock_now_ns();

	if (now_ns >= call->deadline_ns)
		return false;
	*ret_ns = call->deadline_ns - now_ns;
	return true;
}

static int try_to_connect(const struct call *call, const struct sockaddr_un *address)
{
	int r = connect(call->fd, (const struct sockaddr *)address, sizeof *address);

	return r < 0 ? -errno : 0;
}

/*
 * While the daemon's backlog is full, a blocking connect() sleeps in a queue; but one that is woken
 * finds the place taken by somebody who happened to run, and goes to the end of the queue. Beside
 * 64 processes that connect without end, one connect in a hundred took 20 ms. So we sleep and look
 * by turns: one that looks runs when a place becomes free. It yields to the daemon, which makes
 * that place, and to others that look: without that, 576 processes that came at once waited for
 * 0.95 s instead of 0.13.
 */
static int look_for_place(const struct call *call, const struct sockaddr_un *address)
{
	uint64_t end_ns = clock_deadline_ns(AWAKE_NS);
	int r;

	do
		r = try_to_connect(call, address);
	while (r == -EAGAIN && clock_now_ns() < end_ns && sched_yield() == 0);
	return r;
}

/* Longer and longer, for a daemon that has stopped. An eighth beyond the deadline does no harm. */
static useconds_t sleep_us(uint64_t waited_ns)
{
	uint64_t us = ASLEEP_LEAST_US + waited_ns / 1000 / 8;

	return (useconds_t)(us < ASLEEP_MOST_US ? us : ASLEEP_MOST_US);
}

static int sleep_in_queue(const struct call *call, const struct sockaddr_un *address, useconds_t us)
{
	const struct timeval limit = { .tv_usec = us };
	int r;

	if (setsockopt(call->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) < 0 ||
		fcntl(call->fd, F_SETFL, 0) < 0)
		return -errno;
	r = try_to_connect(call, address);
	return fcntl(call->fd, F_SETFL, O_NONBLOCK) < 0 ? -errno : r;
}

static bool is_full(int r)
{
	return r == -EAGAIN || r == -EINTR;
}

static int connect_in_time(const struct call *call, const struct sockaddr_un *address)
{
	const uint64_t since_ns = clock_now_ns();
	uint64_t left_ns;
	int r = -EAGAIN;

	while (is_full(r) && time_left(call, &left_ns)) {
		r = look_for_place(call, address);
		if (is_full(r))
			r = sleep_in_queue(call, address, sleep_us(clock_now_ns() - since_ns));
	}
	return is_full(r) ? -ETIMEDOUT : r;
}

static int dial(struct call *call)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(call->path) >= sizeof address.sun_path)
		return -ENAMETOOLONG;
	strcpy(address.sun_path, call->path);
	call->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return call->fd < 0 ? -errno : connect_in_time(call, &address);
}

/* A profiler's signals end each wait with EINTR, whatever SA_RESTART says. */
static int wait_readable(const struct call *call)
{
	struct pollfd connection = { .fd = call->fd, .events = POLLIN };
	uint64_t left_ns;

	while (time_left(call, &left_ns)) {
		struct timespec limit = {
			.tv_sec = (time_t)(left_ns / 1000000000U),
			.tv_nsec = (long)(left_ns % 1000000000U),
		};
		int n = ppoll(&connection, 1, &limit, NULL);

		if (n > 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
	}
	return -ETIMEDOUT;
}

static int receive(const struct call *call, struct wire_packet *ret)
{
	bool was_reset = false;

	for (;;) {
		int r = wait_readable(call);

		if (r < 0)
			return r;
		r = wire_receive(call->fd, WIRE_FROM_DAEMON, ret);
		if (r == 1)
			return 0;
		if (r == 0)
			return -ECONNRESET;
		/* A reset is told once, ahead of an answer that may still be in the queue. */
		if (r != -EINTR && r != -EAGAIN && (r != -ECONNRESET || was_reset))
			return r;
		was_reset |= r == -ECONNRESET;
	}
}

/* Sends @request and takes the answer, which must have @expected opcode. Says what went wrong. */
static int ask(const struct call *call, const union wire_message *request,
	enum wire_opcode expected, struct wire_packet *ret)
{
	int r = wire_send(call->fd, request, NULL, 0);

	/* A daemon that refuses at once has closed already; its reason waits to be received. */
	if (r < 0 && r != -EPIPE && r != -ECONNRESET)
		return cannot_connect(r, call->path);
	r = receive(call, ret);
	if (r < 0)
		return cannot_connect(r, call->path);
	if (ret->message.header.opcode == expected)
		return 0;
	r = ret->message.header.opcode == WIRE_ERROR ? refused(call->path, &ret->message.error)
						     : cannot_connect(-EBADMSG, call->path);
	wire_packet_done(ret);
	return r;
}

static int greet(struct call *call, struct wire_packet *ret_welcome)
{
	union wire_message hello;
	int r = dial(call);

	if (r < 0)
		return cannot_connect(r, call->path);
	wire_begin(&hello, WIRE_HELLO);
	hello.hello.version = WIRE_VERSION;
	return ask(call, &hello, WIRE_WELCOME, ret_welcome);
}

/* --- the handle --- */

int wiped_memory_new(size_t size_bytes, void **ret)
{
	void *memory =
		mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	if (madvise(memory, size_bytes, MADV_WIPEONFORK) < 0) {
		int r = -errno;

		munmap(memory, size_bytes);
		return r;
	}
	*ret = memory;
	return 0;
}

void wiped_memory_free(void *memory, size_t size_bytes)
{
	if (memory)
		munmap(memory, size_bytes);
}

int handle_check(const struct uncore *handle)
{
	if (!handle)
		return error_say(-EINVAL, "No handle: uncore_open() gives one.");
	if (!handle_is_ours(handle))
		return error_say(-EINVAL,
			"This handle belongs to the parent process: after fork() close it and "
			"open a new one.");
	return 0;
}

/* NULL: errno says why. */
static const void *map(int fd, uint64_t size_bytes)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat status;
	void *memory;

	if (fstat(fd, &status) < 0)
		return NULL;
	/* Beyond the end of the file each access would be a SIGBUS: there is enough, and stays. */
	if (size_bytes > (uint64_t)status.st_size || seals < 0 || !(seals & F_SEAL_SHRINK)) {
		errno = EBADMSG;
		return NULL;
	}
	memory = mmap(NULL, size_bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return NULL;
	return memory;
}

static int map_page(struct uncore *handle, int fd, uint64_t size_bytes)
{
	if (size_bytes < sizeof *handle->tables)
		return -EBADMSG;
	handle->shared = map(fd, size_bytes);
	if (!handle->shared)
		return -errno;
	handle->shared_bytes = size_bytes;
	return page_copy_tables(handle->shared, size_bytes, &handle->tables);
}

static int map_wakeups(struct uncore *handle, int fd)
{
	uint64_t wakeups_bytes = handle->n_doorbells * sizeof *handle->wakeups;

	handle->wakeups_bytes = wakeups_bytes + sizeof *handle->rules;
	handle->wakeups = map(fd, handle->wakeups_bytes);
	if (handle->wakeups) {
		handle->rules = (const void *)&handle->wakeups[handle->n_doorbells];
		return 0;
	}
	handle->wakeups_bytes = wakeups_bytes;
	handle->wakeups = map(fd, handle->wakeups_bytes);
	return handle->wakeups ? 0 : -errno;
}

static int take_welcome(struct uncore *handle, struct wire_packet *packet)
{
	const struct wire_welcome *welcome = &packet->message.welcome;
	void *mark = NULL;
	int r;

	if (!welcome->version || welcome->version > WIRE_VERSION)
		return -EPROTONOSUPPORT;
	if (packet->n_fds < 2 || packet->n_fds - 2 != welcome->n_sockets)
		return -EBADMSG;
	for (uint32_t i = 0; i < welcome->n_sockets; i++)
		handle->doorbells[i] = take_fd(&packet->fds[i + 1]);
	handle->n_doorbells = welcome->n_sockets;
	r = map_page(handle, packet->fds[0], welcome->page_bytes);
	if (r < 0)
		return r;
	if (handle->tables->n_sockets != handle->n_doorbells)
		return -EBADMSG;
	r = map_wakeups(handle, packet->fds[handle->n_doorbells + 1]);
	if (r < 0)
		return r;
	r = wiped_memory_new(sizeof *handle->mark, &mark);
	if (r < 0)
		return r;
	handle->mark = mark;
	handle->mark->ours = 1;
	pthread_mutex_init(&handle->mark->asking, NULL);
	return 0;
}

_public_ void uncore_close(struct uncore *handle)
{
	if (!handle)
		return;
	for (uint32_t i = 0; i < handle->n_doorbells; i++)
		close_fd(&handle->doorbells[i]);
	close_fd(&handle->connection);
	if (handle->shared)
		munmap((void *)handle->shared, handle->shared_bytes);
	free(handle->tables);
	if (handle->wakeups)
		munmap((void *)handle->wakeups, handle->wakeups_bytes);
	wiped_memory_free(handle->mark, sizeof *handle->mark);
	free(handle);
}

static int no_time(void)
{
	return error_say(-EINVAL, "A time limit of 0 leaves no time for an answer.");
}

static void close_handle(struct uncore **handle)
{
	uncore_close(*handle);
}

_public_ int uncore_open_within(
	const char *socket_path, uint64_t timeout_ns, struct uncore **ret_handle)
{
	_cleanup_(close_handle) struct uncore *handle = NULL;
	_cleanup_(wire_packet_done) struct wire_packet welcome = { .n_fds = 0 };
	_cleanup_(call_done) struct call call = call_to(socket_path, timeout_ns);
	int r;

	if (!ret_handle)
		return error_say(-EINVAL, "uncore_open() was given no place for the handle.");
	if (!timeout_ns)
		return no_time();
	handle = calloc(1, sizeof *handle);
	if (!handle)
		return error_say(-ENOMEM, "Cannot connect to uncored: %m.");
	handle->connection = -1;
	r = greet(&call, &welcome);
	if (r < 0)
		return r;
	r = take_welcome(handle, &welcome);
	if (r < 0)
		return cannot_connect(r, call.path);
	handle->connection = take_fd(&call.fd);
	*ret_handle = take_ptr(handle);
	return 0;
}

_public_ int uncore_open(const char *socket_path, struct uncore **ret_handle)
{
	return uncore_open_within(socket_path, ANSWER_WITHIN_NS, ret_handle);
}

_public_ int uncore_set_timeout(struct uncore *handle, uint64_t timeout_ns)
{
	int r = handle_check(handle);

	if (r < 0)
		return r;
	if (!timeout_ns)
		return no_time();
	handle->timeout_ns = timeout_ns;
	return 0;
}

/* --- new doorbells --- */

/* Under the numbers of the old ones, which other threads may be writing to. */
static int take_doorbells(const struct uncore *handle, const struct wire_packet *packet)
{
	if (packet->n_fds != handle->n_doorbells)
		return -EBADMSG;
	for (uint32_t i = 0; i < packet->n_fds; i++)
		if (dup3(packet->fds[i], handle->doorbells[i], O_CLOEXEC) < 0)
			return -errno;
	return 0;
}

static int ask_for_doorbells(const struct uncore *handle)
{
	_cleanup_(wire_packet_done) struct wire_packet packet = { .n_fds = 0 };
	/* Not for call_done(): the connection is the handle's. */
	struct call call = call_to("", ANSWER_WITHIN_NS);
	union wire_message request;
	int r;

	call.fd = handle->connection;
	wire_begin(&request, WIRE_RENEW);
	r = ask(&call, &request, WIRE_RENEWED, &packet);
	if (r == -EOPNOTSUPP)
		return 0;
	return r < 0 ? r : take_doorbells(handle, &packet);
}

int connection_renew_doorbells(const struct uncore *handle)
{
	int r;

	pthread_mutex_lock(&handle->mark->asking);
	r = ask_for_doorbells(handle);
	pthread_mutex_unlock(&handle->mark->asking);
	return r;
}

/* --- the question --- */

/* All @size_bytes from @at on. -EBADMSG: there are not so many. */
static int read_all(int fd, void *ret, uint64_t size_bytes, uint64_t at)
{
	uint64_t done = 0;

	while (done < size_bytes) {
		ssize_t n = pread(fd, (char *)ret + done, size_bytes - done, (off_t)(at + done));

		if (n < 0 && errno != EINTR)
			return -errno;
		if (n == 0)
			return -EBADMSG;
		if (n > 0)
			done += (uint64_t)n;
	}
	return 0;
}

/* -EAGAIN: the next report was written over this one meanwhile. */
static int check_report(int fd, const char *text, uint64_t size_bytes)
{
	struct wire_report_end end;
	struct stat status;
	int r;

	if (fstat(fd, &status) < 0)
		return -errno;
	if ((uint64_t)status.st_size == size_bytes)
		return 0; /* an older uncored's, which is never written again */
	r = read_all(fd, &end, sizeof end, wire_report_end_at(size_bytes));
	if (r < 0)
		return r;
	return end.json_bytes == size_bytes && end.hash == wire_hash(text, size_bytes) ? 0
										       : -EAGAIN;
}

static int read_text(int fd, uint64_t size_bytes, char **ret_text)
{
	_cleanup_free_ char *text = NULL;
	int r;

	if (size_bytes > REPORT_BYTES_MAX)
		return -EBADMSG;
	text = malloc(size_bytes + 1);
	if (!text)
		return -ENOMEM;
	r = read_all(fd, text, size_bytes, 0);
	if (r >= 0)
		r = check_report(fd, text, size_bytes);
	if (r < 0)
		return r;
	text[size_bytes] = '\0';
	*ret_text = take_ptr(text);
	return 0;
}

/* One request over a connection of its own. */
static int ask_once(struct call *call, const union wire_message *request, enum wire_opcode expected,
	struct wire_packet *ret)
{
	int r = greet(call, ret);

	if (r < 0)
		return r;
	wire_packet_done(ret); /* the page is not wanted here */
	return ask(call, request, expected, ret);
}

/* -EAGAIN: the report was written over while it was read. */
static int ask_for_report(struct call *call, enum wire_topic topic, char **ret_json)
{
	_cleanup_(wire_packet_done) struct wire_packet packet = { .n_fds = 0 };
	union wire_message request;
	int r;

	wire_begin(&request, WIRE_INFO);
	request.info.topic = topic;
	r = ask_once(call, &request, WIRE_REPORT, &packet);
	close_fd(&call->fd);
	if (r < 0)
		return r;
	r = packet.n_fds == 1 ? read_text(packet.fds[0], packet.message.report.json_bytes, ret_json)
			      : -EBADMSG;
	return r < 0 && r != -EAGAIN ? cannot_connect(r, call->path) : r;
}

static int ask_about(enum wire_topic topic, const char *socket_path, char **ret_json)
{
	struct call call = call_to(socket_path, ANSWER_WITHIN_NS);
	int r;

	if (!ret_json)
		return error_say(-EINVAL, "There is no place for the text that uncored sends.");
	do
		r = ask_for_report(&call, topic, ret_json);
	while (r == -EAGAIN);
	return r;
}

_public_ int uncore_info(const char *socket_path, char **ret_json)
{
	return ask_about(WIRE_STATE, socket_path, ret_json);
}

_public_ int uncore_platforms(const char *socket_path, char **ret_json)
{
	return ask_about(WIRE_PLATFORMS, socket_path, ret_json);
}

_public_ int uncore_set_owner(const char *socket_path, uint32_t uid)
{
	_cleanup_(wire_packet_done) struct wire_packet packet = { .n_fds = 0 };
	_cleanup_(call_done) struct call call = call_to(socket_path, ANSWER_WITHIN_NS);
	union wire_message request;

	wire_begin(&request, WIRE_OWNER);
	request.owner.uid = uid;
	return ask_once(&call, &request, WIRE_DONE, &packet);
}
