/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/job/journal.h"

#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include "common/macro.h"

/* syslog(3) is not used: it would wait for a journal that hangs. */
void journal_tell(const char *title, const char *id, const char *sentence)
{
	const struct sockaddr_un log = { .sun_family = AF_UNIX, .sun_path = "/dev/log" };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char line[2048];
	int n = snprintf(line, sizeof line, "<%d>uncore[%d]: %s %s: %s", LOG_DAEMON | LOG_ERR,
		(int)getpid(), title, id, sentence);

	if (fd >= 0 && n > 0)
		(void)!sendto(fd, line, (size_t)n < sizeof line ? (size_t)n : sizeof line - 1,
			MSG_NOSIGNAL, (const struct sockaddr *)&log, sizeof log);
}
