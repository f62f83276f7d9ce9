/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between a client and a daemon of 0.1.0, byte by byte, and a page of 0.1.0. The client's
 * side is replayed to the daemon of today, the daemon's side and the page to the library of today.
 * A page as a later release may make it is given to both libraries. remake.sh lists the saved
 * files.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/macro.h"
#include "common/page.h"
#include "common/wire.h"
#include "tests/compat/release.h"
#include "tests/harness/test.h"

enum { SAVED_MAX = 8192, GROWTH_BYTES = 4096 };

struct saved {
	size_t size_bytes;
	union {
		char bytes[SAVED_MAX];
		union wire_message message;
	};
};

static struct saved load(const char *name)
{
	_cleanup_file_ FILE *file = NULL;
	struct saved saved = {};
	char path[128];

	snprintf(path, sizeof path, RELEASE "/%s", name);
	file = fopen(source_path(path), "re");
	assert_non_null(file);
	saved.size_bytes = fread(saved.bytes, 1, sizeof saved.bytes - 1, file);
	assert_true(saved.size_bytes > 0 && saved.size_bytes < sizeof saved.bytes - 1);
	return saved;
}

/* --- a client of then, the daemon of now --- */

static int connect_as(uid_t uid)
{
	int fd;

	assert_int_equal(seteuid(uid), 0);
	fd = connect_raw(&the_daemon);
	assert_int_equal(seteuid(0), 0);
	return fd;
}

/* Sends the saved request, and compares the answer with the saved answer. */
static void say(int fd, const char *request, const char *answer, struct wire_packet *ret)
{
	struct saved sent = load(request), expected = load(answer);

	assert_int_equal(send(fd, sent.bytes, sent.size_bytes, MSG_NOSIGNAL), sent.size_bytes);
	assert_int_equal(wire_receive(fd, WIRE_FROM_DAEMON, ret), 1);
	assert_memory_equal(
		&ret->message.header, &expected.message.header, sizeof(struct wire_header));
}

CASE("the daemon answers a client of 0.1.0 as the daemon of 0.1.0 did")
{
	int fd = connect_as(0);
	struct wire_packet packet;
	uint32_t n_sockets;

	say(fd, "hello.request", "hello.answer", &packet);
	n_sockets = packet.message.welcome.n_sockets;
	assert_int_equal(packet.message.welcome.version, 1);
	assert_int_equal(n_sockets, standin_sockets());
	assert_int_equal(packet.n_fds, n_sockets + 2);
	for (uint32_t s = 0; s < n_sockets; s++)
		assert_int_equal(write(packet.fds[1 + s], (uint64_t[]){ 1 }, 8), 8);
	wire_packet_done(&packet);
	say(fd, "info.request", "info.answer", &packet);
	assert_int_equal(packet.n_fds, 1);
	assert_true(packet.message.report.json_bytes > 0);
	wire_packet_done(&packet);
	say(fd, "owner.request", "owner.answer", &packet);
	assert_int_equal(packet.n_fds, 0);
	close(fd);
}

CASE("the daemon refuses as the daemon of 0.1.0 did")
{
	struct saved then = load("owner-denied.answer");
	int fd = connect_as(NOBODY);
	struct wire_packet packet;

	say(fd, "hello.request", "hello.answer", &packet);
	wire_packet_done(&packet);
	say(fd, "owner.request", "owner-denied.answer", &packet);
	assert_int_equal(packet.message.error.error, then.message.error.error);
	assert_non_null(strstr(packet.message.error.text, "Only root may"));
	close(fd);
}

/*
 * A later client says a later HELLO and makes an unknown request: it stays connected, and does
 * without an answer.
 */
CASE("the daemon keeps a client that makes a request of a later release")
{
	struct saved hello = load("hello.request"), later = load("info.request");
	int fd = connect_as(0);
	struct wire_packet packet;

	hello.message.hello.version = 9;
	send(fd, hello.bytes, hello.size_bytes, MSG_NOSIGNAL);
	assert_int_equal(wire_receive(fd, WIRE_FROM_DAEMON, &packet), 1);
	assert_int_equal(packet.message.header.opcode, WIRE_WELCOME);
	assert_int_equal(packet.message.welcome.version, WIRE_VERSION);
	wire_packet_done(&packet);
	later.message.header.opcode = 0x7f;
	later.message.header.size = 400;
	send(fd, later.bytes, 400, MSG_NOSIGNAL);
	assert_int_equal(wire_receive(fd, WIRE_FROM_DAEMON, &packet), 1);
	assert_int_equal(packet.message.error.error, -EOPNOTSUPP);
	say(fd, "info.request", "info.answer", &packet);
	wire_packet_done(&packet);
	close(fd);
}

/* --- a daemon of then, the library of now --- */

/* Answers with the saved messages; the page may have grown since. */
struct replay {
	struct saved welcome, page;
	size_t page_bytes; /* including its growth */
	char path[96];
	int listen_fd;
};

static int sealed_memory(const void *bytes, size_t filled_bytes, size_t size_bytes, int filling)
{
	int fd = memfd_create("saved", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	char rest[SAVED_MAX];

	memset(rest, filling, sizeof rest);
	if (write(fd, bytes, filled_bytes) != (ssize_t)filled_bytes ||
		write(fd, rest, size_bytes - filled_bytes) !=
			(ssize_t)(size_bytes - filled_bytes) ||
		fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK) < 0)
		_exit(90);
	return fd;
}

static void send_welcome(const struct replay *replay, int client)
{
	uint32_t n_sockets = replay->welcome.message.welcome.n_sockets;
	int fds[WIRE_FDS_MAX];

	fds[0] = sealed_memory(
		replay->page.bytes, replay->page.size_bytes, replay->page_bytes, 0xff);
	for (uint32_t s = 0; s < n_sockets; s++)
		fds[1 + s] = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	fds[1 + n_sockets] = sealed_memory("", 0, n_sockets * sizeof(struct page_wakeup), 0);
	if (wire_send(client, &replay->welcome.message, fds, n_sockets + 2) < 0)
		_exit(91);
}

/* Compares all but the version, which may be a later one. */
static bool is_as_then(const union wire_message *request, ssize_t size_bytes, const char *name)
{
	struct saved then = load(name);

	if (request->header.opcode == WIRE_HELLO && request->hello.version > 1)
		then.message.hello.version = request->hello.version;
	return size_bytes == (ssize_t)then.size_bytes &&
	       !memcmp(request->bytes, then.bytes, then.size_bytes);
}

static void answer(const struct replay *replay, int client, unsigned opcode)
{
	struct saved report = load("info.answer"), done = load("owner.answer");
	char text[SAVED_MAX] = "{ }";
	int fd;

	if (opcode == WIRE_HELLO) {
		send_welcome(replay, client);
	} else if (opcode == WIRE_INFO) {
		fd = sealed_memory(text, strlen(text), report.message.report.json_bytes, ' ');
		wire_send(client, &report.message, &fd, 1);
	} else {
		wire_send(client, &done.message, NULL, 0);
	}
}

/* In a child: serves one client. Exit status 0: the client sent only messages of 0.1.0. */
static void serve(const struct replay *replay)
{
	static const char *const names[] = {
		[WIRE_HELLO] = "hello.request",
		[WIRE_INFO] = "info.request",
		[WIRE_OWNER] = "owner.request",
	};
	union wire_message request;
	int client;
	ssize_t n;

	alarm(30);
	client = accept(replay->listen_fd, NULL, NULL);
	while ((n = recv(client, &request, sizeof request, 0)) > 0) {
		unsigned opcode = request.header.opcode;

		if (opcode >= ARRAY_SIZE(names) || !names[opcode] ||
			!is_as_then(&request, n, names[opcode]))
			_exit(1);
		answer(replay, client, opcode);
	}
	_exit(n < 0);
}

static void replay_begin(struct replay *replay)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	*replay = (struct replay){ .welcome = load("hello.answer"), .page = load("page") };
	replay->page_bytes = replay->page.size_bytes;
	assert_int_equal(replay->page_bytes, replay->welcome.message.welcome.page_bytes);
	snprintf(replay->path, sizeof replay->path, "/tmp/uncored-saved-%d", getpid());
	snprintf(address.sun_path, sizeof address.sun_path, "%s", replay->path);
	unlink(replay->path);
	replay->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(replay->listen_fd, (const void *)&address, sizeof address), 0);
	assert_int_equal(listen(replay->listen_fd, 1), 0);
}

static struct page_header *page_of(struct replay *replay)
{
	return (void *)replay->page.bytes;
}

/* Makes the page longer, as a later release may. */
static void let_page_grow(struct replay *replay)
{
	replay->page_bytes += GROWTH_BYTES;
	page_of(replay)->page_bytes = replay->page_bytes;
	replay->welcome.message.welcome.page_bytes = replay->page_bytes;
}

/*
 * Starts serving; the pid is for replay_end(), which fails unless the client sent only messages of
 * 0.1.0.
 */
static pid_t replay_start(const struct replay *replay)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid)
		serve(replay);
	return pid;
}

static void replay_end(struct replay *replay, pid_t pid)
{
	assert_int_equal(wait_for(pid, 30), 0);
	close_fd(&replay->listen_fd);
	unlink(replay->path);
}

/* The probe with this library must print the saved text. */
static void assert_reads_as_then(struct replay *replay, const char *library)
{
	const char *const arguments[] = { "dump", replay->path, NULL };
	static struct run run;
	pid_t pid = replay_start(replay);

	run_with_library(&run, NOBODY, library, RELEASE "/probe", arguments);
	assert_string_equal(run.output, load("page.txt").bytes);
	assert_int_equal(run.status, 0);
	replay_end(replay, pid);
}

static void begin_open_to_nobody(struct replay *replay)
{
	replay_begin(replay);
	assert_int_equal(chmod(replay->path, 0666), 0);
}

CASE("the library reads a page of 0.1.0")
{
	struct replay replay;

	begin_open_to_nobody(&replay);
	assert_reads_as_then(&replay, LIBRARY_HERE);
}

CASE("a page that has grown is read by the library, and by the library of 0.1.0")
{
	static const char *const libraries[] = { LIBRARY_HERE, RELEASE };
	struct replay replay;

	for (size_t i = 0; i < ARRAY_SIZE(libraries); i++) {
		begin_open_to_nobody(&replay);
		let_page_grow(&replay);
		assert_reads_as_then(&replay, libraries[i]);
	}
}

CASE("a quality flag of a later release is passed on")
{
	struct uncore_sample sample = UNCORE_SAMPLE_INIT;
	const uint32_t later = 1 << 7;
	struct replay replay;
	struct uncore *uncore;
	char words[64];
	pid_t pid;

	replay_begin(&replay);
	page_cell(page_of(&replay), 0)->sweep.values[0].quality |= later;
	pid = replay_start(&replay);
	assert_int_equal(uncore_open(replay.path, &uncore), 0);
	assert_int_equal(uncore_read(uncore, 0, UNCORE_CACHED, &sample), 0);
	assert_int_equal(sample.values[0].quality, UNCORE_STANDIN | later);
	uncore_quality_words(sample.values[0].quality, words, sizeof words);
	assert_string_equal(words, "standin,unknown");
	uncore_close(uncore);
	replay_end(&replay, pid);
}

static void assert_cannot_open(struct replay *replay, int error, const char *words)
{
	struct uncore *uncore = NULL;
	pid_t pid = replay_start(replay);

	assert_int_equal(uncore_open(replay->path, &uncore), error);
	assert_null(uncore);
	assert_non_null(strstr(uncore_error_text(), words));
	replay_end(replay, pid);
}

CASE("another version of protocol or page is refused in words")
{
	static const uint32_t versions[] = { 0, WIRE_VERSION + 1 };
	struct replay replay;

	for (size_t i = 0; i < ARRAY_SIZE(versions); i++) {
		replay_begin(&replay);
		replay.welcome.message.welcome.version = versions[i];
		assert_cannot_open(&replay, -EPROTONOSUPPORT, "do not go together");
	}
	replay_begin(&replay);
	page_of(&replay)->version = PAGE_VERSION + 1;
	assert_cannot_open(&replay, -EPROTONOSUPPORT, "do not go together");
}

CASE("the library asks as the library of 0.1.0 did")
{
	struct replay replay;
	char *text;
	pid_t pid;

	replay_begin(&replay);
	pid = replay_start(&replay);
	assert_int_equal(uncore_info(replay.path, &text), 0);
	assert_int_equal(strlen(text), load("info.answer").message.report.json_bytes);
	free(text);
	replay_end(&replay, pid);
	replay_begin(&replay);
	pid = replay_start(&replay);
	assert_int_equal(uncore_set_owner(replay.path, NOBODY), 0);
	replay_end(&replay, pid);
}

int main(void)
{
	if (!release_was_built())
		return 0;
	return run_on_daemon("standin", NULL);
}
