/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies the few facts that uncored needs from an hwloc topology, and frees the topology: for a
 * large machine it takes megabytes, even if it has only packages and dies.
 */
#include "daemon/machine/topology.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>

#include "common/foreign-hwloc.h"
#include "common/macro.h"
#include "daemon/base/text-file.h"
#include "daemon/machine/pmu.h"

static void destroy(hwloc_topology_t *hwloc)
{
	if (*hwloc)
		hwloc_topology_destroy(*hwloc);
}

/*
 * The online CPUs, as the kernel lists them. hwloc cannot be asked: it invents a machine if it
 * finds none, and omits CPUs whose place in the topology it cannot read.
 */
static int read_online(const char *root, hwloc_bitmap_t ret, struct fault *fault)
{
	char path[PATH_MAX], text[PMU_CPUMASK_MAX];
	int r;

	snprintf(path, sizeof path, "%s/sys/devices/system/cpu/online", root);
	r = text_file_read(AT_FDCWD, path, text, sizeof text);
	if (r < 0)
		return fault_set(fault, -ENODEV, "%s cannot be read", path);
	if (!pmu_parse_cpus(text, ret))
		return fault_set(fault, -ENODEV, "%s says \"%.32s\", which is not a list of CPUs",
			path, text);
	return 0;
}

/* Refuses a FIFO, on which hwloc would wait for ever. The kernel's own trees have none. */
static int check_files(const char *root, struct fault *fault)
{
	char path[PATH_MAX];
	int r;

	snprintf(path, sizeof path, "%s/sys/devices/system", root);
	r = strcmp(root, "/") ? text_files_check(path) : 0;
	if (r == -EINVAL)
		return fault_set(fault, r,
			"Below %s there is something that is neither a regular file nor a folder.",
			path);
	return r < 0 ? fault_set(fault, r, "Cannot look through %s: %s.", path, strerror(-r)) : 0;
}

static int configure(hwloc_topology_t hwloc)
{
	/*
	 * The component x86 queries the CPUs that it runs on, even if the tree is of another
	 * machine, and moves to each of them. On other architectures hwloc has no such component,
	 * and fails with EINVAL.
	 */
	hwloc_topology_set_components(hwloc, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86");
	/* a cpuset of the daemon must not hide CPUs that PMUs count on */
	if (hwloc_topology_set_flags(hwloc, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) < 0 ||
		hwloc_topology_set_all_types_filter(hwloc, HWLOC_TYPE_FILTER_KEEP_NONE) < 0 ||
		hwloc_topology_set_type_filter(
			hwloc, HWLOC_OBJ_PACKAGE, HWLOC_TYPE_FILTER_KEEP_ALL) < 0 ||
		hwloc_topology_set_type_filter(hwloc, HWLOC_OBJ_DIE, HWLOC_TYPE_FILTER_KEEP_ALL) <
			0)
		return errno ? -errno : -EINVAL;
	return 0;
}

static int discover(const char *root, hwloc_topology_t *hwloc)
{
	bool elsewhere = strcmp(root, "/") != 0;
	int r;

	/* hwloc 2.9 reads these variables in _init() and in _load(); no function sets them. Its
	 * plugins find GPUs and the like, and load 1 MiB of libraries for that. HWLOC_FSROOT goes
	 * before all variables that describe a machine but HWLOC_COMPONENTS. */
	if (setenv("HWLOC_PLUGINS_PATH", "", 1) < 0 ||
		(elsewhere &&
			(setenv("HWLOC_FSROOT", root, 1) < 0 || unsetenv("HWLOC_COMPONENTS") < 0)))
		return -errno;
	r = hwloc_topology_init(hwloc) < 0 ? -ENOMEM : configure(*hwloc);
	if (r >= 0 && hwloc_topology_load(*hwloc) < 0)
		r = errno ? -errno : -EIO;
	if (elsewhere)
		unsetenv("HWLOC_FSROOT");
	return r;
}

static int refuse_foreign(struct fault *fault)
{
	const char *variable = foreign_hwloc_variable();

	if (!variable)
		return fault_set(fault, -EINVAL, "hwloc describes another machine than this one");
	return fault_set(fault, -EINVAL,
		"%s in the environment gives hwloc another machine than this one: start uncored "
		"without it",
		variable);
}

static unsigned cpu_limit(hwloc_const_bitmap_t cpus)
{
	return (unsigned)(hwloc_bitmap_last(cpus) + 1);
}

static int topology_allocate(struct topology *topology, unsigned n_sockets, unsigned n_cpus)
{
	topology->n_sockets = n_sockets;
	topology->n_cpus = n_cpus;
	topology->socket_of_cpu = calloc(n_cpus, sizeof *topology->socket_of_cpu);
	topology->die_of_cpu = calloc(n_cpus, sizeof *topology->die_of_cpu);
	topology->package_of_socket = calloc(n_sockets, sizeof *topology->package_of_socket);
	if (!topology->socket_of_cpu || !topology->die_of_cpu || !topology->package_of_socket)
		return -ENOMEM;
	for (unsigned cpu = 0; cpu < n_cpus; cpu++)
		topology->socket_of_cpu[cpu] = topology->die_of_cpu[cpu] = TOPOLOGY_OFFLINE;
	return 0;
}

static void place_cpu(struct topology *topology, hwloc_topology_t hwloc, hwloc_obj_t pu)
{
	hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(hwloc, HWLOC_OBJ_PACKAGE, pu);
	hwloc_obj_t die = hwloc_get_ancestor_obj_by_type(hwloc, HWLOC_OBJ_DIE, pu);
	int n_dies = hwloc_get_nbobjs_by_type(hwloc, HWLOC_OBJ_DIE);
	int socket = package ? (int)package->logical_index : topology->has_packages ? -1 : 0;

	if (pu->os_index >= topology->n_cpus || socket < 0)
		return;
	topology->socket_of_cpu[pu->os_index] = socket;
	topology->die_of_cpu[pu->os_index] = die ? (int)die->logical_index : n_dies + socket;
}

static int topology_copy(
	hwloc_topology_t hwloc, hwloc_const_bitmap_t online, struct topology *topology)
{
	int n_packages = hwloc_get_nbobjs_by_type(hwloc, HWLOC_OBJ_PACKAGE);
	unsigned n_known = cpu_limit(hwloc_get_root_obj(hwloc)->cpuset),
		 n_online = cpu_limit(online);
	hwloc_obj_t object = NULL;
	int r = topology_allocate(
		topology, n_packages > 0 ? n_packages : 1, n_known > n_online ? n_known : n_online);

	if (r < 0)
		return r;
	topology->has_packages = n_packages > 0;
	for (int cpu = hwloc_bitmap_first(online); cpu >= 0; cpu = hwloc_bitmap_next(online, cpu))
		topology->socket_of_cpu[cpu] = TOPOLOGY_NOWHERE;
	while ((object = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_PACKAGE, object)))
		topology->package_of_socket[object->logical_index] =
			object->os_index == HWLOC_UNKNOWN_INDEX ? object->logical_index
								: object->os_index;
	while ((object = hwloc_get_next_obj_by_type(hwloc, HWLOC_OBJ_PU, object)))
		place_cpu(topology, hwloc, object);
	return 0;
}

int topology_load(const char *root, struct topology *ret, struct fault *fault)
{
	_cleanup_(topology_done) struct topology topology = { 0 };
	_cleanup_(bitmap_free) hwloc_bitmap_t online = hwloc_bitmap_alloc();
	_cleanup_(destroy) hwloc_topology_t hwloc = NULL;
	int r;

	if (!online)
		return fault_set(fault, -ENOMEM, "there is no memory for the topology");
	r = read_online(root, online, fault);
	if (r >= 0)
		r = check_files(root, fault);
	if (r < 0)
		return r;
	r = discover(root, &hwloc);
	if (r >= 0 && !strcmp(root, "/") && !hwloc_topology_is_thissystem(hwloc))
		return refuse_foreign(fault);
	if (r >= 0 && !cpu_limit(hwloc_get_root_obj(hwloc)->cpuset))
		return fault_set(fault, -ENODEV, "hwloc finds no CPU below %s", root);
	if (r >= 0)
		r = topology_copy(hwloc, online, &topology);
	if (r < 0)
		return fault_set(fault, r, "hwloc cannot read the topology below %s: %s", root,
			strerror(-r));
	*ret = topology;
	topology = (struct topology){ 0 };
	return 0;
}

static int topology_number_of(uint32_t package, const uint32_t *packages, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (packages[i] == package)
			return (int)i;
	return TOPOLOGY_NOWHERE;
}

int topology_renumber(struct topology *topology, const uint32_t *packages, unsigned n)
{
	uint32_t *copy = malloc(n * sizeof *copy);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, packages, n * sizeof *copy);
	for (unsigned cpu = 0; cpu < topology->n_cpus; cpu++) {
		int *socket = &topology->socket_of_cpu[cpu];

		if (*socket >= 0)
			*socket = topology_number_of(topology->package_of_socket[*socket], copy, n);
	}
	free(topology->package_of_socket);
	topology->package_of_socket = copy;
	topology->n_sockets = n;
	return 0;
}

bool topology_has_cpu(const struct topology *topology, unsigned socket)
{
	for (unsigned cpu = 0; cpu < topology->n_cpus; cpu++)
		if (topology->socket_of_cpu[cpu] == (int)socket)
			return true;
	return false;
}

void topology_done(struct topology *topology)
{
	free(topology->socket_of_cpu);
	free(topology->die_of_cpu);
	free(topology->package_of_socket);
	*topology = (struct topology){ 0 };
}
