! SPDX-License-Identifier: BSD-3-Clause
!
! Ranks of MPI in two groups, each with a region of its own, one after the other. A rank moves 640 bytes.
program groups
  use, intrinsic :: iso_c_binding
  use mpi
  use uncore
  implicit none
  interface
    subroutine move(lines, socket, kind) bind(c, name="mover_move")
      import :: c_int64_t, c_int
      integer(c_int64_t), value :: lines
      integer(c_int), value :: socket, kind
    end subroutine
  end interface
  character(8), parameter :: names(0:1) = ["ocean   ", "air     "]
  integer :: rank, group, turn, error
  call mpi_init(error)
  call mpi_comm_rank(mpi_comm_world, rank, error)
  group = mod(rank, 2)
  do turn = 0, 1
    call mpi_barrier(mpi_comm_world, error)
    if (turn == group) then
      call uncore_begin(names(group))
      call move(10_c_int64_t, group, 0)
      call uncore_end(names(group))
    end if
  end do
  call mpi_finalize(error)
end program
