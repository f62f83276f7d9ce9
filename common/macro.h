/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compiler attributes and ownership helpers used by every folder.
 *
 * A local variable that owns something has _cleanup_(...); only take_ptr() or take_fd() take
 * ownership from it.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define _public_           __attribute__((visibility("default")))
#define _must_check_       __attribute__((warn_unused_result))
#define _printf_(fmt, arg) __attribute__((format(printf, fmt, arg)))
#define _cleanup_(done)    __attribute__((cleanup(done)))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static inline void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static inline void free_ptr(void *p)
{
	free(*(void **)p);
}

static inline void close_file(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#define take_ptr(p)                                                                                \
	({                                                                                         \
		__typeof__(p) taken_ = (p);                                                        \
		(p) = NULL;                                                                        \
		taken_;                                                                            \
	})

#define _cleanup_close_ _cleanup_(close_fd)
#define _cleanup_free_  _cleanup_(free_ptr)
#define _cleanup_file_  _cleanup_(close_file)
