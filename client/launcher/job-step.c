/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Launchers nest: an mpirun inside a batch job inherits the job's variables. So variables that only
 * a launcher of ranks sets come first, and those that a batch system sets for its script come last.
 * The user's own setting comes before all others.
 *
 * Sources: PMIx standard 4.1, section 10.1 (PMIX_NAMESPACE); Open MPI 4.1, orte/mca/ess (jobid);
 * srun(1), "OUTPUT ENVIRONMENT VARIABLES"; HPE PALS aprun(1) (PALS_APID); flux-environment(7);
 * qsub(1B) of OpenPBS; MPICH 4.0, src/pm/hydra (MPI_LOCALNRANKS, PMI_RANK).
 */
#include "client/launcher/job-step.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/macro.h"
#include "common/number.h"

enum { FIRST_PROCESS = 1 };

/*
 * Hydra does not give its processes a name of the step. But their parent is Hydra's proxy on this
 * node, and its process id can serve as the name. PMI_RANK and MPI_LOCALNRANKS show that they
 * belong to Hydra. In a container with its own process ids the parent may be process 1 of the
 * container, or outside of it, which reads as 0. Neither names a step.
 */
static const struct name {
	const char *origin;
	const char *variable;
	const char *second; /* must be set, too; NULL: none */
	bool is_parents;    /* the name is the parent's process id */
} names[] = {
	{ "own", "UNCORE_TEAM", NULL, false },
	{ "pmix", "PMIX_NAMESPACE", NULL, false },
	{ "pmi", "PMI_JOBID", NULL, false },
	{ "ompi", "OMPI_MCA_ess_base_jobid", NULL, false },
	{ "hydra", "MPI_LOCALNRANKS", "PMI_RANK", true },
	{ "slurm", "SLURM_JOB_ID", "SLURM_STEP_ID", false },
	{ "pals", "PALS_APID", NULL, false },
	{ "flux", "FLUX_JOB_ID", NULL, false },
	{ "pbs", "PBS_JOBID", NULL, false },
};

static const char *const local_sizes[] = {
	"OMPI_COMM_WORLD_LOCAL_SIZE",
	"MPI_LOCALNRANKS",
	"MV2_COMM_WORLD_LOCAL_SIZE",
	"PALS_LOCAL_SIZE",
};

/* --- the name --- */

static bool is_plain(char c)
{
	return isascii(c) && (isalnum(c) || strchr("._-+=@,#", c));
}

/* Distinguishes names that differ in characters that are not allowed, or beyond the room for a
 * name. */
static uint32_t hash_of(const char *text)
{
	uint32_t hash = 0x811c9dc5U; /* FNV-1a */

	while (*text)
		hash = (hash ^ (unsigned char)*text++) * 0x01000193U;
	return hash;
}

static void name_of(const char *origin, const char *value, char ret_name[TEAM_NAME_BYTES])
{
	enum { ROOM = TEAM_NAME_BYTES - 24 }; /* without the origin and the hash */
	bool is_changed = strlen(value) > ROOM;
	size_t used = (size_t)sprintf(ret_name, "%s/", origin);

	for (unsigned i = 0; i < ROOM && value[i]; i++) {
		is_changed |= !is_plain(value[i]);
		ret_name[used++] = is_plain(value[i]) ? value[i] : '_';
	}
	ret_name[used] = '\0';
	if (is_changed)
		sprintf(ret_name + used, "#%08x", hash_of(value));
}

static const char *value_of(const char *variable)
{
	const char *value = secure_getenv(variable);

	return value && *value ? value : NULL;
}

/* False: the variables are not set. */
static bool try_name(const struct name *name, char ret_name[TEAM_NAME_BYTES])
{
	const char *value = value_of(name->variable);
	const char *second = name->second ? value_of(name->second) : "";
	char whole[2 * TEAM_NAME_BYTES];

	if (!value || !second || (name->is_parents && getppid() <= FIRST_PROCESS))
		return false;
	if (name->is_parents)
		snprintf(whole, sizeof whole, "%d", (int)getppid());
	else
		snprintf(whole, sizeof whole, *second ? "%s.%s" : "%s%s", value, second);
	name_of(name->origin, whole, ret_name);
	return true;
}

void job_step_name(char ret_name[TEAM_NAME_BYTES])
{
	*ret_name = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (try_name(&names[i], ret_name))
			return;
}

/* --- the local size --- */

/* The number of tasks of the @node-th node, from a list as "4(x2),3" (srun(1)); 0: not known. */
static uint32_t tasks_of_node(const char *list, uint64_t node)
{
	while (*list) {
		char *end;
		unsigned long tasks = strtoul(list, &end, 10), times = 1;

		if (end == list || tasks > UINT32_MAX)
			return 0;
		if (strncmp(end, "(x", 2) == 0)
			times = strtoul(end + 2, &end, 10);
		end += *end == ')';
		if (node < times)
			return (uint32_t)tasks;
		node -= times;
		list = end + (*end == ',');
		if (list == end && *end)
			return 0;
	}
	return 0;
}

static uint32_t slurm_size(void)
{
	const char *list = value_of("SLURM_STEP_TASKS_PER_NODE"), *text = value_of("SLURM_NODEID");
	uint64_t node;

	if (!list || !text || !number_parse_whole(text, 10, UINT32_MAX, &node))
		return 0;
	return tasks_of_node(list, node);
}

uint32_t job_step_local_size(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(local_sizes); i++) {
		const char *text = value_of(local_sizes[i]);
		uint64_t size;

		if (text && number_parse_whole(text, 10, UINT32_MAX, &size))
			return (uint32_t)size;
	}
	return slurm_size();
}
