/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Any clients at uncored's socket: the daemon's own server, event loop and readers, with clients in
 * this process. The input is a line of steps: which client connects, what it sends, whether
 * anything is received, when the loop goes round, what the administrator does meanwhile. With any
 * input the loop goes on, and no client's descriptors, memory or places are left behind.
 */
#include <dlfcn.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/macro.h"
#include "common/wire.h"
#include "daemon/serve/serving.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/machine.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

enum { CLIENTS = 8, ROUNDS_MAX = 64, DOORBELLS = 16, DESCRIPTORS_MAX = 256 };

/* Each connection of this person is another user's, with an account of its own. */
enum { STRANGER = 100000 };

/* The identity of a client; see getsockopt() below. */
struct person {
	uint32_t uid, gid, groups[2];
	unsigned n_groups;
	int untold; /* SO_PEERCRED or SO_PEERGROUPS, which the kernel does not tell; 0: none */
};

static const struct person people[] = {
	{ .uid = 0 },
	{ .uid = 1000, .gid = 1000 },
	{ .uid = 1001, .gid = 100, .groups = { 10, 1000 }, .n_groups = 2 },
	{ .uid = 1002, .gid = 10 },
	{ .uid = 1003, .untold = SO_PEERGROUPS },
	{ .uid = 1004, .untold = SO_PEERCRED },
	{ .uid = STRANGER },
};

/* Configurations that the administrator may write. The daemon starts with the first. */
static const char *const configurations[] = {
	"",
	"[server]\nmax_clients = 3\nmax_clients_per_user = 2\n",
	"[access]\ngroup = 1000\n",
	"[access]\nusers = 1001 1002\n",
	"[access]\nowner_only = yes\n",
	"[access]\nowner_only = yes\nusers = 1000\ngroup = 1000\nmode = 0660\n",
	"[disclosure]\nmin_interval_ms = 1\nmin_interval_per_user_ms = 2\nquantum = 4096\n",
	"[server]\nrequests_per_second = 1\nmax_clients = 64\nmax_clients_per_user = 2\n",
	"[server]\nsocket = /elsewhere\n[reader]\nrealtime = no\n",
	"[server]\nmax_clients = many\n",
	"[access]\ngroup = 1000\nusers = 1001\n",
	"[server]\nmax_clients = 4\nmax_clients_per_user = 4\n",
	"[server]\nmax_clients_per_user = 16384\n[reader]\nbudget_percent = 10\nburst_ms = 1\n",
};

/* --- the counters, which live as long as the process --- */

static struct counters counters;
static struct reader readers[MACHINE_SOCKETS];

static void start_reader(unsigned socket)
{
	const struct reader_options options = {
		.affinity.cpu = -1,
		.rules = { .budget = { .percent = 100, .burst_ms = 100 }, .quanta = { 1, 1 } },
		.stopped_fd = -1,
	};

	if (reader_init(&readers[socket], &options, &counters.generation, socket) < 0 ||
		reader_thread_start(&readers[socket]) < 0)
		errx(1, "Cannot start a reader.");
}

/* Starts only what server.h and peer.h need. The threads take no signal, as libFuzzer's. */
static void start_counters(void)
{
	static const struct machine_kernel kernel;
	static const char *platform_dirs[2];
	static char platforms[256]; /* there are none */
	struct fault fault;
	sigset_t all, before;

	machine_begin(&kernel);
	snprintf(platforms, sizeof platforms, "%s/platforms", scratch_folder());
	platform_dirs[0] = platforms;
	counters = (struct counters){
		.origin.platform_dirs = platform_dirs,
		.plan = *machine_plan(),
		.platform = (struct platform *)machine_plan()->platform,
		.stopped_fd = -1,
		.readers = readers,
		.n_readers = MACHINE_SOCKETS,
	};
	if (generation_init(&counters.generation, &counters.plan) < 0)
		errx(1, "No memory.");
	generation_open(&counters.generation);
	if (generation_publish(&counters.generation, &fault) < 0)
		errx(1, "%s", fault.text);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (unsigned s = 0; s < MACHINE_SOCKETS; s++)
		start_reader(s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void reset_counters(const struct config *config)
{
	if (!counters.readers)
		start_counters();
	counters_apply(&counters, config);
	ledger_set_current(&counters.generation.ledger,
		(struct ledger_current){ .page = 1, .owner = (uint32_t)LEDGER_NO_OWNER });
}

/* --- how many descriptors there may be --- */

static rlim_t limit_of_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		err(1, "Cannot see the limit of descriptors");
	return limit.rlim_cur;
}

static void limit_descriptors(rlim_t n)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		err(1, "Cannot see the limit of descriptors");
	limit.rlim_cur = n;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static rlim_t usual_limit;

/* --- the clients --- */

static struct sockaddr_un address; /* of the daemon */
static int clients[CLIENTS];
static int doorbells[CLIENTS]; /* the first of each */

static void hang_up(unsigned i)
{
	close_fd(&clients[i]);
	close_fd(&doorbells[i]);
}

/* The name of a client's end tells getsockopt() below its user. */
static void call_in(unsigned i, unsigned user)
{
	static unsigned serial;
	struct sockaddr_un own = { .sun_family = AF_UNIX };
	int n = snprintf(own.sun_path + 1, sizeof own.sun_path - 1, "%c%d-%u", 'a' + user, getpid(),
		serial++);

	hang_up(i);
	clients[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (clients[i] < 0)
		return;
	if (bind(clients[i], (void *)&own,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)) < 0 ||
		connect(clients[i], (void *)&address, sizeof address) < 0)
		hang_up(i);
}

static void send_bytes(unsigned i, const void *bytes, size_t size_bytes, unsigned n_fds)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(3 * sizeof(int))];
	} control = {};
	const int fds[] = { clients[i], clients[i], clients[i] };
	struct iovec part = { .iov_base = (void *)bytes, .iov_len = size_bytes };
	struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };

	if (n_fds) {
		control.header.cmsg_level = SOL_SOCKET;
		control.header.cmsg_type = SCM_RIGHTS;
		control.header.cmsg_len = CMSG_LEN(n_fds * sizeof(int));
		memcpy(CMSG_DATA(&control.header), fds, n_fds * sizeof(int));
		packet.msg_control = control.bytes;
		packet.msg_controllen = CMSG_SPACE(n_fds * sizeof(int));
	}
	sendmsg(clients[i], &packet, MSG_NOSIGNAL);
}

static void send_request(unsigned i, uint16_t opcode, uint32_t argument, unsigned n_fds)
{
	union wire_message message = {};

	wire_begin(&message, WIRE_HELLO); /* all requests but TEAM and LAST are laid out alike */
	message.header.opcode = opcode;
	message.hello.version = argument;
	send_bytes(i, &message, message.header.size, n_fds);
}

/* --- steps: a byte, whose upper part is the client, and the further bytes of the step --- */

static void step_connect(unsigned i)
{
	call_in(i, take_byte() % ARRAY_SIZE(people));
}

static void step_hello(unsigned i)
{
	send_request(i, WIRE_HELLO, WIRE_VERSION, 0);
}

static uint32_t last_run; /* of the last table that any client got */

/* Two bits of @bits each: the wish, the name, and the run; then whose, and how many bytes. */
static void send_team(unsigned i, uint16_t opcode, uint8_t bits)
{
	static const char *const names[] = { "a", "slurm.1.0", "", "a b" };
	union wire_message message;

	wire_begin(&message, opcode);
	message.team.wish = bits & 3;
	strcpy(message.team.name, names[bits >> 2 & 3]);
	message.team.run = (bits & 0x30) == 0x30 ? last_run : bits >> 4 & 3;
	message.team.uid = bits & 0x40 ? 1000 : TEAM_OWN;
	if (message.team.wish == TEAM_JOIN)
		message.team.bytes = bits & 0x80 ? 100 : 65536;
	send_bytes(i, &message, message.header.size, 0);
}

static void step_request(unsigned i)
{
	uint8_t opcode = take_byte(), argument = take_byte();

	if (opcode == WIRE_TEAM || opcode == WIRE_LAST)
		send_team(i, opcode, argument);
	else
		send_request(i, opcode, argument == UINT8_MAX ? UINT32_MAX : argument, 0);
}

static void step_owner(unsigned i)
{
	send_request(i, WIRE_OWNER, 1000 + take_byte() % 4, 0);
}

static void step_bytes(unsigned i)
{
	size_t n = take_byte();

	if (n > input.size_bytes)
		n = input.size_bytes;
	send_bytes(i, input.data, n, 0);
	input.data += n;
	input.size_bytes -= n;
}

static void step_attach(unsigned i)
{
	send_request(i, WIRE_HELLO, WIRE_VERSION, 1 + take_byte() % 3);
}

static void step_attach_to_nothing(unsigned i)
{
	send_bytes(i, NULL, 0, take_byte() % 3);
}

/* As a process of the team that is killed. */
static void fill_table(const struct wire_packet *packet)
{
	static const char bytes[65536];

	last_run = packet->message.table.run;
	if (packet->n_fds != 1 || pwrite(packet->fds[0], bytes, sizeof bytes, 0) < 0)
		abort();
}

static void step_receive(unsigned i)
{
	struct wire_packet packet;

	if (wire_receive(clients[i], WIRE_FROM_DAEMON, &packet) != 1)
		return;
	if (packet.message.header.opcode == WIRE_WELCOME) {
		if (packet.n_fds != packet.message.welcome.n_sockets + 2)
			abort();
		close_fd(&doorbells[i]);
		doorbells[i] = take_fd(&packet.fds[1]);
	}
	if (packet.message.header.opcode == WIRE_TABLE)
		fill_table(&packet);
	wire_packet_done(&packet);
}

static void step_ring(unsigned i)
{
	if (doorbells[i] >= 0)
		eventfd_write(doorbells[i], 1);
}

static void step_shut(unsigned i)
{
	shutdown(clients[i], take_byte() % 3);
}

static void step_flood(unsigned i)
{
	unsigned n = take_byte();

	while (n--)
		send_request(i, WIRE_INFO, n & 1 ? WIRE_STATE : WIRE_PLATFORMS, 0);
}

static void step_configure(unsigned i)
{
	const char *text = configurations[take_byte() % ARRAY_SIZE(configurations)];
	rlim_t limit = limit_of_descriptors();

	(void)i;
	limit_descriptors(usual_limit);
	scratch_write("uncored.conf", (const uint8_t *)text, strlen(text));
	limit_descriptors(limit);
	raise(SIGHUP);
}

/* How many more descriptors the daemon may have; each connection and answer takes some. */
static unsigned room = UINT_MAX;

static void step_limit(unsigned i)
{
	uint8_t byte = take_byte();

	(void)i;
	room = byte < 16 ? byte : UINT_MAX;
}

static void unlink_socket(void)
{
	unlink(address.sun_path);
}

static uint64_t patience_us; /* how long the next round waits for something to happen */

/*
 * A wait that is long enough for clients that the budget delays, and for answers of the name
 * service.
 */
static void wait_a_moment(void)
{
	patience_us = 20000;
}

static bool next_close_hangs; /* for longer than a closer waits before there is another */

static void hang_next_close(void)
{
	__atomic_store_n(&next_close_hangs, true, __ATOMIC_RELAXED);
}

static const char spoilt[] = "platforms/wrong.conf";

static void spoil_platforms(void)
{
	rlim_t limit = limit_of_descriptors();
	char path[256];

	limit_descriptors(usual_limit);
	snprintf(path, sizeof path, "%s/platforms", scratch_folder());
	mkdir(path, 0700);
	scratch_write(spoilt, (const uint8_t *)"wrong\n", 6);
	limit_descriptors(limit);
}

static void mend_platforms(void)
{
	char path[256];

	snprintf(path, sizeof path, "%s/%s", scratch_folder(), spoilt);
	unlink(path);
}

static void step_besides(unsigned i)
{
	static void (*const besides[])(
		void) = { unlink_socket, wait_a_moment, hang_next_close, spoil_platforms };

	besides[i % ARRAY_SIZE(besides)]();
}

static void step_end(unsigned i)
{
	(void)i;
	raise(SIGTERM);
}

static void (*const steps[])(unsigned i) = { step_connect, step_hello, step_request, step_owner,
	step_bytes, step_attach, step_attach_to_nothing, step_receive, step_ring, step_shut,
	hang_up, step_flood, step_configure, step_limit, step_besides, step_end };

static_assert(ARRAY_SIZE(steps) == 16, "half a byte");

static FILE *complaints; /* stderr, while the daemon's log goes nowhere */

static struct listener listener;
static struct server server;

static bool close_hangs; /* at this moment */

/* Waits until the daemon's closers are done, so that an input reaches the same each time. */
static void wait_for_closers(void)
{
	closers_settle(server.closers, &server.budget);
	while (closers_pending(server.closers) > closers_unread(server.closers) &&
		!__atomic_load_n(&close_hangs, __ATOMIC_RELAXED))
		usleep(100);
}

/* --- in the place of libsystemd: the input says when the loop goes round --- */

static int run_real(sd_event *event, uint64_t timeout_us)
{
	int (*real)(sd_event *, uint64_t) =
		(int (*)(sd_event *, uint64_t))dlsym(RTLD_NEXT, "sd_event_run");

	return real(event, timeout_us);
}

static int go_round(sd_event *event)
{
	rlim_t limit = limit_of_descriptors();
	int next = dup(STDIN_FILENO), r;

	close(next);
	if (room < UINT_MAX)
		limit_descriptors((rlim_t)next + room);
	r = run_real(event, patience_us);
	limit_descriptors(limit);
	patience_us = 0;
	wait_for_closers();
	if (r < 0) { /* nothing that a client does stops the loop */
		stderr = complaints;
		errx(1, "The event loop failed: %s.", strerror(-r));
	}
	return r;
}

/* Takes steps up to the next that lets the loop go round. False: the input is at its end. */
static bool take_steps(void)
{
	while (input.size_bytes) {
		uint8_t byte = take_byte();

		steps[byte & 15]((byte >> 4) % CLIENTS);
		if (byte < 128)
			return true;
	}
	return false;
}

static unsigned n_rounds; /* since the last step */
static bool is_over;

/* The loop asks for events that are there, and at rest for the next one, which the input says. */
int sd_event_run(sd_event *event, uint64_t timeout_us)
{
	if (timeout_us == UINT64_MAX || n_rounds >= ROUNDS_MAX) {
		n_rounds = 0;
		if (is_over)
			sd_event_exit(event, 0);
		is_over = !take_steps();
	}
	n_rounds++;
	return go_round(event);
}

/* --- in the place of this computer's users: there are none --- */

struct passwd *fgetpwent(FILE *file)
{
	(void)file;
	return NULL;
}

/* --- in the place of the kernel: users, and what it was before Linux 6.16 --- */

static bool passes_rights;

/* The daemon shuts a connection down before it closes it. */
int shutdown(int fd, int how)
{
	if (gettid() != getpid() &&
		__atomic_exchange_n(&next_close_hangs, false, __ATOMIC_RELAXED)) {
		__atomic_store_n(&close_hangs, true, __ATOMIC_RELAXED);
		usleep(50000);
		__atomic_store_n(&close_hangs, false, __ATOMIC_RELAXED);
	}
	return (int)syscall(SYS_shutdown, fd, how);
}

/* False: nobody is at the other end any more. */
static bool find_user(int fd, struct person *ret)
{
	struct sockaddr_un name = {};
	socklen_t size = sizeof name - 1;
	unsigned serial = 0;
	char letter = 'a';

	if (getpeername(fd, (void *)&name, &size) < 0 || size < 4)
		return false;
	sscanf(name.sun_path + 1, "%c%*d-%u", &letter, &serial);
	*ret = people[(unsigned)(letter - 'a') % ARRAY_SIZE(people)];
	if (ret->uid == STRANGER)
		ret->uid += serial << 16;
	return true;
}

static int tell_groups(const struct person *user, void *value, socklen_t *size)
{
	socklen_t have = *size;

	*size = user->n_groups * (socklen_t)sizeof *user->groups;
	if (have < *size) {
		errno = ERANGE;
		return -1;
	}
	if (*size)
		memcpy(value, user->groups, *size);
	return 0;
}

int getsockopt(int fd, int level, int name, void *value, socklen_t *size)
{
	struct person user;

	if (level != SOL_SOCKET || (name != SO_PEERCRED && name != SO_PEERGROUPS) ||
		!find_user(fd, &user))
		return (int)syscall(SYS_getsockopt, fd, level, name, value, size);
	if (name == user.untold) {
		errno = ENOPROTOOPT;
		return -1;
	}
	if (name == SO_PEERGROUPS)
		return tell_groups(&user, value, size);
	*(struct ucred *)value = (struct ucred){ .uid = user.uid, .gid = user.gid };
	return 0;
}

int setsockopt(int fd, int level, int name, const void *value, socklen_t size)
{
	enum { PASS_RIGHTS = 83 }; /* SO_PASSRIGHTS */

	if (passes_rights && level == SOL_SOCKET && name == PASS_RIGHTS) {
		errno = ENOPROTOOPT;
		return -1;
	}
	return (int)syscall(SYS_setsockopt, fd, level, name, value, size);
}

/* --- the daemon --- */

/* The file at the socket's path, or the socket from systemd, when the daemon starts. */
enum beginning {
	FREE,
	LEFT_OVER,
	ACTIVATED,
	/* the daemon cannot start with these */
	A_FILE,
	TAKEN,
	NO_FOLDER,
	ACTIVATED_WRONG,
	ACTIVATED_TWICE
};

/* The first byte: a beginning, a flag, and at bit 4 a limit of descriptors. */
enum { BEGINNING = 7, PASSES_RIGHTS = 8, LIMIT_AT = 4 };
enum limit {
	USUAL,
	FEW,    /* not enough for max_clients */
	FEWEST, /* not enough for the counters and a client */
	NO_MORE /* than are open; each higher limit permits one more */
};

static rlim_t limit_of(unsigned which)
{
	static const rlim_t limits[] = { [FEW] = 120, [FEWEST] = 47 };
	int next = dup(STDIN_FILENO);

	close(next);
	if (which == USUAL)
		return usual_limit;
	return which < NO_MORE ? limits[which] : (rlim_t)next + which - NO_MORE;
}

static int bound_socket(int type, bool listens)
{
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	if (fd < 0 || bind(fd, (void *)&address, sizeof address) < 0 ||
		(listens && listen(fd, 8) < 0))
		err(1, "Cannot make the socket %s", address.sun_path);
	return fd;
}

static void pass(struct fdstore *store, int fd)
{
	store->items[store->n++] =
		(struct fdstore_item){ .fd = fd, .name = strdup("uncored.socket") };
}

static struct fdstore prepare(enum beginning beginning)
{
	struct fdstore store = { .items = calloc(3, sizeof *store.items) };

	if (!store.items)
		abort();
	unlink(address.sun_path);
	switch (beginning) {
	case FREE:
	case NO_FOLDER:
		break;
	case LEFT_OVER:
		close(bound_socket(SOCK_SEQPACKET, true));
		break;
	case A_FILE:
		close(open(address.sun_path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		break;
	case TAKEN:
		clients[0] = passes_rights ? bound_socket(SOCK_DGRAM, false)
					   : bound_socket(SOCK_SEQPACKET, true);
		break;
	case ACTIVATED_WRONG:
		pass(&store, bound_socket(SOCK_STREAM, true));
		break;
	case ACTIVATED_TWICE:
		pass(&store, fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
		pass(&store, bound_socket(SOCK_DGRAM, false));
		/* fall through */
	case ACTIVATED:
		unlink(address.sun_path);
		pass(&store, bound_socket(SOCK_SEQPACKET, true));
	}
	return store;
}

static void run(enum beginning beginning, unsigned which_limit, const struct config *config)
{
	struct fdstore store = prepare(beginning);
	struct config copy = *config;
	struct fault fault = { "" };
	bool listens;
	int r;

	if (beginning == NO_FOLDER)
		strcpy(copy.socket_path, "/nowhere/at/all");
	r = listener_open(&listener, &copy, &store, &fault);
	listens = r >= 0;
	if (listens && server_init(&server, &copy, &listener, &store, &fault) < 0)
		abort();
	if ((r < 0) != (beginning > ACTIVATED) || (r < 0 && !fault.text[0]))
		abort();
	if (r >= 0) {
		limit_descriptors(limit_of(which_limit));
		r = serving_run(&server, &counters, &fault);
		limit_descriptors(usual_limit);
		if (r < 0 && (which_limit < FEWEST || !fault.text[0]))
			abort();
	}
	for (unsigned i = 0; i < CLIENTS; i += 2)
		hang_up(i);
	if (listens)
		server_done(&server);
	listener_close(&listener);
	if (r >= 0 && counters.generation.shared_page.header->daemon.n_clients)
		abort();
	fdstore_done(&store);
	unlink(address.sun_path);
}

static struct config first_config(void)
{
	static char path[256];
	struct config config;
	struct fault fault;

	snprintf(path, sizeof path, "%s",
		scratch_write("uncored.conf", (const uint8_t *)configurations[0],
			strlen(configurations[0])));
	snprintf(address.sun_path, sizeof address.sun_path, "%s/socket", scratch_folder());
	address.sun_family = AF_UNIX;
	if (config_find(&(struct config_origin){ path, address.sun_path }, NULL, &config, &fault) <
		0)
		errx(1, "%s", fault.text);
	return config;
}

/* Signals that the daemon did not take must not end the fuzzer. */
static void forget_signals(const sigset_t *signals)
{
	const struct timespec now = {};

	while (sigtimedwait(signals, NULL, &now) > 0)
		;
}

static unsigned count_descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < DESCRIPTORS_MAX; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/*
 * A closer that has no CPU outlives the server, and keeps its descriptors until it has ended: a
 * moment, or half a minute on a busy machine.
 */
static unsigned count_at_rest(unsigned expected)
{
	enum { LOOKS = 30000 };
	unsigned n = count_descriptors();

	for (unsigned i = 0; i < LOOKS && n > expected; i++) {
		usleep(1000);
		n = count_descriptors();
	}
	return n;
}

/* With signals blocked, as the daemon has them, and without its log, a line for each refusal. */
static void run_quietly(uint8_t first_byte, const struct config *config)
{
	FILE *nowhere = fopen("/dev/null", "we");
	sigset_t signals, before;

	if (!nowhere)
		err(1, "Cannot begin");
	sigemptyset(&signals);
	sigaddset(&signals, SIGHUP);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &signals, &before);
	complaints = stderr;
	stderr = nowhere;
	run(first_byte & BEGINNING, first_byte >> LIMIT_AT, config);
	stderr = complaints;
	forget_signals(&signals);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	fclose(nowhere);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct config config = first_config();
	unsigned n_before, n_after;
	uint8_t first_byte;

	if (!usual_limit)
		usual_limit = limit_of_descriptors();
	input.data = data;
	input.size_bytes = size_bytes;
	first_byte = take_byte();
	passes_rights = first_byte & PASSES_RIGHTS;
	room = UINT_MAX;
	n_rounds = ROUNDS_MAX; /* steps come first */
	is_over = false;
	next_close_hangs = false;
	mend_platforms();
	reset_counters(&config);
	for (unsigned i = 0; i < CLIENTS; i++)
		clients[i] = doorbells[i] = -1;
	n_before = count_descriptors();
	run_quietly(first_byte, &config);
	for (unsigned i = 0; i < CLIENTS; i++)
		hang_up(i);
	n_after = count_at_rest(n_before);
	if (n_after != n_before)
		errx(1, "%u descriptors are open, there were %u.", n_after, n_before);
	return 0;
}
