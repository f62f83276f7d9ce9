/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests other than readings: reports as JSON, and for root the list of clients and the owner of
 * the node. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "client/libuncore/call.h"
#include "client/libuncore/internal.h"

enum { REPORT_BYTES_MAX = 16 << 20 };

/* Reads all @size_bytes from offset @at. -EBADMSG: the file has fewer. */
static int info_read_all(int fd, void *ret, uint64_t size_bytes, uint64_t at)
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

/* -EAGAIN: the next report has overwritten this one meanwhile. */
static int check_report(int fd, const char *text, uint64_t size_bytes)
{
	struct wire_report_end end;
	int r = info_read_all(fd, &end, sizeof end, wire_report_end_at(size_bytes));
	if (r < 0)
		return r;
	return end.json_bytes == size_bytes && end.hash == wire_hash(text, size_bytes) ? 0
										       : -EAGAIN;
}

static int info_read_text(int fd, uint64_t size_bytes, char **ret_text)
{
	_cleanup_free_ char *text = NULL;
	int r;

	if (size_bytes > REPORT_BYTES_MAX)
		return -EBADMSG;
	text = malloc(size_bytes + 1);
	if (!text)
		return -ENOMEM;
	r = info_read_all(fd, text, size_bytes, 0);
	if (r >= 0)
		r = check_report(fd, text, size_bytes);
	if (r < 0)
		return r;
	text[size_bytes] = '\0';
	*ret_text = take_ptr(text);
	return 0;
}

/* -EAGAIN: the report was overwritten while it was read. */
static int ask_for_report(struct call *call, const union wire_message *request, char **ret_json)
{
	_cleanup_(wire_packet_done) struct wire_packet packet = { .n_fds = 0 };
	int r = call_ask_once(call, request, WIRE_REPORT, &packet);

	close_fd(&call->fd);
	if (r < 0)
		return r;
	r = packet.n_fds == 1
		    ? info_read_text(packet.fds[0], packet.message.report.json_bytes, ret_json)
		    : -EBADMSG;
	return r < 0 && r != -EAGAIN ? call_cannot_connect(r, call) : r;
}

static int info_ask_uncored(
	const union wire_message *request, const char *socket_path, char **ret_json)
{
	struct call call = call_to(socket_path, CALL_WITHIN_NS);
	int r;

	if (!ret_json)
		return error_say(-EINVAL, "There is no place for the text that uncored sends.");
	do
		r = ask_for_report(&call, request, ret_json);
	while (r == -EAGAIN);
	return r;
}

static int ask_about(enum wire_topic topic, const char *socket_path, char **ret_json)
{
	union wire_message request;

	wire_begin(&request, WIRE_INFO);
	request.info.topic = topic;
	return info_ask_uncored(&request, socket_path, ret_json);
}

_public_ int uncore_info(const char *socket_path, char **ret_json)
{
	return ask_about(WIRE_STATE, socket_path, ret_json);
}

_public_ int uncore_platforms(const char *socket_path, char **ret_json)
{
	return ask_about(WIRE_PLATFORMS, socket_path, ret_json);
}

_public_ int uncore_clients(const char *socket_path, char **ret_json)
{
	union wire_message request;

	wire_begin(&request, WIRE_CLIENTS);
	return info_ask_uncored(&request, socket_path, ret_json);
}

/* The Prolog of a batch system waits, and with it a job: uncored-jobs(7) says for how long. */
#define OWNER_WITHIN_NS 1000000000U

_public_ int uncore_set_owner(const char *socket_path, uint32_t uid)
{
	_cleanup_(wire_packet_done) struct wire_packet packet = { .n_fds = 0 };
	_cleanup_(call_done) struct call call = call_to(socket_path, OWNER_WITHIN_NS);
	union wire_message request;

	wire_begin(&request, WIRE_OWNER);
	request.owner.uid = uid;
	return call_ask_once(&call, &request, WIRE_DONE, &packet);
}
