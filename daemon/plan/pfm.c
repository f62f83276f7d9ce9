/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/plan/format.h"

#include <errno.h>
#include <perfmon/pfmlib.h>
#include <stdbool.h>
#include <stdlib.h>

#include "common/loaded.h"
#include "common/macro.h"

/*
 * libpfm4 is loaded when the first pfm: alternative is reached. If it were linked, its event tables
 * would cost every uncored about 2 MiB: they have many pointers, which the loader must relocate
 * (libpfm4 4.13).
 */
#define CALLS(call)  call(get_os_event_encoding) call(initialize) call(strerror)
#define MEMBER(name) __typeof__(pfm_##name) *name;
#define ROW(name)    { "pfm_" #name, offsetof(struct pfm_calls, name) },

static struct pfm_calls {
	CALLS(MEMBER)
} pfm;
static const struct loaded_call calls[] = { CALLS(ROW) };

/* NULL: it can be called from now on. The sentence is short, because others stand beside it. */
static const char *pfm_load(void)
{
	if (loaded_open("libpfm.so.4", calls, ARRAY_SIZE(calls), &pfm))
		return "libpfm.so.4 cannot be loaded";
	/* by default libpfm4 encodes only for the PMUs that it finds, and it finds no uncore
	 * PMUs */
	if (setenv("LIBPFM_ENCODE_INACTIVE", "1", 1) < 0)
		return "there is no memory for its setting";
	return pfm.initialize() == PFM_SUCCESS ? NULL : "libpfm4 cannot be initialised";
}

int pfm_encode(
	const struct pmu *pmu, const char *text, struct encoding *encoding, struct fault *fault)
{
	static bool was_tried;
	static const char *error;
	pfm_pmu_encode_arg_t request = { .size = sizeof request };
	_cleanup_free_ uint64_t *codes = NULL;
	int r;

	if (!was_tried)
		error = pfm_load();
	was_tried = true;
	if (error)
		return fault_set(fault, -ENOSYS, "%s", error);
	r = pfm.get_os_event_encoding(text, 0, PFM_OS_NONE, &request);
	codes = request.codes;
	if (r != PFM_SUCCESS)
		return fault_set(fault, -ENOENT, "libpfm4 says \"%s\"", pfm.strerror(r));
	return format_encode_words(pmu, codes, (unsigned)request.count, encoding, fault);
}
