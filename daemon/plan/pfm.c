/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/plan/format.h"

#include <dlfcn.h>
#include <errno.h>
#include <perfmon/pfmlib.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/macro.h"

/*
 * libpfm4 is loaded when the first pfm: alternative is reached. If it were linked, its event tables
 * would cost every uncored about 2 MiB: they have many pointers, which the loader must relocate
 * (libpfm4 4.13).
 */
static struct {
	bool tried;
	const char *error; /* NULL: usable */
	__typeof__(pfm_initialize) *initialize;
	__typeof__(pfm_get_os_event_encoding) *encode;
	__typeof__(pfm_strerror) *strerror;
} pfm;

static const char *pfm_load(void)
{
	void *library = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return "libpfm.so.4 cannot be loaded";
	pfm.initialize = (__typeof__(pfm.initialize))dlsym(library, "pfm_initialize");
	pfm.encode = (__typeof__(pfm.encode))dlsym(library, "pfm_get_os_event_encoding");
	pfm.strerror = (__typeof__(pfm.strerror))dlsym(library, "pfm_strerror");
	if (!pfm.initialize || !pfm.encode || !pfm.strerror)
		return "libpfm.so.4 lacks a function";
	/* by default libpfm4 encodes only for the PMUs that it finds, and it finds no uncore
	 * PMUs */
	if (setenv("LIBPFM_ENCODE_INACTIVE", "1", 1) < 0)
		return "there is no memory for its setting";
	return pfm.initialize() == PFM_SUCCESS ? NULL : "libpfm4 cannot be initialised";
}

int pfm_encode(
	const struct pmu *pmu, const char *text, struct encoding *encoding, struct fault *fault)
{
	pfm_pmu_encode_arg_t request = { .size = sizeof request };
	_cleanup_free_ uint64_t *codes = NULL;
	int r;

	if (!pfm.tried)
		pfm.error = pfm_load();
	pfm.tried = true;
	if (pfm.error)
		return fault_set(fault, -ENOSYS, "%s", pfm.error);
	r = pfm.encode(text, 0, PFM_OS_NONE, &request);
	codes = request.codes;
	if (r != PFM_SUCCESS)
		return fault_set(fault, -ENOENT, "libpfm4 says \"%s\"", pfm.strerror(r));
	return format_encode_words(pmu, codes, (unsigned)request.count, encoding, fault);
}
