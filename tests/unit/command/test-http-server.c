/* SPDX-License-Identifier: BSD-3-Clause */
/* The server behind `uncore export --http`: who has to make room, and that its end loses nobody. */
#include <arpa/inet.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/command/export/http-library.h"
#include "client/command/export/http-server.h"
#include "common/clock.h"
#include "common/macro.h"
#include "tests/harness/test.h"

enum { PATIENCE_MS = 30000, ENDS = 60 };
static const uint64_t NEVER_NS = UINT64_C(3600000000000), SHORT_NS = UINT64_C(3000000);
static const char GET[] = "GET /metrics HTTP/1.1\r\n\r\n", BAD[] = "GET / HTTP/1.1\r\n\r\n";

/* What a service manager has: the socket, and now and then a process for it. */
struct service {
	int listener;
	pid_t pid;
	uint64_t idle_ns;
};

static void listen_at_any_port(struct service *ret, uint64_t idle_ns)
{
	struct sockaddr_in any = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	*ret = (struct service){ .idle_ns = idle_ns };
	ret->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_true(ret->listener >= 0);
	assert_int_equal(bind(ret->listener, (struct sockaddr *)&any, sizeof any), 0);
	assert_int_equal(listen(ret->listener, 4096), 0);
}

static void serve(const struct service *service)
{
	static struct http_server server;
	struct export_wish wish = { .socket_path = "/nonexistent/socket", .hurried = true };
	int r;

	if (http_library_load())
		_exit(2);
	server.listeners[server.n_listeners++] = service->listener;
	server.idle_ns = service->idle_ns;
	server.wish = wish;
	r = http_server_run(&server, -1);
	_exit(r == 0 ? 0 : 1);
}

static void start(struct service *service)
{
	service->pid = fork();
	assert_true(service->pid >= 0);
	if (service->pid == 0)
		serve(service);
}

/* Waits for its end, which must be a good one. */
static void wait_for_end(struct service *service)
{
	int status;

	assert_int_equal(waitpid(service->pid, &status, 0), service->pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void end(struct service *service)
{
	kill(service->pid, SIGKILL);
	waitpid(service->pid, NULL, 0);
	close(service->listener);
}

static int connect_to(const struct service *service)
{
	struct sockaddr_in address;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	assert_int_equal(getsockname(service->listener, (struct sockaddr *)&address,
				 &(socklen_t){ sizeof address }),
		0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
	return fd;
}

static void say(int fd, const char *text)
{
	assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Receives until the other end closes; "": it said nothing. */
static void hear(int fd, char ret[], size_t size_bytes)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	size_t n = 0;
	ssize_t more = 1;

	while (more > 0 && n < size_bytes - 1) {
		assert_int_equal(poll(&wait, 1, PATIENCE_MS), 1);
		more = recv(fd, ret + n, size_bytes - 1 - n, 0);
		n += more > 0 ? (size_t)more : 0;
	}
	ret[n] = '\0';
}

static void expect(int fd, const char *begin)
{
	char text[4096];

	hear(fd, text, sizeof text);
	if (strncmp(text, begin, strlen(begin)) != 0 || (!*begin && *text))
		fail_msg("not \"%s\": %s", begin, text);
	close(fd);
}

static bool is_waiting(int fd)
{
	struct pollfd now = { .fd = fd, .events = POLLIN };

	return poll(&now, 1, 0) == 0;
}

static void expect_served(const struct service *service)
{
	int fd = connect_to(service);

	say(fd, GET);
	expect(fd, "HTTP/1.1 200 OK\r\n");
}

CASE("a newcomer takes the place of the oldest incomplete request")
{
	struct service service;
	int silent[HTTP_CONNECTIONS_MAX], newcomer;

	listen_at_any_port(&service, NEVER_NS);
	for (size_t i = 0; i < ARRAY_SIZE(silent); i++)
		silent[i] = connect_to(&service);
	say(silent[0], "GET /metr");
	newcomer = connect_to(&service);
	say(newcomer, GET);
	start(&service);
	expect(newcomer, "HTTP/1.1 200 OK\r\n");
	expect_served(&service); /* in the place that the first newcomer left */
	expect(silent[0], "");
	for (size_t i = 1; i < ARRAY_SIZE(silent); i++)
		expect(silent[i], "HTTP/1.1 408 Request Timeout\r\n");
	end(&service);
}

CASE("who asks for the metrics keeps its place")
{
	struct service service;
	int asking[3 * HTTP_CONNECTIONS_MAX];

	listen_at_any_port(&service, NEVER_NS);
	for (size_t i = 0; i < ARRAY_SIZE(asking); i++) {
		asking[i] = connect_to(&service);
		say(asking[i], GET);
	}
	start(&service);
	for (size_t i = 0; i < ARRAY_SIZE(asking); i++)
		expect(asking[i], "HTTP/1.1 200 OK\r\n");
	end(&service);
}

CASE("a request that is not ended in time is told so")
{
	struct service service;
	int slow;

	listen_at_any_port(&service, NEVER_NS);
	start(&service);
	slow = connect_to(&service);
	say(slow, "GET /metrics HTTP/1.1\r\n");
	expect(slow, "HTTP/1.1 408 Request Timeout\r\n");
	end(&service);
}

CASE("a queue of silent clients is passed through")
{
	enum { SILENT = 800 }; /* of the 1024 files that a process usually may open */
	struct service service;
	static int silent[SILENT];

	listen_at_any_port(&service, NEVER_NS);
	for (size_t i = 0; i < SILENT; i++)
		silent[i] = connect_to(&service);
	start(&service);
	expect_served(&service);
	for (size_t i = 0; i < SILENT; i++)
		close(silent[i]);
	end(&service);
}

/* As systemd does: a process is started when somebody is in the queue and none is running. */
static void wait_for_somebody(const struct service *service)
{
	struct pollfd queue = { .fd = service->listener, .events = POLLIN };

	assert_int_equal(poll(&queue, 1, PATIENCE_MS), 1);
}

/* A thread that waits for a CPU may find its time over before it has looked for anybody. */
CASE("who came before it started is served, however short its time")
{
	struct service service;
	int fd;

	listen_at_any_port(&service, 0);
	fd = connect_to(&service);
	say(fd, GET);
	shutdown(fd, SHUT_WR);
	start(&service);
	wait_for_end(&service);
	expect(fd, "HTTP/1.1 200 OK\r\n");
	close(service.listener);
}

/* Clients come at about the time when the server ends: before, while and after. */
CASE("nobody is lost when it ends")
{
	struct service service;
	int fd;

	listen_at_any_port(&service, SHORT_NS);
	for (unsigned i = 0; i < ENDS; i++) {
		start(&service);
		usleep((useconds_t)(SHORT_NS / 1000 - 500 + 100 * (i % 30)));
		fd = connect_to(&service);
		say(fd, i % 2 ? GET : BAD);
		shutdown(fd, SHUT_WR); /* the server need not wait for our close */
		wait_for_end(&service);
		while (is_waiting(fd)) {
			wait_for_somebody(&service);
			start(&service);
			wait_for_end(&service);
		}
		expect(fd, i % 2 ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 404 Not Found\r\n");
	}
	close(service.listener);
}
