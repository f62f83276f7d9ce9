/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI has no call that gives the rank before MPI_Init(), but every launcher puts it into the
 * environment. The order matters, because launchers nest: an mpirun inside a batch job inherits the
 * job's variables. So variables that only a launcher of ranks sets come first; then the process
 * managers' own; and last those that a batch system also sets in the script (Flux and Slurm set a
 * task number of 0 there). Flux comes before Slurm because srun often starts Flux.
 */
#include "client/launcher/launch.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/macro.h"
#include "common/number.h"
#include "common/text.h"
#include "common/wire.h"

static const char *const rank_variables[] = {
	"OMPI_COMM_WORLD_RANK", /* Open MPI */
	"MV2_COMM_WORLD_RANK",  /* MVAPICH2 */
	"PMIX_RANK",            /* PRRTE, srun --mpi=pmix */
	"PMI_RANK",             /* Hydra: MPICH, Intel MPI; srun --mpi=pmi2; Cray */
	"PALS_RANKID",          /* HPE PALS */
	"FLUX_TASK_RANK",
	"SLURM_PROCID",
};

/*
 * In the same order. PMIx itself provides a local rank only by a call, but some launchers on top of
 * it set a variable. PMI_LOCAL_RANK is HPE's. The first and the third were seen with Open MPI 4.1
 * and MPICH 4.0. Sources of the others: the user guide of MVAPICH2, "MPIRUN_RSH Parameters"; the
 * table in HPCToolkit's OSUtil.c; flux-core's src/shell/task.c; srun(1), "OUTPUT ENVIRONMENT
 * VARIABLES".
 */
static const char *const local_rank_variables[] = {
	"OMPI_COMM_WORLD_LOCAL_RANK", /* Open MPI */
	"MV2_COMM_WORLD_LOCAL_RANK",  /* MVAPICH2 */
	"MPI_LOCALRANKID",            /* Hydra: MPICH, Intel MPI */
	"JSM_NAMESPACE_LOCAL_RANK",   /* IBM's jsrun */
	"MPT_LRANK",                  /* HPE MPT */
	"PMIX_LOCAL_RANK",
	"PMI_LOCAL_RANK",
	"PALS_LOCAL_RANKID", /* HPE PALS */
	"FLUX_TASK_LOCAL_ID",
	"SLURM_LOCALID",
};

/*
 * Unlike ranks, jobs are searched from the outermost inwards: the job id is that of the batch
 * system that does the accounting. Flux is late because it often runs inside a job of another
 * system. Grid Engine's comes last because other programs may use such a plain name.
 */
static const char *const job_variables[] = {
	"SLURM_JOB_ID", "PBS_JOBID",                           /* PBS, Torque */
	"LSB_JOBID",                                           /* LSF */
	"PJM_JOBID",                                           /* Fujitsu */
	"OAR_JOB_ID", "COBALT_JOBID", "FLUX_JOB_ID", "JOB_ID", /* Grid Engine */
};

enum { RANK_MAX = INT32_MAX }; /* MPI keeps a rank in an int */

/* The value becomes a part of a file name, so only a number is accepted. */
static int64_t first_number(const char *const variables[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const char *text = secure_getenv(variables[i]);
		uint64_t rank;

		if (text && number_parse_whole(text, 10, RANK_MAX, &rank))
			return (int64_t)rank;
	}
	return -1;
}

int64_t launch_rank(void)
{
	return first_number(rank_variables, ARRAY_SIZE(rank_variables));
}

int64_t launch_local_rank(void)
{
	return first_number(local_rank_variables, ARRAY_SIZE(local_rank_variables));
}

/* The id becomes a part of a file name: no slashes and no control characters. */
static bool launch_is_job(const char *text)
{
	return text && *text && strlen(text) < LAUNCH_JOB_MAX && !strchr(text, '/') &&
	       text_is_plain(text);
}

bool launch_job(char ret_id[LAUNCH_JOB_MAX])
{
	for (size_t i = 0; i < ARRAY_SIZE(job_variables); i++) {
		const char *id = secure_getenv(job_variables[i]);

		if (launch_is_job(id)) {
			strcpy(ret_id, id);
			return true;
		}
	}
	*ret_id = '\0';
	return false;
}

void launch_label(char ret_label[LAUNCH_LABEL_MAX])
{
	const char *text = secure_getenv("UNCORE_LABEL");

	snprintf(ret_label, LAUNCH_LABEL_MAX, "%s", text ? text : "");
	text_make_plain(ret_label);
}

void launch_host(char ret_name[LAUNCH_HOST_MAX])
{
	char name[LAUNCH_HOST_MAX] = "";

	if (gethostname(name, sizeof name - 1) < 0 || !*name)
		strcpy(name, "unknown");
	memcpy(ret_name, name, sizeof name);
}

static int expand_one(FILE *out, char letter)
{
	int64_t rank = launch_rank();
	char host[LAUNCH_HOST_MAX], job[LAUNCH_JOB_MAX];

	switch (letter) {
	case '%':
		fputc('%', out);
		return 0;
	case 'h':
		launch_host(host);
		fputs(host, out);
		return 0;
	case 'r':
		fprintf(out, "%" PRId64, rank >= 0 ? rank : (int64_t)getpid());
		return 0;
	case 'j':
		fputs(launch_job(job) ? job : "nojob", out);
		return 0;
	case 'p':
		fprintf(out, "%d", (int)getpid());
		return 0;
	default:
		return -EINVAL;
	}
}

int launch_expand(const char *template, char **ret_path)
{
	_cleanup_free_ char *path = NULL;
	size_t size_bytes;
	FILE *out = open_memstream(&path, &size_bytes);
	int r = 0;

	if (!out)
		return -errno;
	for (const char *c = template; r == 0 && *c; c++) {
		if (*c != '%')
			fputc(*c, out);
		else if (*++c)
			r = expand_one(out, *c);
		else
			r = -EINVAL;
	}
	if (fclose(out) == EOF)
		return -errno;
	if (r < 0)
		return r;
	*ret_path = take_ptr(path);
	return 0;
}

/* --- from where --- */

static char loaded_in[PATH_MAX];

__attribute__((constructor)) static void note_folder(void)
{
	if (!getcwd(loaded_in, sizeof loaded_in))
		*loaded_in = '\0';
}

/* False also if the name does not lead there, from a folder that not everybody may enter. */
static bool launch_has_left(const char *folder)
{
	struct stat then, now;

	return *folder == '/' && stat(folder, &then) == 0 && stat(".", &now) == 0 &&
	       (then.st_dev != now.st_dev || then.st_ino != now.st_ino);
}

int launch_expand_variable(const char *template, char **ret_path)
{
	_cleanup_free_ char *name = NULL;
	int r = launch_expand(template, &name);

	if (r < 0)
		return r;
	if (*name == '/' || !launch_has_left(loaded_in))
		*ret_path = take_ptr(name);
	else if (asprintf(ret_path, "%s/%s", loaded_in, name) < 0)
		return -ENOMEM;
	return 0;
}

char *launch_from_root(const char *template)
{
	char folder[PATH_MAX], escaped[2 * PATH_MAX], *end = escaped, *made;
	struct stat status;

	if (*template == '/' || !getcwd(folder, sizeof folder) || stat(folder, &status) < 0)
		return NULL;
	for (const char *c = folder; *c; c++) {
		*end++ = *c;
		if (*c == '%')
			*end++ = '%';
	}
	*end = '\0';
	return asprintf(&made, "%s/%s", escaped, template) < 0 ? NULL : made;
}

bool launch_names_process(const char *template)
{
	const char *c = template;

	while ((c = strchr(c, '%')) && c[1]) {
		if (c[1] == 'p')
			return true;
		c += 2;
	}
	return false;
}

/* --- the step --- */

enum { FIRST_PROCESS = 1 };

/*
 * Steps are searched like ranks, after the user's own setting. Sources: PMIx standard 4.1, section
 * 10.1 (PMIX_NAMESPACE); Open MPI 4.1, orte/mca/ess (jobid); srun(1), "OUTPUT ENVIRONMENT
 * VARIABLES"; HPE PALS aprun(1) (PALS_APID); flux-environment(7); qsub(1B) of OpenPBS; MPICH 4.0,
 * src/pm/hydra (MPI_LOCALNRANKS, PMI_RANK).
 *
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

static bool is_plain(char c)
{
	return isascii(c) && (isalnum(c) || strchr("._-+=@,#", c));
}

/* The hash distinguishes names that differ in characters that are not allowed, or beyond the room
 * for a name. */
static void launch_name_of(const char *origin, const char *value, char ret_name[TEAM_NAME_BYTES])
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
		sprintf(ret_name + used, "#%08x", (uint32_t)wire_hash(value, strlen(value)));
}

static const char *launch_value_of(const char *variable)
{
	const char *value = secure_getenv(variable);

	return value && *value ? value : NULL;
}

/* False: the variables are not set. */
static bool try_name(const struct name *name, char ret_name[TEAM_NAME_BYTES])
{
	const char *value = launch_value_of(name->variable);
	const char *second = name->second ? launch_value_of(name->second) : "";
	char whole[2 * TEAM_NAME_BYTES];

	if (!value || !second || (name->is_parents && getppid() <= FIRST_PROCESS))
		return false;
	if (name->is_parents)
		snprintf(whole, sizeof whole, "%d", (int)getppid());
	else
		snprintf(whole, sizeof whole, *second ? "%s.%s" : "%s%s", value, second);
	launch_name_of(name->origin, whole, ret_name);
	return true;
}

void job_step_name(char ret_name[TEAM_NAME_BYTES])
{
	*ret_name = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (try_name(&names[i], ret_name))
			return;
}

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
	const char *list = launch_value_of("SLURM_STEP_TASKS_PER_NODE"),
		   *text = launch_value_of("SLURM_NODEID");
	uint64_t node;

	if (!list || !text || !number_parse_whole(text, 10, UINT32_MAX, &node))
		return 0;
	return tasks_of_node(list, node);
}

uint32_t job_step_local_size(void)
{
	int64_t size = first_number(local_sizes, ARRAY_SIZE(local_sizes));

	return size >= 0 ? (uint32_t)size : slurm_size();
}
