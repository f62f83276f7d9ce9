/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI has no call that gives the rank before MPI_Init(), but every launcher puts it into the
 * environment. The order matters, because launchers nest: an mpirun inside a batch job inherits the
 * job's variables. So variables that only a launcher of ranks sets come first; then the process
 * managers' own; and last those that a batch system also sets in the script (Flux and Slurm set a
 * task number of 0 there). Flux comes before Slurm because srun often starts Flux.
 */
#include "client/launcher/launch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/macro.h"
#include "common/number.h"
#include "common/text.h"

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
static int64_t parse_rank(const char *text)
{
	uint64_t rank;

	return text && number_parse_whole(text, 10, RANK_MAX, &rank) ? (int64_t)rank : -1;
}

static int64_t first_rank(const char *const variables[], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t rank = parse_rank(secure_getenv(variables[i]));

		if (rank >= 0)
			return rank;
	}
	return -1;
}

int64_t launch_rank(void)
{
	return first_rank(rank_variables, ARRAY_SIZE(rank_variables));
}

int64_t launch_local_rank(void)
{
	return first_rank(local_rank_variables, ARRAY_SIZE(local_rank_variables));
}

/* The id becomes a part of a file name: no slashes and no control characters. */
static bool is_job(const char *text)
{
	return text && *text && strlen(text) < LAUNCH_JOB_MAX && !strchr(text, '/') &&
	       text_is_plain(text);
}

bool launch_job(char ret_id[LAUNCH_JOB_MAX])
{
	for (size_t i = 0; i < ARRAY_SIZE(job_variables); i++) {
		const char *id = secure_getenv(job_variables[i]);

		if (is_job(id)) {
			strcpy(ret_id, id);
			return true;
		}
	}
	*ret_id = '\0';
	return false;
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
