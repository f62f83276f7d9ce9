! SPDX-License-Identifier: BSD-3-Clause
! What the stand-in for CloverLeaf reads from clover.in, and the way to the project's own loops.
module data_module
  use, intrinsic :: iso_c_binding
  implicit none
  integer :: x_cells, y_cells, end_step

  interface
    subroutine standin_prepare(columns, rows) bind(c)
      import :: c_int
      integer(c_int), value :: columns, rows
    end subroutine
    subroutine standin_run(names) bind(c)
      import :: c_char
      character(kind=c_char), intent(in) :: names(*)
    end subroutine
  end interface
end module
