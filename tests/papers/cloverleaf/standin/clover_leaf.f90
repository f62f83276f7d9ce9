! SPDX-License-Identifier: BSD-3-Clause
! A program of CloverLeaf's shape: the same procedures, deck and order of sweeps, without its physics.
program clover_leaf
  use data_module
  use advec_mom_kernel_mod
  use advec_cell_kernel_module
  use pdv_kernel_module
  implicit none
  integer :: step

  call read_deck()
  call standin_prepare(x_cells, y_cells)
  do step = 1, end_step
    call pdv_kernel('pdv00')
    call pdv_kernel('pdv01')
    if (mod(step, 2) == 1) then
      call advec_cell_kernel('ac00 ac02 ac03')
      call advec_mom_kernel('am00 am04 am05 am06 am07')
      call advec_mom_kernel('am00 am06 am07')
      call advec_cell_kernel('ac05 ac06 ac07')
      call advec_mom_kernel('am03 am08 am09 am10 am11')
      call advec_mom_kernel('am03 am10 am11')
    else
      call advec_cell_kernel('ac04 ac06 ac07')
      call advec_mom_kernel('am01 am08 am09 am10 am11')
      call advec_mom_kernel('am01 am10 am11')
      call advec_cell_kernel('ac01 ac02 ac03')
      call advec_mom_kernel('am02 am04 am05 am06 am07')
      call advec_mom_kernel('am02 am06 am07')
    end if
  end do

contains

  ! Lines of KEY=VALUE.
  subroutine read_deck()
    character(len=80) :: line
    integer :: unit, status, equals

    open (newunit=unit, file='clover.in', action='read')
    do
      read (unit, '(a)', iostat=status) line
      if (status /= 0) exit
      equals = index(line, '=')
      if (equals == 0) cycle
      select case (adjustl(line(:equals - 1)))
      case ('x_cells')
        read (line(equals + 1:), *) x_cells
      case ('y_cells')
        read (line(equals + 1:), *) y_cells
      case ('end_step')
        read (line(equals + 1:), *) end_step
      end select
    end do
    close (unit)
  end subroutine
end program
