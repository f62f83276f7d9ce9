/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One call of the library to the daemon: connecting, the greeting, a request and its answer. A call
 * has one deadline for all of its waits. Every function that fails sets the error sentence
 * (error_say()).
 */
#pragma once

#include <stdint.h>

#include "common/wire.h"

/* Time for an answer, unless the caller sets it: at a load of 15 a second was too little. */
#define CALL_WITHIN_NS UINT64_C(10000000000)

struct call {
	const char *path; /* borrowed */
	uint64_t within_ns, deadline_ns;
	int fd; /* -1: not connected */
};

/* Makes a call to the daemon at @path (NULL: UNCORE_SOCKET, or the default). The result is for
 * call_done(). */
struct call call_to(const char *path, uint64_t timeout_ns);
void call_done(struct call *call);

/* Connects only. Errors as uncore_open(). */
int call_connect(struct call *call);

/* Connects and says hello; once more if uncored ends meanwhile. *@ret_welcome is for
 * wire_packet_done(). Errors as uncore_open(). */
int call_greet(struct call *call, struct wire_packet *ret_welcome);

/* Sends @request. Errors as uncore_open(); so have all functions below. */
int call_send(const struct call *call, const union wire_message *request);

/* Waits for an answer. 0; -ETIMEDOUT; errno of ppoll(2). Sets no error sentence. */
int call_wait(const struct call *call);

/* Takes the answer, which must have @expected opcode. *@ret is for wire_packet_done(). */
int call_take(const struct call *call, enum wire_opcode expected, struct wire_packet *ret);

/* Sends @request and takes the answer. */
int call_ask(const struct call *call, const union wire_message *request, enum wire_opcode expected,
	struct wire_packet *ret);

/* call_greet(), then call_ask(): a connection for this request alone. */
int call_ask_once(struct call *call, const union wire_message *request, enum wire_opcode expected,
	struct wire_packet *ret);

/* Says that @error kept the library from its call, and what to do. Returns @error. */
int call_cannot_connect(int error, const struct call *call);
