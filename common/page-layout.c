/* SPDX-License-Identifier: BSD-3-Clause */
/* Lays out the tables and cells of a page, and checks that they are inside it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/macro.h"
#include "common/page.h"
#include "common/words.h"

static uint32_t align_up(uint64_t value, uint32_t to)
{
	return (uint32_t)((value + to - 1) / to * to);
}

void page_lay_out(struct page_header *h, uint32_t most_channels_of_a_socket)
{
	h->magic = PAGE_MAGIC;
	h->version = PAGE_VERSION;
	h->metrics_at = align_up(sizeof *h, 8);
	h->sockets_at = h->metrics_at + h->n_metrics * sizeof(struct page_metric);
	h->channels_at = h->sockets_at + h->n_sockets * sizeof(struct page_socket);
	h->texts_at = h->channels_at + h->n_channels * sizeof(struct page_channel);
	h->cells_at =
		align_up(h->texts_at + h->n_texts * sizeof(struct page_text), PAGE_CACHE_LINE);
	h->cell_stride =
		align_up(sizeof(struct page_cell) +
				 most_channels_of_a_socket * sizeof(struct page_channel_value),
			PAGE_CACHE_LINE);
	h->page_bytes = h->cells_at + (uint64_t)h->n_sockets * h->cell_stride;
}

static bool fits(uint32_t at, uint64_t n, size_t entry_bytes, uint64_t end)
{
	return at % 8 == 0 && at >= sizeof(struct page_header) && at <= end &&
	       n * entry_bytes <= end - at;
}

static bool page_layout_channels_fit(const struct page_header *h)
{
	const struct page_socket *sockets = page_sockets(h);
	const struct page_channel *channels = page_channels(h);

	for (uint32_t i = 0; i < h->n_sockets; i++) {
		uint64_t cell_bytes =
			sizeof(struct page_cell) +
			(uint64_t)sockets[i].n_channels * sizeof(struct page_channel_value);

		if ((uint64_t)sockets[i].first_channel + sockets[i].n_channels > h->n_channels ||
			cell_bytes > h->cell_stride)
			return false;
	}
	for (uint32_t i = 0; i < h->n_channels; i++)
		if (channels[i].socket >= h->n_sockets || channels[i].metric >= h->n_metrics)
			return false;
	return true;
}

static bool strings_end(const struct page_header *h)
{
	for (uint32_t i = 0; i < h->n_metrics; i++)
		if (!memchr(page_metrics(h)[i].name, '\0', PAGE_NAME_MAX) ||
			!memchr(page_metrics(h)[i].unit, '\0', PAGE_UNIT_MAX))
			return false;
	for (uint32_t i = 0; i < h->n_channels; i++)
		if (!memchr(page_channels(h)[i].name, '\0', PAGE_NAME_MAX) ||
			!memchr(page_channels(h)[i].pmu, '\0', PAGE_NAME_MAX) ||
			!memchr(page_channels(h)[i].event, '\0', PAGE_NAME_MAX))
			return false;
	for (uint32_t i = 0; i < h->n_texts; i++)
		if (!memchr(page_texts(h)[i].text, '\0', PAGE_TEXT_MAX))
			return false;
	return memchr(h->platform, '\0', PAGE_NAME_MAX) != NULL;
}

bool page_is_any(const void *page, uint64_t size_bytes)
{
	const struct page_header *h = page;

	return size_bytes >= offsetof(struct page_header, page_bytes) && h->magic == PAGE_MAGIC;
}

/* Reads nothing after the header. */
static int check_header(const struct page_header *h, uint64_t size_bytes)
{
	if (h->magic != PAGE_MAGIC)
		return -EBADMSG;
	if (h->version != PAGE_VERSION)
		return -EPROTONOSUPPORT;
	if (h->page_bytes > size_bytes || h->n_metrics > PAGE_METRICS_MAX ||
		h->n_sockets > PAGE_SOCKETS_MAX || h->n_channels > PAGE_CHANNELS_MAX ||
		h->n_texts > PAGE_TEXTS_MAX || h->cells_at > PAGE_TABLES_MAX)
		return -EBADMSG;
	if (!fits(h->metrics_at, h->n_metrics, sizeof(struct page_metric), h->cells_at) ||
		!fits(h->sockets_at, h->n_sockets, sizeof(struct page_socket), h->cells_at) ||
		!fits(h->channels_at, h->n_channels, sizeof(struct page_channel), h->cells_at) ||
		!fits(h->texts_at, h->n_texts, sizeof(struct page_text), h->cells_at) ||
		!fits(h->cells_at, h->n_sockets, h->cell_stride, h->page_bytes) ||
		h->cell_stride % 8)
		return -EBADMSG;
	return 0;
}

static int check_tables(const struct page_header *h)
{
	return page_layout_channels_fit(h) && strings_end(h) ? 0 : -EBADMSG;
}

int page_check(const void *page, uint64_t size_bytes)
{
	const struct page_header *h = page;
	int r = size_bytes < sizeof *h ? -EBADMSG : check_header(h, size_bytes);

	return r < 0 ? r : check_tables(h);
}

int page_copy_tables(const void *page, uint64_t size_bytes, struct page_header **ret_tables)
{
	_cleanup_free_ struct page_header *tables = NULL;
	struct page_header header;
	int r;

	if (size_bytes < sizeof header)
		return -EBADMSG;
	words_load(&header, page, sizeof header);
	r = check_header(&header, size_bytes);
	if (r < 0)
		return r;
	tables = malloc(header.cells_at);
	if (!tables)
		return -ENOMEM;
	words_load(tables, page, header.cells_at);
	*tables = header; /* the header in the page may have changed by now */
	r = check_tables(tables);
	if (r < 0)
		return r;
	*ret_tables = take_ptr(tables);
	return 0;
}
