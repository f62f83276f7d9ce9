! SPDX-License-Identifier: BSD-3-Clause
! Arrays of a module and of a COMMON block are symbols; ALLOCATE calls malloc(3).
module fields
  implicit none
  double precision, save :: pressure(400000)
end module

program heap_fortran
  use fields
  use, intrinsic :: iso_c_binding
  implicit none
  interface
    integer(c_int) function region_begin(name) bind(c, name="uncore_region_begin")
      import
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function region_end(name) bind(c, name="uncore_region_end")
      import
      character(kind=c_char), intent(in) :: name(*)
    end function
  end interface
  double precision :: grid(250000)
  common /shared/ grid
  double precision, allocatable :: work(:)
  integer :: r

  r = region_begin("solve" // c_null_char)
  allocate(work(500000))
  work = 1
  pressure = 2
  grid = 3
  r = region_end("solve" // c_null_char)
  print *, work(5) + pressure(7) + grid(9)
end program
