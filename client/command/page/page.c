/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/page/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "client/command/frame/output.h"
#include "common/macro.h"

static int complain(const struct page *page)
{
	fprintf(stderr, "%s: cannot write to %s: %s.\n", page->command, page->path,
		strerror(errno));
	return -1;
}

int page_open(struct page *page)
{
	if (!page->path)
		return 0;
	page->out = fopen(page->path, "we");
	if (!page->out)
		return complain(page);
	for (int i = 0; i < PAGE_PARTS; i++) {
		page->part[i] = open_memstream(&page->text[i], &page->size[i]);
		if (!page->part[i])
			return complain(page);
	}
	return 0;
}

static void write_escaped(FILE *out, const char *text, const char *less, const char *ampersand)
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
	write_escaped(out, text, "&lt;", "&amp;");
}

/* In JSON a < is only in texts. Without it no text ends the script, or begins a comment. */
static void write_json(FILE *out, const char *id, const char *json)
{
	fprintf(out, "<script type=\"application/json\" id=\"%s\">", id);
	write_escaped(out, json, "\\u003c", "&");
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
	int r;

	if (!page->out)
		return 0;
	if (close_parts(page) < 0)
		return complain(page);
	fputs(page->kind->head, page->out);
	fputs(page->text[PAGE_STILL], page->out);
	fputs("</noscript>\n</main>\n<details id=\"text\" open><summary>As text</summary>\n"
	      "<pre tabindex=\"0\">",
		page->out);
	page_text(page->out, page->text[PAGE_TEXT]);
	fputs("</pre></details>\n", page->out);
	write_json(page->out, "data", page->size[PAGE_DATA] ? page->text[PAGE_DATA] : "null");
	if (page->size[PAGE_MORE])
		write_json(page->out, "more", page->text[PAGE_MORE]);
	fputs(page->kind->tail, page->out);
	r = output_check(page->out, page->command, page->path);
	fclose(take_ptr(page->out));
	return r;
}

void page_done(struct page *page)
{
	close_parts(page);
	if (page->out)
		fclose(take_ptr(page->out));
	for (int i = 0; i < PAGE_PARTS; i++)
		free(take_ptr(page->text[i]));
}
