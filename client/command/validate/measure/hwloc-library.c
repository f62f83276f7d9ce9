/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/command/validate/measure/hwloc-library.h"

#include <hwloc.h>

#include "common/loaded.h"
#include "common/macro.h"

/*
 * Functions of hwloc's names, which call hwloc's own: hwloc.h has inline functions that call some
 * of them. Type, name without prefix, parameters, arguments.
 */
/* clang-format off */
#define CALLS(call) \
	call(void *, alloc, (hwloc_topology_t t, size_t n), (t, n)) \
	call(hwloc_bitmap_t, bitmap_alloc, (void), ()) \
	call(void, bitmap_free, (hwloc_bitmap_t a), (a)) \
	call(int, bitmap_intersects, (hwloc_const_bitmap_t a, hwloc_const_bitmap_t b), (a, b)) \
	call(int, bitmap_isincluded, (hwloc_const_bitmap_t a, hwloc_const_bitmap_t b), (a, b)) \
	call(int, bitmap_iszero, (hwloc_const_bitmap_t a), (a)) \
	call(int, free, (hwloc_topology_t t, void *memory, size_t n), (t, memory, n)) \
	call(int, get_cpubind, (hwloc_topology_t t, hwloc_cpuset_t set, int flags), (t, set, flags)) \
	call(unsigned, get_nbobjs_by_depth, (hwloc_topology_t t, int depth), (t, depth)) \
	call(hwloc_obj_t, get_obj_by_depth, (hwloc_topology_t t, int depth, unsigned i), (t, depth, i)) \
	call(int, get_type_depth, (hwloc_topology_t t, hwloc_obj_type_t type), (t, type)) \
	call(int, set_area_membind, (hwloc_topology_t t, const void *at, size_t n, hwloc_const_bitmap_t set, \
		hwloc_membind_policy_t policy, int flags), (t, at, n, set, policy, flags)) \
	call(int, set_cpubind, (hwloc_topology_t t, hwloc_const_cpuset_t set, int flags), (t, set, flags)) \
	call(void, topology_destroy, (hwloc_topology_t t), (t)) \
	call(int, topology_init, (hwloc_topology_t *ret), (ret)) \
	call(int, topology_is_thissystem, (hwloc_topology_t t), (t)) \
	call(int, topology_load, (hwloc_topology_t t), (t)) \
	call(int, topology_restrict, (hwloc_topology_t t, hwloc_const_bitmap_t set, unsigned long flags), \
		(t, set, flags))

#define MEMBER(type, name, parameters, arguments) type (*name) parameters;
#define ROW(type, name, parameters, arguments) { "hwloc_" #name, offsetof(struct hwloc_calls, name) },
#define FORWARD(type, name, parameters, arguments) \
	type hwloc_##name parameters { return hwloc.name arguments; }

static struct hwloc_calls { CALLS(MEMBER) } hwloc;
static const struct loaded_call calls[] = { CALLS(ROW) };
CALLS(FORWARD)
/* clang-format on */

const char *hwloc_library_load(void)
{
	return loaded_open("libhwloc.so.15", calls, ARRAY_SIZE(calls), &hwloc);
}
