/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/libuncore/sized.h"

#include <errno.h>
#include <string.h>

#include "client/libuncore/internal.h"

/* @last is the last member in the first release: the least size ends after it. */
#define KIND(type, last, initialiser)                                                              \
	{                                                                                          \
		.name = #type, .init = #initialiser,                                               \
		.least_bytes = offsetof(struct uncore_##type, last) +                              \
			       sizeof(((struct uncore_##type *)NULL)->last),                       \
		.bytes = sizeof(struct uncore_##type),                                             \
		.alignment = _Alignof(struct uncore_##type),                                       \
	}

const struct sized sized_sample = KIND(sample, values, UNCORE_SAMPLE_INIT);
const struct sized sized_delta = KIND(delta, values, UNCORE_DELTA_INIT);
const struct sized sized_machine = KIND(machine, platform, UNCORE_MACHINE_INIT);
const struct sized sized_socket = KIND(socket, reserved, UNCORE_SOCKET_INIT);
const struct sized sized_channel = KIND(channel, event, UNCORE_CHANNEL_INIT);
const struct sized sized_daemon = KIND(daemon, quantum, UNCORE_DAEMON_INIT);

static uint32_t size_of(const void *theirs)
{
	return *(const uint32_t *)theirs;
}

int sized_check(const struct sized *kind, const void *theirs)
{
	if (theirs && size_of(theirs) >= kind->least_bytes && size_of(theirs) <= SIZED_BYTES_MAX &&
		!(size_of(theirs) & (kind->alignment - 1)))
		return 0;
	return error_say(-EINVAL, "The struct uncore_%s has no known .size: initialise it with %s.",
		kind->name, kind->init);
}

void sized_fill(const struct sized *kind, void *theirs, const void *ours)
{
	uint32_t size = size_of(theirs), known = size < kind->bytes ? size : kind->bytes;

	memcpy((char *)theirs + sizeof size, (const char *)ours + sizeof size, known - sizeof size);
	sized_clear_rest(kind, theirs);
}

void sized_clear_rest(const struct sized *kind, void *theirs)
{
	uint32_t size = size_of(theirs);

	if (size > kind->bytes)
		memset((char *)theirs + kind->bytes, 0, size - kind->bytes);
}
