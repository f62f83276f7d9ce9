/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/kernels/kernel.h"

#include <string.h>

#include "common/macro.h"

const struct kernel *kernel_nth(size_t i)
{
	static const struct kernel *const groups[] = { stream_kernels, grid_kernels, matrix_kernels,
		resort_kernels };

	for (size_t g = 0; g < ARRAY_SIZE(groups); g++)
		for (const struct kernel *kernel = groups[g]; kernel->name; kernel++)
			if (i-- == 0)
				return kernel;
	return NULL;
}

const struct kernel *kernel_find(const char *name)
{
	const struct kernel *kernel = NULL;

	for (size_t i = 0; (kernel = kernel_nth(i)); i++)
		if (strcmp(kernel->name, name) == 0)
			break;
	return kernel;
}
