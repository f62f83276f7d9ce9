! SPDX-License-Identifier: BSD-3-Clause
!
! Regions, spans and meters of module uncore, by a program that knows what it moved. Prints what the meters say.
program marked
  use, intrinsic :: iso_c_binding
  use uncore
  implicit none
  interface
    subroutine move(lines, socket, kind) bind(c, name="mover_move")
      import :: c_int64_t, c_int
      integer(c_int64_t), value :: lines
      integer(c_int), value :: socket, kind
    end subroutine
  end interface
  integer :: status

  call pass_regions()
  call pass_spans()
  call measure()
  call uncore_report("sofar.json  ", status)
  call check(status == 0, "report")

contains

  subroutine check(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    if (holds) return
    print *, what, ": ", uncore_error()
    error stop 1
  end subroutine

  subroutine pass_regions()
    character(12) :: name
    integer :: i
    name = "padded"
    do i = 1, 2
      call uncore_begin(name)
      call move(1_c_int64_t, 0, 0)
      call uncore_end("padded", status)
      call check(status == 0, "end of a padded name")
    end do
    call uncore_begin("first", status)
    call check(status == 0, "first")
    call move(2_c_int64_t, 0, 0)
    call uncore_next("first ", "second  ", status)
    call check(status == 0, "next")
    call move(3_c_int64_t, 0, 0)
    call uncore_end("second")
    call uncore_work("second ", 3d0, "cells  ", status)
    call check(status == 0, "work")
    call uncore_title("second ", "the second of all ", status)
    call check(status == 0, "title")
    call uncore_state("waiting ", uncore_state_on, status)
    call check(status == 0, "state")
    call move(6_c_int64_t, 0, 0)
    call uncore_state("waiting", uncore_state_left)
    call uncore_end("never", status)
    call check(status == -22, "a region that never began")
    print '(a)', uncore_error()
  end subroutine

  subroutine pass_spans()
    type(uncore_span) :: one, other
    call uncore_span_begin(one, "span")
    call uncore_span_begin(other, "span ")
    call move(4_c_int64_t, 1, 0)
    call uncore_span_end(one, status)
    call check(status == 0, "span")
    call uncore_span_end(one, status)
    call check(status == -22, "a span ends once")
    call uncore_span_end(other)
  end subroutine

  subroutine measure()
    type(uncore_meter) :: meter, copy
    integer :: i
    call uncore_stop(meter, status)
    call check(status == -22 .and. .not. allocated(meter%bytes), "a meter that was not started")
    print '(a)', uncore_why(meter, 0)
    call uncore_start(meter, "none", status)
    call check(status == -2, "no such metric")
    call uncore_stop(meter, status)
    call check(status == -22, "a meter whose start failed")
    do i = 1, 2
      call uncore_start(meter, "dram.write  ", status)
      call check(status == 0, "start")
      call move(10_c_int64_t * i, 1, 1)
      call uncore_stop(meter, status)
      call check(status == 0, "stop")
      print '(i0, 1x, i0)', meter%bytes
    end do
    call check(all(meter%seconds > 0) .and. all(meter%error_bound < 1), "window")
    call check(uncore_why(meter, 0) == "" .and. uncore_why(meter, 2) == "There is no such socket.", "no reason")
    call uncore_start(meter, "hbm.read", status)
    call uncore_stop(meter, status)
    call check(status == 0 .and. all(meter%bytes == -1), "absent")
    call check(all(iand(meter%quality, uncore_absent) /= 0), "absent, by its quality")
    copy = meter
    print '(a)', uncore_why(copy, 1)
  end subroutine
end program
