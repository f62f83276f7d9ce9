/* SPDX-License-Identifier: BSD-3-Clause */
/* In a program with this library all that root makes belongs to nobody, as on a server that exports
 * a folder with root_squash. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NOBODY = 65534 };

static int open_as(const char *function, int folder_fd, const char *path, int flags, mode_t mode)
{
	int (*real)(int, const char *, int, ...) =
		(int (*)(int, const char *, int, ...))dlsym(RTLD_NEXT, function);
	int fd = real(folder_fd, path, flags, mode);

	if (fd >= 0 && (flags & O_EXCL) && fchown(fd, NOBODY, NOBODY) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

static mode_t mode_of(int flags, va_list arguments)
{
	return flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name)                                                                                 \
	__attribute__((visibility("default"))) int name(                                           \
		int folder_fd, const char *path, int flags, ...)                                   \
	{                                                                                          \
		va_list arguments;                                                                 \
		mode_t mode;                                                                       \
                                                                                                   \
		va_start(arguments, flags);                                                        \
		mode = mode_of(flags, arguments);                                                  \
		va_end(arguments);                                                                 \
		return open_as(#name, folder_fd, path, flags, mode);                               \
	}

OPEN(openat)
OPEN(openat64)

__attribute__((visibility("default"))) int mkdirat(int folder_fd, const char *path, mode_t mode)
{
	int (*real)(int, const char *, mode_t) =
		(int (*)(int, const char *, mode_t))dlsym(RTLD_NEXT, "mkdirat");
	int r = real(folder_fd, path, mode);

	return r == 0 ? fchownat(folder_fd, path, NOBODY, NOBODY, AT_SYMLINK_NOFOLLOW) : r;
}
