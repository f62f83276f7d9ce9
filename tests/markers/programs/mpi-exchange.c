/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that compute a while, exchange 4 MB and sum up. Prints the sum. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 19, ROUNDS = 50 };

int main(int argc, char **argv)
{
	double *in = calloc(N, sizeof *in), *out = calloc(N, sizeof *out), sum = 0, all = 0;
	int rank, n;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < N; k++)
			out[k] = in[k] / 2 + rank + k;
		MPI_Sendrecv(out, N, MPI_DOUBLE, (rank + 1) % n, 1, in, N, MPI_DOUBLE,
			(rank + n - 1) % n, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		sum = in[i];
		MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 0)
		printf("%.17g\n", all);
	MPI_Finalize();
	free(in);
	free(out);
	return 0;
}
