/* SPDX-License-Identifier: BSD-3-Clause */
/* Any platform file: asked for by name, and matched against a machine. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/macro.h"
#include "daemon/platform.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"

static const char cpuinfo[] = "processor\t: 0\n"
			      "vendor_id\t: GenuineIntel\n"
			      "cpu family\t: 6\n"
			      "model\t\t: 106\n"
			      "stepping\t: 6\n\n";

/* The root of a machine that has a processor and nothing else. */
static int open_root(void)
{
	static char path[256];

	snprintf(path, sizeof path, "%s/proc", scratch_folder());
	mkdir(path, 0700);
	scratch_write("proc/cpuinfo", (const uint8_t *)cpuinfo, strlen(cpuinfo));
	return open(scratch_folder(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void find(int root_fd, const char *name)
{
	const char *const folders[] = { scratch_folder(), NULL };
	struct fault fault = { "" };
	struct platform *platform = NULL;

	if (platform_find(folders, root_fd, name, &platform, &fault) < 0 && !fault.text[0])
		abort();
	platform_free(platform);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	_cleanup_close_ int root_fd = open_root();

	scratch_write("fuzz.conf", data, size_bytes);
	find(root_fd, "fuzz");
	find(root_fd, NULL);
	return 0;
}
