/* SPDX-License-Identifier: BSD-3-Clause */
/* As mpi-calls.F90, in C. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	int rank, n, in, sum, got;
	MPI_Request request;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	for (int i = 1; i <= 3; i++) {
		in = rank + i;
		MPI_Allreduce(&in, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	}
	for (int i = 0; i < 2; i++)
		MPI_Barrier(MPI_COMM_WORLD);
	MPI_Isend(&sum, 1, MPI_INT, (rank + 1) % n, 7, MPI_COMM_WORLD, &request);
	MPI_Recv(&got, 1, MPI_INT, (rank + n - 1) % n, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	if (rank == 0)
		printf("%d\n", got);
	MPI_Finalize();
	return 0;
}
