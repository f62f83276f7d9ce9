! SPDX-License-Identifier: BSD-3-Clause
!> LIKWID's marks in Fortran, by a program that knows what it moved.
program likwid_names
  use likwid
  use, intrinsic :: iso_c_binding
  implicit none
  interface
     subroutine mover_move(lines, socket, kind) bind(c)
       import :: c_int, c_int64_t
       integer(c_int64_t), value :: lines
       integer(c_int), value :: socket, kind
     end subroutine
  end interface
  character(40) :: padded
  double precision :: events(3), seconds
  integer :: i, n, calls

  call likwid_markerInit()
  call likwid_markerThreadInit()
  padded = "fill it"
  call likwid_markerRegisterRegion(padded)
  do i = 1, 3
     call likwid_markerStartRegion(padded)
     call mover_move(5_c_int64_t, 0_c_int, 0_c_int)
     call likwid_markerStopRegion("fill it")
  end do
  n = 3
  call likwid_markerGetRegion("fill it  ", n, events, seconds, calls)
  print '(i0,1x,i0,1x,l1)', n, calls, seconds > 0
  call likwid_markerResetRegion(padded)
  call likwid_markerGetRegion(padded, n, events, seconds, calls)
  print '(i0,1x,i0,1x,f3.1)', n, calls, seconds
  call likwid_markerNextGroup()
  call likwid_markerClose()
end program
