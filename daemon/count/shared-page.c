/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/count/shared-page.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/macro.h"
#include "common/same-file.h"
#include "daemon/base/memfd.h"
#include "daemon/count/tally.h"

/* The texts of a page while it is being laid out; equal texts are stored once. */
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
	struct shared_page *shared_page, const struct plan *plan, struct texts *texts)
{
	for (unsigned i = 0; i < TALLY_TEXTS; i++)
		add_text(texts, tally_texts[i]);
	for (unsigned s = 0; s < plan->n_sockets; s++)
		for (unsigned m = 0; m < plan->platform->n_metrics; m++)
			if (plan->sockets[s].quality[m] & PAGE_ABSENT)
				shared_page->whys[s][m] = add_text(texts, plan->sockets[s].why[m]);
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
	struct page_metric *metrics = page_metrics(header);
	struct page_socket *sockets = page_sockets(header);

	for (unsigned m = 0; m < header->n_metrics; m++) {
		memcpy(metrics[m].name, plan->platform->metrics[m].name, PAGE_NAME_MAX);
		memcpy(metrics[m].unit, plan->platform->metrics[m].unit, PAGE_UNIT_MAX);
		metrics[m].pmid = plan->platform->metrics[m].pmid;
	}
	for (unsigned s = 0; s < header->n_sockets; s++)
		sockets[s] = (struct page_socket){
			.package = plan->sockets[s].package,
			.cpu = plan->sockets[s].cpu,
			.first_channel = plan->sockets[s].first_channel,
			.n_channels = plan->sockets[s].n_channels,
		};
	if (header->n_channels)
		memcpy(page_channels(header), plan->channels,
			header->n_channels * sizeof *plan->channels);
	memcpy(page_texts(header), texts->text, texts->n * sizeof *texts->text);
}

static int shared_page_open_memory(
	struct shared_page *shared_page, const struct page_header *header)
{
	shared_page->write_fd = memfd_new("uncored-page", header->page_bytes, 0444);
	if (shared_page->write_fd < 0)
		return shared_page->write_fd;
	shared_page->header = memfd_map(shared_page->write_fd, header->page_bytes);
	if (!shared_page->header)
		return -errno;
	memcpy(shared_page->header, header, sizeof *header);
	shared_page->read_fd = memfd_reopen_read_only(shared_page->write_fd);
	return shared_page->read_fd < 0 ? shared_page->read_fd : 0;
}

int shared_page_init(struct shared_page *shared_page, const struct plan *plan, struct fault *fault)
{
	struct texts texts = {};
	struct page_header header;
	int r;

	*shared_page = (struct shared_page){ .write_fd = -1, .read_fd = -1 };
	collect_texts(shared_page, plan, &texts);
	header = lay_out(plan, texts.n);
	if (getrandom(header.generation, sizeof header.generation, 0) != sizeof header.generation)
		return fault_set(fault, -errno, "No random generation number: %m.");
	r = shared_page_open_memory(shared_page, &header);
	if (r < 0) {
		shared_page_done(shared_page);
		return fault_set(fault, r, "Cannot make the shared page of %llu bytes: %s.",
			(unsigned long long)header.page_bytes, strerror(-r));
	}
	fill_tables(shared_page->header, plan, &texts);
	return 0;
}

int shared_page_copy(const struct shared_page *from, struct shared_page *ret)
{
	int r;

	*ret = (struct shared_page){ .write_fd = -1, .read_fd = -1 };
	memcpy(ret->whys, from->whys, sizeof ret->whys);
	r = shared_page_open_memory(ret, from->header);
	if (r < 0) {
		shared_page_done(ret);
		return r;
	}
	memcpy(ret->header, from->header, from->header->cells_at);
	return 0;
}

void shared_page_copy_cells(const struct shared_page *from, struct shared_page *to)
{
	uint32_t at = from->header->cells_at;

	memcpy((char *)to->header + at, (const char *)from->header + at,
		from->header->page_bytes - at);
}

/* --- the page of an earlier process --- */

static bool same_metrics(const struct page_header *header, const struct platform *platform)
{
	if (header->n_metrics != platform->n_metrics)
		return false;
	for (unsigned m = 0; m < header->n_metrics; m++)
		if (strcmp(page_metrics(header)[m].name, platform->metrics[m].name) != 0 ||
			strcmp(page_metrics(header)[m].unit, platform->metrics[m].unit) != 0 ||
			page_metrics(header)[m].pmid != platform->metrics[m].pmid)
			return false;
	return true;
}

static bool same_sockets(const struct page_header *header, const struct plan *plan)
{
	if (header->n_sockets != plan->n_sockets)
		return false;
	for (unsigned s = 0; s < plan->n_sockets; s++) {
		const struct page_socket *socket = &page_sockets(header)[s];

		if (socket->package != plan->sockets[s].package ||
			socket->first_channel != plan->sockets[s].first_channel ||
			socket->n_channels != plan->sockets[s].n_channels)
			return false;
	}
	return true;
}

static bool same_channels(const struct page_header *header, const struct plan *plan)
{
	if (header->n_channels != plan->n_channels)
		return false;
	for (unsigned i = 0; i < plan->n_channels; i++) {
		struct page_channel channel = page_channels(header)[i];

		channel.cpu = plan->channels[i].cpu;
		if (memcmp(&channel, &plan->channels[i], sizeof channel) != 0)
			return false;
	}
	return true;
}

/* When a socket's CPU goes offline, the kernel puts another CPU in charge of the counters. */
static void update_cpus(struct page_header *header, const struct plan *plan)
{
	struct page_socket *sockets = page_sockets(header);
	struct page_channel *channels = page_channels(header);

	for (unsigned s = 0; s < plan->n_sockets; s++)
		__atomic_store_n(&sockets[s].cpu, plan->sockets[s].cpu, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < plan->n_channels; i++)
		__atomic_store_n(&channels[i].cpu, plan->channels[i].cpu, __ATOMIC_RELAXED);
}

/* Maps all of @fd, if it is a page. */
static int shared_page_map(int fd, struct page_header **ret)
{
	size_t bytes = memfd_bytes(fd);
	struct page_header *header = bytes < sizeof *header ? NULL : memfd_map(fd, bytes);
	int r;

	if (!header)
		return -EBADMSG;
	r = page_check(header, bytes);
	if (r >= 0 && header->page_bytes != bytes)
		r = -EBADMSG;
	if (r < 0)
		munmap(header, bytes);
	else
		*ret = header;
	return r;
}

static int check_page(const struct page_header *header, const struct plan *plan,
	const uint64_t generation[2], struct fault *fault)
{
	if (header->state != PAGE_LIVE)
		return fault_set(fault, -ESTALE, "its page was withdrawn");
	if (memcmp(header->generation, generation, sizeof header->generation) != 0)
		return fault_set(fault, -ESTALE, "its page is of another generation");
	if (!same_metrics(header, plan->platform) || !same_sockets(header, plan) ||
		!same_channels(header, plan))
		return fault_set(fault, -ESTALE, "its page has other metrics, sockets or channels");
	return 0;
}

int shared_page_adopt(struct shared_page *shared_page, int fd, const struct plan *plan,
	const struct shared_page_origin *origin, struct fault *fault)
{
	int r;

	*shared_page = (struct shared_page){ .write_fd = fd, .read_fd = -1 };
	r = shared_page_map(fd, &shared_page->header);
	if (r < 0)
		fault_set(fault, r, "its page is damaged or of another version");
	else
		r = check_page(shared_page->header, plan, origin->generation, fault);
	if (r >= 0) {
		shared_page->read_fd = memfd_reopen_read_only(fd);
		if (shared_page->read_fd < 0)
			r = fault_set(fault, shared_page->read_fd, "its page cannot be opened");
	}
	if (r < 0) {
		shared_page_retire_fd(fd);
		shared_page_done(shared_page);
		return r;
	}
	memcpy(shared_page->whys, origin->whys, sizeof shared_page->whys);
	update_cpus(shared_page->header, plan);
	shared_page->header->daemon.started_ns = clock_now_ns();
	return 0;
}

void shared_page_retire(struct shared_page *shared_page)
{
	__atomic_store_n(&shared_page->header->state, PAGE_RETIRED, __ATOMIC_RELEASE);
}

/* Accepts any version: after an upgrade, clients must learn that nobody writes their old page. */
void shared_page_retire_fd(int fd)
{
	size_t bytes = memfd_bytes(fd);
	struct shared_page page = { .header = bytes ? memfd_map(fd, bytes) : NULL };

	if (!page.header)
		return;
	if (page_is_any(page.header, bytes))
		shared_page_retire(&page);
	munmap(page.header, bytes);
}

bool shared_page_has(const struct shared_page *shared_page, int fd)
{
	struct stat ours;

	return fstat(shared_page->write_fd, &ours) == 0 &&
	       same_file_is_open(fd, ours.st_dev, ours.st_ino);
}

void shared_page_done(struct shared_page *shared_page)
{
	if (shared_page->header)
		munmap(shared_page->header, shared_page->header->page_bytes);
	shared_page->header = NULL;
	close_fd(&shared_page->read_fd);
	close_fd(&shared_page->write_fd);
}

void shared_page_tell_clients(
	struct shared_page *shared_page, uint64_t n_clients, uint64_t n_refused)
{
	struct page_daemon *daemon = &shared_page->header->daemon;

	__atomic_store_n(&daemon->n_clients, n_clients, __ATOMIC_RELAXED);
	__atomic_store_n(&daemon->refused, n_refused, __ATOMIC_RELAXED);
}

void shared_page_tell_hold(struct shared_page *shared_page, uint64_t hold_ns)
{
	__atomic_store_n(&shared_page->header->daemon.min_interval_ns, hold_ns, __ATOMIC_RELAXED);
}
