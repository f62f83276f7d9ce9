/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Anything that may answer on uncored's socket: the library opens a handle and uses it, or asks
 * for a report, or refuses with a sentence; it loses no descriptor and no memory.
 *
 * The input is struct plan, then the first answer, the second, and the content of the first
 * descriptor that comes with each (a page, a report).
 */
#include <err.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/internal.h"
#include "tests/fuzz/handle.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

enum { ASK_STATE = 1, ASK_PLATFORMS = 2, PADDED = 4, FRESH = 8, ANSWERS = 2, SLACK = 8 };
enum { PADDED_BYTES = 65536, FDS_MAX = 64 };

struct plan {
	uint8_t flags;
	uint8_t n_fds[ANSWERS];
	uint8_t unused;
	uint16_t bytes[ANSWERS]; /* of each answer */
};

struct part {
	const uint8_t *data;
	size_t size_bytes;
};

static struct {
	int listener;
	char path[64];
	sem_t served; /* the connection is closed, and the plan is read no more */
	struct plan plan;
	struct part answers[ANSWERS];
	struct part content;
} fake;

/* --- the server --- */

static int content_fd(void)
{
	int fd = memfd_create("content", MFD_CLOEXEC);

	if (fd < 0 ||
		(fake.content.size_bytes && write(fd, fake.content.data, fake.content.size_bytes) !=
						    (ssize_t)fake.content.size_bytes))
		err(1, "Cannot make the content");
	if (fake.plan.flags & PADDED && ftruncate(fd, PADDED_BYTES) < 0)
		err(1, "Cannot pad the content");
	return fd;
}

/* As wire_send(), which refuses to send what it should not. */
static void send_answer(int client, const struct part *answer, unsigned n_fds)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int) * FDS_MAX)];
	} control = {};
	struct iovec part = { .iov_base = (void *)answer->data, .iov_len = answer->size_bytes };
	struct msghdr packet = { .msg_iov = &part, .msg_iovlen = 1 };
	int fds[FDS_MAX];

	for (unsigned i = 0; i < n_fds; i++)
		fds[i] = i ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : content_fd();
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
	char request[WIRE_MESSAGE_MAX];

	for (int i = 0; i < ANSWERS; i++) {
		if (recv(client, request, sizeof request, 0) <= 0)
			return;
		send_answer(client, &fake.answers[i], fake.plan.n_fds[i] % FDS_MAX);
	}
}

static void *serve(void *userdata)
{
	for (;;) {
		int client = accept4(fake.listener, NULL, NULL, SOCK_CLOEXEC);

		if (client < 0)
			err(1, "Cannot accept");
		serve_client(client);
		close(client);
		sem_post(&fake.served);
	}
	return userdata;
}

static void start(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	pthread_t thread;

	snprintf(fake.path, sizeof fake.path, "%s/socket", scratch_folder());
	strcpy(address.sun_path, fake.path);
	sem_init(&fake.served, 0, 0);
	fake.listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (bind(fake.listener, (struct sockaddr *)&address, sizeof address) < 0 ||
		listen(fake.listener, 8) < 0 || pthread_create(&thread, NULL, serve, NULL))
		err(1, "Cannot serve on %s", fake.path);
	pthread_detach(thread);
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

static void open_and_use(void)
{
	struct uncore *handle = NULL;

	if (uncore_open(fake.path, &handle) == 0)
		handle_use(handle, fake.plan.flags & FRESH);
	else if (handle || !*uncore_error_text())
		abort();
	uncore_close(handle);
}

static void ask(int (*question)(const char *path, char **ret_json))
{
	_cleanup_free_ char *text = NULL;

	if (question(fake.path, &text) < 0 ? text || !*uncore_error_text()
					   : !text || strlen(text) > fake.content.size_bytes)
		abort();
}

/* What is lost adds up; a descriptor on its way between the threads does not. */
static void look_for_leaks(void)
{
	static int first_free;
	int fd = dup(fake.listener);

	close(fd);
	if (!first_free)
		first_free = fd;
	if (fd > first_free + SLACK) {
		fprintf(stderr, "Descriptors were lost: the next one is %d.\n", fd);
		abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct part rest = { .data = data, .size_bytes = size_bytes };

	if (size_bytes < sizeof fake.plan)
		return 0;
	if (!fake.listener)
		start();
	memcpy(&fake.plan, take(&rest, sizeof fake.plan).data, sizeof fake.plan);
	for (int i = 0; i < ANSWERS; i++)
		fake.answers[i] = take(&rest, fake.plan.bytes[i]);
	fake.content = rest;
	if (fake.plan.flags & ASK_STATE)
		ask(uncore_info);
	else if (fake.plan.flags & ASK_PLATFORMS)
		ask(uncore_platforms);
	else
		open_and_use();
	while (sem_wait(&fake.served) < 0)
		;
	look_for_leaks();
	return 0;
}
