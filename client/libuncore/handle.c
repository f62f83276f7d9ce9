/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handle, and how the greeting fills it. The connection stays open as long as the handle lives,
 * because the daemon frees everything of a client when its connection closes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "client/libuncore/call.h"
#include "client/libuncore/internal.h"
#include "common/same-file.h"

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

/* An access beyond the end of the file raises SIGBUS. So the file must be long enough, and sealed
 * against shrinking. */
static int handle_map_memory(int fd, uint64_t size_bytes, const void **ret)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat status;
	void *memory;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (size_bytes > (uint64_t)status.st_size || seals < 0 || !(seals & F_SEAL_SHRINK))
		return -EBADMSG;
	memory = mmap(NULL, size_bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	*ret = memory;
	return 0;
}

static int handle_map_page(struct uncore *handle, int fd, uint64_t size_bytes)
{
	int r;

	if (size_bytes < sizeof *handle->tables)
		return -EBADMSG;
	r = handle_map_memory(fd, size_bytes, &handle->shared);
	if (r < 0)
		return r;
	handle->shared_bytes = size_bytes;
	return page_copy_tables(handle->shared, size_bytes, &handle->tables);
}

/* The rules follow the wake-ups. */
static int map_wakeups(struct uncore *handle, int fd)
{
	const uint64_t own_bytes = handle->n_doorbells * sizeof *handle->wakeups;
	const void *memory;
	int r;

	handle->wakeups_bytes = own_bytes + sizeof *handle->rules;
	r = handle_map_memory(fd, handle->wakeups_bytes, &memory);
	if (r < 0)
		return r;
	handle->wakeups = memory;
	handle->rules = (const void *)((const char *)memory + own_bytes);
	return 0;
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
	r = handle_map_page(handle, packet->fds[0], welcome->page_bytes);
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

/* --- its descriptors --- */

static int take_connection(struct uncore *handle, int *fd)
{
	struct stat status;

	if (fstat(*fd, &status) < 0)
		return -errno;
	handle->device = status.st_dev;
	handle->inode = status.st_ino;
	handle->connection = take_fd(fd);
	return 0;
}

bool handle_has_descriptors(const struct uncore *handle)
{
	return same_file_is_open(handle->connection, handle->device, handle->inode);
}

/* A handle that is not complete has doorbells without a connection. */
static void close_descriptors(struct uncore *handle)
{
	if (handle->connection >= 0 && !handle_has_descriptors(handle))
		return;
	for (uint32_t i = 0; i < handle->n_doorbells; i++)
		close_fd(&handle->doorbells[i]);
	close_fd(&handle->connection);
}

/* --- open and close --- */

_public_ void uncore_close(struct uncore *handle)
{
	if (!handle)
		return;
	close_descriptors(handle);
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
	handle->patience_ns = HANDLE_PATIENCE_NS;
	r = call_greet(&call, &welcome);
	if (r < 0)
		return r;
	r = take_welcome(handle, &welcome);
	if (r == 0)
		r = take_connection(handle, &call.fd);
	if (r < 0)
		return call_cannot_connect(r, &call);
	*ret_handle = take_ptr(handle);
	return 0;
}

_public_ int uncore_open(const char *socket_path, struct uncore **ret_handle)
{
	return uncore_open_within(socket_path, CALL_WITHIN_NS, ret_handle);
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

/* The new doorbells get the old numbers, because other threads may be writing to them. */
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
	/* No call_done(): the connection is the handle's. */
	struct call call = call_to("", CALL_WITHIN_NS);
	union wire_message request;
	int r;

	call.fd = handle->connection;
	wire_begin(&request, WIRE_RENEW);
	r = call_ask(&call, &request, WIRE_RENEWED, &packet);
	return r < 0 ? r : take_doorbells(handle, &packet);
}

int handle_renew_doorbells(const struct uncore *handle)
{
	_keeps_running_;
	int r;

	pthread_mutex_lock(&handle->mark->asking);
	r = ask_for_doorbells(handle);
	pthread_mutex_unlock(&handle->mark->asking);
	return r;
}
