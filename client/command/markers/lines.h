/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines in sources for places in code, by addr2line(1) where it is installed. */
#pragma once

#include "client/report/record.h"

/*
 * A title "PATH+0xOFFSET build-id ID" becomes "FILE:LINE" with the place behind it, if PATH is
 * still the file with this build ID and has lines. Other titles stay as they are. Looks only into
 * files of root and of the caller: of others' files addr2line shall read nothing.
 */
void lines_find(struct record *record);

/* The same of such a title alone: "FILE:LINE (PATH+0xOFFSET)", or NULL. Lives as long as the
 * process. Of the first 256 titles it is known. */
const char *lines_of_place(const char *title);
