/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool of Kokkos, which Kokkos loads by itself: as KOKKOS_PROFILE_LIBRARY, and from 3.7 on as
 * KOKKOS_TOOLS_LIBS, says. Its regions and profile sections become regions and spans;
 * UNCORE_KOKKOS=kernels adds parallel loops and deep copies, UNCORE_KOKKOS=fences fences.
 *
 * A tool that does not say otherwise has Kokkos wait for the device before and after kernels and
 * regions, so what a device moves is in the right one.
 */
#include <stdlib.h>
#include <string.h>

#include "client/markers/base/marker.h"
#include "client/markers/base/spans.h"
#include "client/markers/base/texts.h"

/*
 * What Kokkos looks up in its tool, and what of it is used here. Names and arguments are those of
 * kokkos/kokkos, core/src/impl/Kokkos_Profiling_C_Interface.h. They are the same from 3.0 on; an
 * older release calls fewer of them.
 */
#define TOOL(name, ...) MARKER_FUNCTION(void, kokkosp_##name, __VA_ARGS__)

struct kokkos_space { /* by value */
	char name[64];
};

static bool has_regions, has_kernels, has_fences;

TOOL(init_library, int sequence, uint64_t version, uint32_t n_devices, void *devices)
{
	const char *chosen = secure_getenv("UNCORE_KOKKOS");

	(void)sequence, (void)version, (void)n_devices, (void)devices;
	has_regions = marker_is_wanted("kokkos");
	has_kernels = has_regions && chosen && marker_list_has(chosen, "kernels");
	has_fences = has_regions && chosen && marker_list_has(chosen, "fences");
}

TOOL(finalize_library, void)
{
}

TOOL(push_profile_region, const char *name)
{
	if (has_regions)
		marker_begin(name);
}

TOOL(pop_profile_region, void)
{
	if (has_regions)
		marker_pop();
}

/* --- kernels, fences and copies, which this thread begins and ends --- */

/* Kokkos passes *@ret_id from the begin to the end: whether there is something to end. */
static void kokkos_begin(bool is_chosen, const char *name, uint64_t *ret_id)
{
	*ret_id = is_chosen;
	if (is_chosen)
		marker_begin(name);
}

static void kokkos_end(uint64_t id)
{
	if (id)
		marker_pop();
}

#define KERNEL(kind)                                                                               \
	TOOL(begin_parallel_##kind, const char *name, uint32_t device, uint64_t *ret_id)           \
	{                                                                                          \
		(void)device;                                                                      \
		kokkos_begin(has_kernels, name, ret_id);                                           \
	}                                                                                          \
                                                                                                   \
	TOOL(end_parallel_##kind, uint64_t id)                                                     \
	{                                                                                          \
		kokkos_end(id);                                                                    \
	}

KERNEL(for)
KERNEL(reduce)
KERNEL(scan)

/* Kokkos fences on behalf of its tool, too: see above. The program knows nothing of these. */
TOOL(begin_fence, const char *name, uint32_t device, uint64_t *ret_id)
{
	(void)device;
	kokkos_begin(has_fences && !strstr(name, "Kokkos Profile Tool Fence"), name, ret_id);
}

TOOL(end_fence, uint64_t id)
{
	kokkos_end(id);
}

TOOL(begin_deep_copy, struct kokkos_space to_space, const char *to, const void *to_memory,
	struct kokkos_space from_space, const char *from, const void *from_memory,
	uint64_t size_bytes)
{
	char buffer[JOINED_BYTES];

	(void)to_space, (void)to_memory, (void)from_space, (void)from_memory, (void)size_bytes;
	if (has_kernels)
		marker_begin(marker_join(to, " <- ", from, buffer));
}

TOOL(end_deep_copy, void)
{
	if (has_kernels)
		marker_pop();
}

/* --- profile sections --- */

/* Several sections of one name may run at once. So the number of a section has that of its name,
 * and that of the section, which begins again after 65,536. */
enum { SECTIONS = 1 << 16 };

static struct marker_key kokkos_key_of(uint32_t section)
{
	return (struct marker_key){ { section } };
}

TOOL(create_profile_section, const char *name, uint32_t *ret_section)
{
	static uint32_t n_sections;
	const struct kept *kept = has_regions ? marker_keep(name) : NULL;
	const uint32_t n = __atomic_fetch_add(&n_sections, 1, __ATOMIC_RELAXED);

	*ret_section = kept && kept->number < SECTIONS
			       ? (uint32_t)kept->number * SECTIONS + n % SECTIONS
			       : 0;
}

TOOL(start_profile_section, uint32_t section)
{
	const struct kept *kept = marker_kept((int)(section / SECTIONS));
	const struct marker_key key = kokkos_key_of(section);

	if (kept)
		marker_key_begin(&key, marker_of(kept->text));
}

TOOL(stop_profile_section, uint32_t section)
{
	const struct marker_key key = kokkos_key_of(section);

	marker_key_end(&key);
}

TOOL(destroy_profile_section, uint32_t section)
{
	kokkosp_stop_profile_section(section);
}
