/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/fault.h"

#include <stdarg.h>
#include <stdio.h>

int fault_set(struct fault *fault, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(fault->text, sizeof fault->text, format, args);
	va_end(args);
	return error;
}
