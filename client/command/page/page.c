/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/page/page.h"

#include <errno.h>
#include <stdlib.h>

#include "common/macro.h"

static int page_complain(const struct page *page, int error)
{
	written_complain(page->command, page->path, error);
	return -1;
}

int page_open(struct page *page)
{
	int r;

	if (!page->path)
		return 0;
	r = written_open(page->path, WRITTEN_WHOLE, &page->file);
	if (r < 0)
		return page_complain(page, r);
	for (int i = 0; i < PAGE_PARTS; i++) {
		page->part[i] = open_memstream(&page->text[i], &page->size[i]);
		if (!page->part[i])
			return page_complain(page, -ENOMEM);
	}
	return 0;
}

static void page_write_escaped(FILE *out, const char *text, const char *less, const char *ampersand)
{
	for (; *text; text++)
		if (*text == '<')
			fputs(less, out);
		else if (*text == '&')
			fputs(ampersand, out);
		else
			putc(*text, out);
}

void page_text(FILE *out, const char *text)
{
	page_write_escaped(out, text, "&lt;", "&amp;");
}

/* In JSON a < is only in texts. Without it no text ends the script, or begins a comment. */
static void page_write_json(FILE *out, const char *id, const char *json)
{
	fprintf(out, "<script type=\"application/json\" id=\"%s\">", id);
	page_write_escaped(out, json, "\\u003c", "&");
	fputs("</script>\n", out);
}

static int close_parts(struct page *page)
{
	int r = 0;

	for (int i = 0; i < PAGE_PARTS; i++)
		if (page->part[i] && fclose(take_ptr(page->part[i])) == EOF)
			r = -1;
	return r;
}

int page_write(struct page *page)
{
	FILE *out = page->file.out;
	int r;

	if (!out)
		return 0;
	if (close_parts(page) < 0)
		return page_complain(page, -ENOMEM);
	fputs(page->kind->head, out);
	fputs(page->text[PAGE_STILL], out);
	fputs("</noscript>\n</main>\n<details id=\"text\" open><summary>As text</summary>\n"
	      "<pre tabindex=\"0\">",
		out);
	page_text(out, page->text[PAGE_TEXT]);
	fputs("</pre></details>\n", out);
	page_write_json(out, "data", page->size[PAGE_DATA] ? page->text[PAGE_DATA] : "null");
	if (page->size[PAGE_MORE])
		page_write_json(out, "more", page->text[PAGE_MORE]);
	fputs(page->kind->tail, out);
	r = written_end(&page->file);
	return r < 0 ? page_complain(page, r) : 0;
}

void page_done(struct page *page)
{
	close_parts(page);
	written_done(&page->file);
	for (int i = 0; i < PAGE_PARTS; i++)
		free(take_ptr(page->text[i]));
}
