/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls for tables of teams, to a daemon that is too old or an impostor. */
#include "client/libuncore/team-call.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/libuncore/uncore.h"
#include "common/macro.h"
#include "common/wire.h"
#include "tests/harness/test.h"

enum { BYTES = 65536 };

/* --- a daemon that answers one connection --- */

static unsigned n_cut; /* connections before, which it closes instead */

struct impostor {
	char directory[32], path[64];
	int listener;
	pthread_t thread;
	union wire_message answer; /* to TEAM */
	int fd;                    /* comes with the answer; -1: none does */
	union wire_message asked;  /* the last request */
	unsigned n_asked;
};

static void answer(struct impostor *impostor, int client)
{
	union wire_message welcome;

	if (impostor->asked.header.opcode == WIRE_HELLO) {
		wire_begin(&welcome, WIRE_WELCOME);
		welcome.welcome.version = WIRE_VERSION;
		wire_send(client, &welcome, NULL, 0);
	} else {
		wire_send(client, &impostor->answer, &impostor->fd, impostor->fd >= 0);
	}
}

/* Closes at the HELLO or at the request. */
static bool is_cut(const struct impostor *impostor, unsigned i)
{
	return i < n_cut && (i % 2 || impostor->asked.header.opcode != WIRE_HELLO);
}

static void serve_one(struct impostor *impostor, unsigned i)
{
	_cleanup_close_ int client = accept4(impostor->listener, NULL, NULL, SOCK_CLOEXEC);
	struct wire_packet packet;

	while (wire_receive(client, WIRE_FROM_CLIENT, &packet) == 1) {
		impostor->asked = packet.message;
		impostor->n_asked++;
		wire_packet_done(&packet);
		if (is_cut(impostor, i))
			return;
		answer(impostor, client);
	}
}

static void *serve(void *impostor)
{
	for (unsigned i = 0; i <= n_cut; i++)
		serve_one(impostor, i);
	return NULL;
}

/* Its answer is a table that has @fd, and is right apart from that. */
static void begin(struct impostor *impostor, int fd)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	*impostor = (struct impostor){ .directory = "/tmp/uncore-test-XXXXXX", .fd = fd };
	assert_non_null(mkdtemp(impostor->directory));
	snprintf(impostor->path, sizeof impostor->path, "%s/socket", impostor->directory);
	strcpy(address.sun_path, impostor->path);
	impostor->listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(impostor->listener, (void *)&address, sizeof address), 0);
	assert_int_equal(listen(impostor->listener, 1), 0);
	wire_begin(&impostor->answer, WIRE_TABLE);
	impostor->answer.table.run = 3;
	impostor->answer.table.layout = 7;
	impostor->answer.table.uid = 1000;
	impostor->answer.table.bytes = BYTES;
	impostor->answer.table.made_ns = 5;
	strcpy(impostor->answer.table.name, "job");
	impostor->answer.table.n_others = 2;
	strcpy(impostor->answer.table.other, "beside");
	assert_int_equal(pthread_create(&impostor->thread, NULL, serve, impostor), 0);
}

static void end(struct impostor *impostor)
{
	pthread_join(impostor->thread, NULL);
	close_fd(&impostor->listener);
	close_fd(&impostor->fd);
	unlink(impostor->path);
	rmdir(impostor->directory);
}

static int memory(off_t size_bytes, int seals)
{
	int fd = memfd_create("table", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_int_equal(ftruncate(fd, size_bytes), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static int sealed(off_t size_bytes)
{
	return memory(size_bytes, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
}

/* --- cases --- */

static const struct team_wish wish = { .name = "job", .layout = 7, .after_run = 2, .bytes = BYTES };
static const struct team_choice choice = { .uid = TEAM_OWN, .name = "job" };

CASE("a table is joined after a HELLO")
{
	struct impostor impostor;
	struct team_table table;
	struct stat status;

	begin(&impostor, sealed(BYTES));
	assert_int_equal(team_join(impostor.path, &wish, &table), 0);
	end(&impostor);
	assert_int_equal(impostor.n_asked, 2);
	assert_int_equal(impostor.asked.team.wish, TEAM_JOIN);
	assert_int_equal(impostor.asked.team.uid, TEAM_OWN);
	assert_int_equal(impostor.asked.team.run, 2);
	assert_int_equal(impostor.asked.team.layout, 7);
	assert_int_equal(impostor.asked.team.bytes, BYTES);
	assert_string_equal(impostor.asked.team.name, "job");
	assert_int_equal(table.run, 3);
	assert_int_equal(table.layout, 7);
	assert_int_equal(table.uid, 1000);
	assert_int_equal(table.bytes, BYTES);
	assert_int_equal(table.made_ns, 5);
	assert_string_equal(table.name, "job");
	assert_int_equal(table.n_others, 2);
	assert_string_equal(table.other, "beside");
	assert_int_equal(fstat(table.fd, &status), 0);
	assert_int_equal(status.st_size, BYTES);
	assert_true(fcntl(table.fd, F_GETFD) & FD_CLOEXEC);
	team_table_done(&table);
}

CASE("to look and to forget take no HELLO")
{
	struct impostor impostor;
	struct team_table table;

	begin(&impostor, sealed(BYTES));
	assert_int_equal(team_look(impostor.path, &choice, NULL, &table), 0);
	end(&impostor);
	assert_int_equal(impostor.n_asked, 1);
	begin(&impostor, -1);
	wire_begin(&impostor.answer, WIRE_DONE);
	assert_int_equal(team_forget(impostor.path, &table), 0);
	end(&impostor);
	assert_int_equal(impostor.n_asked, 1);
	assert_int_equal(impostor.asked.team.wish, TEAM_FORGET);
	assert_int_equal(impostor.asked.team.uid, 1000);
	assert_int_equal(impostor.asked.team.run, 3);
	assert_int_equal(impostor.asked.team.layout, 7);
	team_table_done(&table);
}

/* Two of its descriptors would be one too many: see fcntl(2). */
CASE("of a table that is there, no second descriptor comes")
{
	struct team_table own = {
		.run = 3, .layout = 7, .uid = 1000, .bytes = BYTES, .made_ns = 5, .name = "job"
	};
	struct impostor impostor;
	struct team_table table;

	for (int i = 0; i < 2; i++) {
		begin(&impostor, sealed(BYTES));
		own.fd = impostor.fd;
		own.made_ns += (uint64_t)i; /* the second time it is another table */
		assert_int_equal(team_look(impostor.path, &choice, &own, &table), 0);
		assert_int_equal(table.fd == own.fd, i == 0);
		assert_int_equal(table.n_others, 2);
		assert_string_equal(table.other, "beside");
		if (i == 1)
			team_table_done(&table);
		end(&impostor);
	}
}

/* Memory that could shrink would kill the program that has it mapped. */
CASE("what is not sealed memory of the stated size is refused")
{
	const int fds[] = {
		-1,
		sealed(BYTES - 4096),
		sealed(BYTES + 4096),
		memory(BYTES, 0),
		memory(BYTES, F_SEAL_GROW),
		memory(BYTES, F_SEAL_SHRINK),
		open("/dev/zero", O_RDWR | O_CLOEXEC),
		open("/proc/self/exe", O_RDONLY | O_CLOEXEC),
	};
	struct impostor impostor;
	struct team_table table;

	for (size_t i = 0; i < ARRAY_SIZE(fds); i++) {
		begin(&impostor, fds[i]);
		assert_int_equal(team_look(impostor.path, &choice, NULL, &table), -EBADMSG);
		end(&impostor);
		assert_non_null(strstr(uncore_error_text(), "is this the right socket?"));
	}
}

CASE("a table that can only be read is refused")
{
	int fd = sealed(BYTES);
	struct impostor impostor;
	struct team_table table;
	char path[64];

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	begin(&impostor, open(path, O_RDONLY | O_CLOEXEC));
	assert_int_equal(team_look(impostor.path, &choice, NULL, &table), -EBADMSG);
	end(&impostor);
	close(fd);
}

CASE("the reason is said")
{
	static const struct {
		int error, is;
		const char *text;
	} rows[] = {
		{ -ENOENT, -ENODATA, "keeps no such table" },
		{ -EDQUOT, -EDQUOT, "refuses: because" },
	};
	struct impostor impostor;
	struct team_table table;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		begin(&impostor, -1);
		wire_error(&impostor.answer, rows[i].error, "because");
		assert_int_equal(team_look(impostor.path, &choice, NULL, &table), rows[i].is);
		end(&impostor);
		assert_non_null(strstr(uncore_error_text(), rows[i].text));
	}
}

CASE("another answer is refused")
{
	struct impostor impostor;
	struct team_table table;

	begin(&impostor, sealed(BYTES));
	wire_begin(&impostor.answer, WIRE_DONE);
	assert_int_equal(team_join(impostor.path, &wish, &table), -EBADMSG);
	end(&impostor);
}

/* As where uncored is killed, and the service manager starts the next one. */
CASE("a join that was cut off is tried again")
{
	struct impostor impostor;
	struct team_table table;

	n_cut = 5;
	begin(&impostor, sealed(BYTES));
	assert_int_equal(team_join(impostor.path, &wish, &table), 0);
	end(&impostor);
	assert_int_equal(impostor.n_asked, 3 * 2 + 2 + 2);
	assert_int_equal(impostor.asked.team.run, 2);
	assert_int_equal(table.run, 3);
	team_table_done(&table);
	n_cut = 1; /* that looks once */
	begin(&impostor, sealed(BYTES));
	assert_int_equal(team_look(impostor.path, &choice, NULL, &table), -ECONNRESET);
	assert_int_equal(team_join(impostor.path, &wish, &table), 0);
	end(&impostor);
	team_table_done(&table);
	n_cut = 0;
}
