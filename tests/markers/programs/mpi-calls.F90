! SPDX-License-Identifier: BSD-3-Clause
! Each rank makes 3 sums, 2 barriers, and sends one message to the next rank; by mpif.h, "use mpi" or mpi_f08. Prints the sum.
program calls
#if defined WITH_F08
  use mpi_f08
#elif defined WITH_MPI
  use mpi
#endif
  implicit none
#if defined WITH_MPIF
  include "mpif.h"
#endif
#if defined WITH_F08
  type(MPI_Request) :: request
#else
  integer :: request
#endif
  integer :: rank, n, i, error, sum, got

  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, n, error)
  do i = 1, 3
    call MPI_Allreduce(rank + i, sum, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, error)
  end do
  do i = 1, 2
    call MPI_Barrier(MPI_COMM_WORLD, error)
  end do
  call MPI_Isend(sum, 1, MPI_INTEGER, mod(rank + 1, n), 7, MPI_COMM_WORLD, request, error)
  call MPI_Recv(got, 1, MPI_INTEGER, mod(rank + n - 1, n), 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE, error)
  call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  if (rank == 0) print "(i0)", got
  call MPI_Finalize(error)
end program calls
