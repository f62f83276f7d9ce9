/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/publish.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/macro.h"
#include "daemon/tally.h"

/* The texts of a page while it is being laid out; equal ones are stored once. */
struct texts {
	unsigned n;
	struct page_text text[PAGE_TEXTS_MAX];
};

static uint32_t add_text(struct texts *texts, const char *text)
{
	for (unsigned i = 0; i < texts->n; i++)
		if (!strcmp(texts->text[i].text, text))
			return i;
	if (texts->n == PAGE_TEXTS_MAX)
		return TALLY_TEXT_MORE;
	snprintf(texts->text[texts->n].text, PAGE_TEXT_MAX, "%s", text);
	return texts->n++;
}

static void collect_texts(
	struct publication *publication, const struct plan *plan, struct texts *texts)
{
	add_text(texts, "");                                                 /* TALLY_TEXT_NONE */
	add_text(texts, "none of its counters could be read in this sweep"); /* ..._UNREADABLE */
	for (unsigned s = 0; s < plan->n_sockets; s++)
		for (unsigned m = 0; m < plan->platform->n_metrics; m++)
			if (plan->sockets[s].quality[m] & PAGE_ABSENT)
				publication->whys[s][m] = add_text(texts, plan->sockets[s].why[m]);
}

static struct page_header lay_out(const struct plan *plan, unsigned n_texts)
{
	struct page_header header = {
		.state = PAGE_LIVE,
		.n_metrics = plan->platform->n_metrics,
		.n_sockets = plan->n_sockets,
		.n_channels = plan->n_channels,
		.n_texts = n_texts,
		.daemon.started_ns = clock_now_ns(),
	};
	uint32_t most = 0;

	for (unsigned s = 0; s < plan->n_sockets; s++)
		if (plan->sockets[s].n_channels > most)
			most = plan->sockets[s].n_channels;
	snprintf(header.platform, sizeof header.platform, "%s", plan->platform->name);
	page_lay_out(&header, most);
	return header;
}

static void fill_tables(
	struct page_header *header, const struct plan *plan, const struct texts *texts)
{
	struct page_metric *metrics = (void *)page_metrics(header);
	struct page_socket *sockets = (void *)page_sockets(header);

	for (unsigned m = 0; m < header->n_metrics; m++) {
		memcpy(metrics[m].name, plan->platform->metrics[m].name, PAGE_NAME_MAX);
		memcpy(metrics[m].unit, plan->platform->metrics[m].unit, PAGE_NAME_MAX);
	}
	for (unsigned s = 0; s < header->n_sockets; s++)
		sockets[s] = (struct page_socket){
			.package = plan->sockets[s].package,
			.cpu = plan->sockets[s].cpu,
			.first_channel = plan->sockets[s].first_channel,
			.n_channels = plan->sockets[s].n_channels,
		};
	if (header->n_channels)
		memcpy((void *)page_channels(header), plan->channels,
			header->n_channels * sizeof *plan->channels);
	memcpy((void *)page_texts(header), texts->text, texts->n * sizeof *texts->text);
}

/* A new memfd of this size, mode 0444, that can never change its size. */
static int new_memory(const char *name, uint64_t size_bytes)
{
	_cleanup_close_ int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, (off_t)size_bytes) < 0 || fchmod(fd, 0444) < 0)
		return -errno;
	return take_fd(&fd);
}

static int reopen_read_only(int fd)
{
	char path[64];
	int read_fd;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	read_fd = open(path, O_RDONLY | O_CLOEXEC);
	return read_fd < 0 ? -errno : read_fd;
}

static int open_memory(struct publication *publication, const struct page_header *header)
{
	uint64_t size_bytes = header->page_bytes;
	void *map;

	publication->write_fd = new_memory("uncored-page", size_bytes);
	if (publication->write_fd < 0)
		return publication->write_fd;
	if (fcntl(publication->write_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) <
		0)
		return -errno;
	map = mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, publication->write_fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	publication->header = map;
	memcpy(map, header, sizeof *header);
	publication->read_fd = reopen_read_only(publication->write_fd);
	return publication->read_fd < 0 ? publication->read_fd : 0;
}

int publication_init(struct publication *publication, const struct plan *plan, struct fault *fault)
{
	struct texts texts = {};
	struct page_header header;
	int r;

	*publication = (struct publication){ .write_fd = -1, .read_fd = -1 };
	collect_texts(publication, plan, &texts);
	header = lay_out(plan, texts.n);
	if (getrandom(header.generation, sizeof header.generation, 0) != sizeof header.generation)
		return fault_set(fault, -errno, "No random generation number: %m.");
	r = open_memory(publication, &header);
	if (r < 0) {
		publication_done(publication);
		return fault_set(fault, r, "Cannot make the shared page of %llu bytes: %s.",
			(unsigned long long)header.page_bytes, strerror(-r));
	}
	fill_tables(publication->header, plan, &texts);
	return 0;
}

void publication_done(struct publication *publication)
{
	if (publication->header)
		munmap(publication->header, publication->header->page_bytes);
	publication->header = NULL;
	close_fd(&publication->read_fd);
	close_fd(&publication->write_fd);
}

struct page_cell *publication_cell(struct publication *publication, unsigned socket)
{
	return (struct page_cell *)page_cell(publication->header, socket);
}

void publication_tell_clients(
	struct publication *publication, uint64_t n_clients, uint64_t n_refused)
{
	struct page_daemon *daemon = &publication->header->daemon;

	__atomic_store_n(&daemon->n_clients, n_clients, __ATOMIC_RELAXED);
	__atomic_store_n(&daemon->refused, n_refused, __ATOMIC_RELAXED);
}

int publication_of_text(const char *text, size_t size_bytes)
{
	_cleanup_close_ int fd = new_memory("uncored-report", 0);

	if (fd < 0)
		return fd;
	for (size_t done = 0; done < size_bytes;) {
		ssize_t n = write(fd, text + done, size_bytes - done);

		if (n < 0)
			return -errno;
		done += (size_t)n;
	}
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) < 0)
		return -errno;
	return reopen_read_only(fd);
}
