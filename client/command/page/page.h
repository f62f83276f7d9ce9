/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A page of HTML that needs no other file and loads nothing. It has a report as JSON, which its
 * script draws; and as pictures that stand still (still.h) and as text, for browsers without
 * scripts. Its Content-Security-Policy admits no
 * script and no style but those that the build knows by their hashes.
 */
#pragma once

#include <stdio.h>

#include "client/command/frame/written.h"

/* All that surrounds the report; embed.py makes them. */
struct page_kind {
	const char *head, *tail;
};

extern const struct page_kind page_report, page_stat, page_validate;

/* JSON; more JSON of this kind of page, or nothing; the same figures for people; HTML for browsers
 * without scripts. */
enum page_part { PAGE_DATA, PAGE_MORE, PAGE_TEXT, PAGE_STILL, PAGE_PARTS };

struct page {
	const struct page_kind *kind;
	const char *command, *path; /* .command in sentences: "uncore stat"; .path NULL: no page */
	struct written file;
	FILE *part[PAGE_PARTS]; /* owned; memory, to be printed to while .file is open */
	char *text[PAGE_PARTS]; /* owned */
	size_t size[PAGE_PARTS];
};

/* Finds out whether the file can be written, before anything is measured. 0, also if there is no
 * page; -1 after a sentence. */
int page_open(struct page *page);

/* Writes the parts, if the page is open, and puts the file in its place. 0; -1 after a sentence. */
int page_write(struct page *page);

void page_done(struct page *page);

/* As text of HTML. */
void page_text(FILE *out, const char *text);
