/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The whole protocol between a client and uncored.
 *
 * A Unix SOCK_SEQPACKET socket: one message is one packet, in the machine's own byte order (both
 * ends run on the same kernel). A client says HELLO first, unless it only wants to LOOK at tables
 * of its teams, FORGET them, or have their LAST reading. WELCOME carries the page (common/page.h),
 * one doorbell per socket, and the user's wake-ups as file descriptors: all clients of one uid get
 * the same doorbells and wake-ups. After that a fresh read needs no message at all: ring the
 * doorbell, wait for the wake-up. A doorbell that cannot be written to any more (EAGAIN) is full:
 * RENEW it. No request names a register, an event or a CPU; only root's OWNER and TEAM name another
 * user, and only the answer to root's CLIENTS names any.
 *
 * The two ends may be of different releases for years: a container brings its own library. So every
 * later release sends and accepts everything that an earlier one has sent or accepted:
 *
 * - HELLO carries the highest version that the client speaks. WELCOME answers the lower of the
 *   client's and the daemon's highest versions: if the answer is below the client's, uncored is the
 *   older end. An end that speaks version N speaks all versions below, down to 1.
 * - A message never grows or changes its meaning. Anything new is a new opcode, at any version: an
 *   older daemon answers it with -EOPNOTSUPP and keeps the connection, and the client works without
 *   it. A daemon sends a new opcode only as the answer to a new request. A new topic of INFO may be
 *   answered with -EINVAL for the same reason.
 * - A new version is for changes that no new request can ask for. A client whose HELLO has too low
 *   a version for such a change is served as before, or refused with a sentence.
 * - Reserved fields are 0 in every version: both ends refuse any other value. They are there for
 *   alignment, not for later.
 * - WELCOME always comes with n_sockets + 2 descriptors, in the order above. To ring a doorbell
 *   that came with it, a client writes eight bytes, the number 1, which never blocks. Only the
 *   daemon decides what kind of file a doorbell is, and whether other connections have the same
 *   one. Another way to ring needs a new request.
 * - Shared memory that WELCOME brings grows as page.h says: padding gets a meaning, the page gets
 *   longer. An older client has the memory and does not read these parts.
 */
#pragma once

#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "common/team.h"

enum {
	WIRE_VERSION = 1,
	WIRE_MESSAGE_MAX = 512, /* bytes, either direction */
	WIRE_TEXT_MAX = 480,    /* bytes of an error sentence, with its final NUL */
	WIRE_FDS_MAX = 34, /* the page, one doorbell per socket (PAGE_SOCKETS_MAX), the wake-ups */
};

#define WIRE_SOCKET_PATH "/run/uncored/socket"

enum wire_opcode {
	/* client to daemon */
	WIRE_HELLO = 1, /* first message, once; answered by WELCOME */
	WIRE_INFO = 2,  /* answered by REPORT */
	WIRE_OWNER = 3, /* only for root; answered by DONE */
	WIRE_RENEW = 4, /* the doorbells are full; answered by RENEWED */
	WIRE_TEAM = 5,  /* the table of a team; answered by TABLE, or by DONE if it was to FORGET */
	WIRE_CLIENTS = 6, /* only for root; answered by REPORT */
	WIRE_LAST = 7,    /* the last reading for a table (wire_team); answered by READING */
	/* daemon to client */
	WIRE_WELCOME = 0x81, /* fds: page, doorbell of socket 0, 1, ..., and the wake-ups */
	WIRE_REPORT = 0x82,  /* fd: a sealed memfd with the JSON of `uncore info` */
	WIRE_DONE = 0x83,
	WIRE_RENEWED = 0x84, /* fds: doorbell of socket 0, 1, ... */
	WIRE_TABLE = 0x85,   /* fd: the table, a sealed memfd for reading and writing */
	WIRE_READING = 0x86, /* fd: a sealed memfd with a struct page_sweep for each socket */
	WIRE_ERROR = 0xff,   /* answer to any request that was refused */
};

struct wire_header {
	uint16_t opcode;
	uint16_t reserved; /* 0 */
	uint32_t size;     /* of the whole message, this header included */
};

struct wire_hello {
	struct wire_header header;
	uint32_t version;  /* the highest that the client speaks */
	uint32_t reserved; /* 0 */
};

enum wire_topic { WIRE_STATE, WIRE_PLATFORMS };

struct wire_info {
	struct wire_header header;
	uint32_t topic;    /* enum wire_topic */
	uint32_t reserved; /* 0 */
};

/* Sets the owner of the job that the node runs from now on. */
struct wire_owner {
	struct wire_header header;
	uint32_t uid;      /* UINT32_MAX: no owner */
	uint32_t reserved; /* 0 */
};

struct wire_renew {
	struct wire_header header;
	uint32_t flags;    /* 0 */
	uint32_t reserved; /* 0 */
};

/* Who the clients are, and what they cost: the JSON of `uncore info --clients`. */
struct wire_clients {
	struct wire_header header;
	uint32_t flags;    /* 0 */
	uint32_t reserved; /* 0 */
};

/*
 * A uid's tables differ in name, layout and run. If a team of the same name begins anew, it gets a
 * higher run, which uncored chooses and never uses twice. Fields that a wish does not name are 0.
 *
 * - JOIN, which needs a HELLO before it: gets the table of the client's own team `name` with
 *   `layout`, in its newest run; if there is none, a new table of `bytes`. `run` above 0 says that
 *   this run has ended: JOIN then gets the newest run if it is later, else a new table with a later
 *   run.
 * - LOOK: gets the newest table of `name`, or the newest with exactly `run` if `run` is above 0.
 *   Without a name: gets table `number` of all tables of the uid; the oldest is number 0. -ENOENT:
 *   there is none.
 * - FORGET: uncored drops the table of `name`, `layout` and `run`. -ENOENT: there is none.
 *
 * LAST has the same fields as a LOOK with name and run. READING is what uncored read when it
 * noticed that no process holds a lock on the table any more, and nobody has reported it. -EAGAIN:
 * it has not read yet; -ENOENT: it does not.
 */
enum wire_wish { TEAM_JOIN, TEAM_LOOK, TEAM_FORGET };

struct wire_team {
	struct wire_header header;
	uint32_t wish;     /* enum wire_wish */
	uint32_t reserved; /* 0 */
	uint32_t uid;      /* TEAM_OWN; another uid: only if root wants to LOOK or FORGET */
	uint32_t run;
	uint64_t bytes; /* a multiple of the page size, at most TEAM_BYTES_MAX */
	uint32_t layout;
	uint32_t number;
	char name[TEAM_NAME_BYTES]; /* as team_name_is_valid() */
};

struct wire_done {
	struct wire_header header;
};

struct wire_welcome {
	struct wire_header header;
	uint32_t version;    /* the version that both ends speak; see wire_common_version() */
	uint32_t n_sockets;  /* doorbells that came with this message */
	uint64_t page_bytes; /* length to map */
};

struct wire_renewed {
	struct wire_header header;
	uint32_t n_sockets; /* doorbells that came with this message */
	uint32_t reserved;
};

struct wire_table {
	struct wire_header header;
	uint32_t run;
	uint32_t n_others; /* tables of this uid that were alive while this one was */
	uint32_t layout;
	uint32_t uid;
	uint64_t bytes;
	uint64_t made_ns; /* CLOCK_MONOTONIC */
	char name[TEAM_NAME_BYTES];
	char other[TEAM_NAME_BYTES]; /* the first of the others; "": none */
};

/* Times of CLOCK_MONOTONIC. */
struct wire_reading {
	struct wire_header header;
	uint32_t n_sockets;
	uint32_t reserved;
	uint64_t generation[2];
	uint64_t alive_ns;   /* a process held a lock on the table then, or it was made */
	uint64_t noticed_ns; /* none did any more */
};

/*
 * The daemon writes its next report into the same memory, so that a client that keeps descriptors
 * keeps only one memfd. A struct wire_report_end after the text tells whether the text is complete.
 */
struct wire_report {
	struct wire_header header;
	uint64_t json_bytes;
};

/* At the next multiple of 8 after the text. */
struct wire_report_end {
	uint64_t json_bytes;
	uint64_t hash; /* wire_hash() of the text */
};

struct wire_error {
	struct wire_header header;
	int32_t error; /* negative errno */
	char text[WIRE_TEXT_MAX];
};

union wire_message {
	struct wire_header header;
	struct wire_hello hello;
	struct wire_info info;
	struct wire_owner owner;
	struct wire_renew renew;
	struct wire_team team;
	struct wire_clients clients;
	struct wire_done done;
	struct wire_welcome welcome;
	struct wire_renewed renewed;
	struct wire_table table;
	struct wire_report report;
	struct wire_reading reading;
	struct wire_error error;
	char bytes[WIRE_MESSAGE_MAX];
};

static_assert(sizeof(struct wire_header) == 8, "wire_header");
static_assert(sizeof(struct wire_hello) == 16, "wire_hello");
static_assert(sizeof(struct wire_info) == 16, "wire_info");
static_assert(sizeof(struct wire_owner) == 16, "wire_owner");
static_assert(sizeof(struct wire_renew) == 16, "wire_renew");
static_assert(sizeof(struct wire_team) == 160, "wire_team");
static_assert(sizeof(struct wire_clients) == 16, "wire_clients");
static_assert(sizeof(struct wire_table) == 280, "wire_table");
static_assert(sizeof(struct wire_done) == 8, "wire_done");
static_assert(sizeof(struct wire_renewed) == 16, "wire_renewed");
static_assert(sizeof(struct wire_welcome) == 24, "wire_welcome");
static_assert(sizeof(struct wire_report) == 16, "wire_report");
static_assert(sizeof(struct wire_reading) == 48, "wire_reading");
static_assert(sizeof(struct wire_error) == 492, "wire_error");
static_assert(sizeof(union wire_message) == WIRE_MESSAGE_MAX, "wire_message");

/* The highest version that this release and an end that speaks up to @theirs both speak. */
static inline uint32_t wire_common_version(uint32_t theirs)
{
	return theirs < (uint32_t)WIRE_VERSION ? theirs : (uint32_t)WIRE_VERSION;
}

enum wire_sender { WIRE_FROM_CLIENT, WIRE_FROM_DAEMON };

/* A received message and its descriptors; wire_packet_done() closes the remaining ones. */
struct wire_packet {
	union wire_message message;
	int fds[WIRE_FDS_MAX];
	unsigned n_fds;
};

/*
 * Is this packet a message that @sender may send? Pure: looks at nothing but its arguments.
 * 0; -EBADMSG: too short, too long, size field wrong, reserved field set, text without end, a
 * field out of its range;
 * -EOPNOTSUPP: no such opcode from this sender.
 */
int wire_check(const void *packet, size_t size_bytes, enum wire_sender sender);

/* FNV-1a, 64 bit (Fowler, Noll, Vo). */
uint64_t wire_hash(const void *bytes, size_t size_bytes);

/* The offset of struct wire_report_end in a report with @json_bytes of text. */
uint64_t wire_report_end_at(uint64_t json_bytes);

/* Fills in the header of a message of @opcode; its size comes from the opcode. */
void wire_begin(union wire_message *ret_message, enum wire_opcode opcode);

/* Fills in an ERROR message: @error is a negative errno, the sentence is cut to fit. */
void wire_error(union wire_message *ret_message, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Sends one message with @n_fds descriptors (which the caller still owns). Never blocks. 0;
 * -EAGAIN: the peer does not read; -EPIPE, -ECONNRESET: it is gone; other errno of sendmsg(2).
 */
int wire_send(int socket_fd, const union wire_message *message, const int fds[], unsigned n_fds);

/*
 * Receives one packet and checks it as coming from @sender. Blocks as @socket_fd does. 1: *ret
 * holds a valid message; 0: the peer has closed; -EBADMSG, -EOPNOTSUPP as wire_check(); -EMFILE:
 * this process has no room for the descriptors. With these three, any descriptors received are
 * closed. -EAGAIN and other errno of recvmsg(2).
 */
int wire_receive(int socket_fd, enum wire_sender sender, struct wire_packet *ret);

/*
 * Copies the message of the next packet and leaves the packet in the socket, so that this process
 * gets no descriptor. 0; errors of wire_check(), also if the peer has closed; errno of recv(2).
 */
int wire_peek(int socket_fd, enum wire_sender sender, union wire_message *ret);

void wire_packet_done(struct wire_packet *packet);
