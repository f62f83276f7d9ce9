! SPDX-License-Identifier: BSD-3-Clause
!
! libuncore for Fortran 2018: uncore-fortran(3).
!
!   use uncore
!   call uncore_begin("advec_cell")
!   ...
!   call uncore_end("advec_cell")
!
! Compile this file with your program, by the same compiler, because .mod files belong to a compiler. Link libuncore.
! Blanks at the end of names do not count. Each procedure has an optional last argument status: 0, or a negative errno,
! of which uncore_error() says more. A failure stops nothing, and the report at exit shows it.
module uncore
  use, intrinsic :: iso_c_binding
  implicit none
  private

  public :: uncore_begin, uncore_end, uncore_next, uncore_title, uncore_work, uncore_report, uncore_error
  public :: uncore_span, uncore_span_begin, uncore_span_end, uncore_state
  public :: uncore_meter, uncore_start, uncore_stop, uncore_why

  integer, parameter, public :: uncore_int64 = c_int64_t ! of bytes
  integer, parameter, public :: uncore_state_left = 0, uncore_state_off = 1, uncore_state_on = 2
  integer(c_int32_t), parameter, public :: uncore_absent = int(z'40000000', c_int32_t) ! of quality
  integer, parameter :: metrics_max = 16, passing_max = 4, text_max = 160
  integer(c_int), parameter :: fresh = 1
  ! What Linux calls them, on all architectures that uncored knows.
  integer, parameter :: eacces = 13, einval = 22, enotconn = 107, estale = 116

  ! --- as uncore.h lays them out ---
  type, bind(c) :: c_value
    integer(c_int64_t) :: count = 0
    integer(c_int32_t) :: quality = 0, why = 0
    integer(c_int64_t) :: raised(passing_max) = 0
  end type
  type, bind(c) :: c_sample
    integer(c_int32_t) :: size = 0, socket = 0, n_values = 0, reserved = 0
    integer(c_int64_t) :: generation(2) = 0, sweep = 0, begin_ns = 0, end_ns = 0
    type(c_value) :: values(metrics_max)
  end type
  type, bind(c) :: c_delta_value
    integer(c_int64_t) :: count = 0
    integer(c_int32_t) :: quality = 0, why = 0
  end type
  type, bind(c) :: c_delta
    integer(c_int32_t) :: size = 0, socket = 0, n_values = 0, reserved = 0
    integer(c_int64_t) :: window_ns = 0, skew_ns = 0
    type(c_delta_value) :: values(metrics_max)
  end type
  type, bind(c) :: c_machine
    integer(c_int32_t) :: size = 0, n_sockets = 0, n_metrics = 0, n_channels = 0
    integer(c_int64_t) :: generation(2) = 0
    type(c_ptr) :: platform = c_null_ptr
  end type

  ! A passage that may end in another thread than it began in.
  type :: uncore_span
    private
    integer(c_int64_t) :: number = 0 ! 0: not open
  end type

  ! What one metric counted from uncore_start to uncore_stop, by socket from 0. The arrays are allocated by a successful
  ! uncore_stop, and by nothing else. Where quality has uncore_absent, bytes is -1, and uncore_why() says why.
  type :: uncore_meter
    integer(c_int64_t), allocatable :: bytes(:) ! in the metric's unit
    integer(c_int32_t), allocatable :: quality(:)
    real(c_double), allocatable :: seconds(:), error_bound(:) ! window; error as a part of bytes, for steady traffic
    type(c_ptr), private :: handle = c_null_ptr
    integer(c_int), private :: metric = -1
    character(text_max), allocatable, private :: why(:) ! blank: there is a value
    type(c_sample), allocatable, private :: before(:) ! allocated: it was started
  contains
    procedure, private :: copy_figures
    generic :: assignment(=) => copy_figures
    final :: close_meter
  end type

  interface
    integer(c_int) function c_begin(name) bind(c, name="uncore_region_begin")
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function c_end(name) bind(c, name="uncore_region_end")
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function c_next(old, new) bind(c, name="uncore_region_next")
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: old(*), new(*)
    end function
    integer(c_int) function c_title(name, title) bind(c, name="uncore_region_title")
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: name(*), title(*)
    end function
    integer(c_int) function c_state(name, state) bind(c, name="uncore_state_set")
      import :: c_int, c_char
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int), value :: state
    end function
    integer(c_int) function c_work(name, amount, unit) bind(c, name="uncore_region_work")
      import :: c_int, c_char, c_double
      character(kind=c_char), intent(in) :: name(*), unit(*)
      real(c_double), value :: amount
    end function
    integer(c_int) function c_report(path) bind(c, name="uncore_region_report")
      import :: c_int, c_ptr
      type(c_ptr), value :: path
    end function
    integer(c_int) function c_span_begin(name, span) bind(c, name="uncore_span_begin")
      import :: c_int, c_char, c_int64_t
      character(kind=c_char), intent(in) :: name(*)
      integer(c_int64_t), intent(out) :: span
    end function
    integer(c_int) function c_span_end(span) bind(c, name="uncore_span_end")
      import :: c_int, c_int64_t
      integer(c_int64_t), value :: span
    end function
    type(c_ptr) function c_error_text() bind(c, name="uncore_error_text")
      import :: c_ptr
    end function
    type(c_ptr) function c_why(handle, why) bind(c, name="uncore_why")
      import :: c_ptr, c_int32_t
      type(c_ptr), value :: handle
      integer(c_int32_t), value :: why
    end function
    integer(c_int) function c_open(path, handle) bind(c, name="uncore_open")
      import :: c_int, c_ptr
      type(c_ptr), value :: path
      type(c_ptr), intent(out) :: handle
    end function
    subroutine c_close(handle) bind(c, name="uncore_close")
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine
    integer(c_int) function c_describe(handle, machine) bind(c, name="uncore_describe")
      import :: c_int, c_ptr, c_machine
      type(c_ptr), value :: handle
      type(c_machine), intent(inout) :: machine
    end function
    integer(c_int) function c_find(handle, name) bind(c, name="uncore_find_metric")
      import :: c_int, c_ptr, c_char
      type(c_ptr), value :: handle
      character(kind=c_char), intent(in) :: name(*)
    end function
    integer(c_int) function c_read_all(handle, how, samples, n) bind(c, name="uncore_read_all")
      import :: c_int, c_ptr, c_sample, c_int32_t
      type(c_ptr), value :: handle
      integer(c_int), value :: how
      type(c_sample), intent(inout) :: samples(*)
      integer(c_int32_t), value :: n
    end function
    integer(c_int) function c_subtract(from, to, delta) bind(c, name="uncore_delta")
      import :: c_int, c_sample, c_delta
      type(c_sample), intent(in) :: from, to
      type(c_delta), intent(inout) :: delta
    end function
    integer(c_size_t) function c_strlen(text) bind(c, name="strlen")
      import :: c_size_t, c_ptr
      type(c_ptr), value :: text
    end function
  end interface

contains

  ! --- texts ---

  pure function to_c(text) result(terminated)
    character(*), intent(in) :: text
    character(len_trim(text) + 1, c_char) :: terminated
    terminated = trim(text) // c_null_char
  end function

  function from_c(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: i
    call c_f_pointer(pointer, letters, [c_strlen(pointer)])
    allocate (character(size(letters)) :: text)
    do i = 1, size(letters)
      text(i:i) = letters(i)
    end do
  end function

  ! The sentence that explains the last failure of this thread.
  function uncore_error() result(text)
    character(:), allocatable :: text
    text = from_c(c_error_text())
  end function

  subroutine say(r, status)
    integer(c_int), intent(in) :: r
    integer, intent(out), optional :: status
    if (present(status)) status = int(r)
  end subroutine

  ! --- regions ---

  subroutine uncore_begin(name, status)
    character(*), intent(in) :: name
    integer, intent(out), optional :: status
    call say(c_begin(to_c(name)), status)
  end subroutine

  subroutine uncore_end(name, status)
    character(*), intent(in) :: name
    integer, intent(out), optional :: status
    call say(c_end(to_c(name)), status)
  end subroutine

  ! Ends the region old and begins the region new, with one reading for both.
  subroutine uncore_next(old, new, status)
    character(*), intent(in) :: old, new
    integer, intent(out), optional :: status
    call say(c_next(to_c(old), to_c(new)), status)
  end subroutine

  ! Says what the name of a region is short for: the report has the title beside it.
  subroutine uncore_title(name, title, status)
    character(*), intent(in) :: name, title
    integer, intent(out), optional :: status
    call say(c_title(to_c(name), to_c(title)), status)
  end subroutine

  ! Says that a thread of this process comes into a state (uncore_state_on), goes out, or that it takes part no longer.
  subroutine uncore_state(name, state, status)
    character(*), intent(in) :: name
    integer, intent(in) :: state
    integer, intent(out), optional :: status
    call say(c_state(to_c(name), int(state, c_int)), status)
  end subroutine

  ! Adds work that was done in a region: 1d6 of "cells". The report has bytes for each unit.
  subroutine uncore_work(name, amount, unit, status)
    character(*), intent(in) :: name, unit
    real(c_double), intent(in) :: amount
    integer, intent(out), optional :: status
    call say(c_work(to_c(name), amount, to_c(unit)), status)
  end subroutine

  ! Writes the regions so far, as JSON to the file path, or as a table to standard error.
  subroutine uncore_report(path, status)
    character(*), intent(in), optional :: path
    integer, intent(out), optional :: status
    if (present(path)) then
      call say(report_to(trim(path)), status)
    else
      call say(c_report(c_null_ptr), status)
    end if
  end subroutine

  integer(c_int) function report_to(path) result(r)
    character(*), intent(in) :: path
    character(kind=c_char), target :: letters(len(path) + 1)
    integer :: i
    do i = 1, len(path)
      letters(i) = path(i:i)
    end do
    letters(len(path) + 1) = c_null_char
    r = c_report(c_loc(letters))
  end function

  ! After a failure the span may be ended, or not.
  subroutine uncore_span_begin(span, name, status)
    type(uncore_span), intent(out) :: span
    character(*), intent(in) :: name
    integer, intent(out), optional :: status
    call say(c_span_begin(to_c(name), span%number), status)
  end subroutine

  subroutine uncore_span_end(span, status)
    type(uncore_span), intent(inout) :: span
    integer, intent(out), optional :: status
    call say(c_span_end(span%number), status)
    span%number = 0
  end subroutine

  ! --- meters ---

  subroutine close_meter(meter)
    type(uncore_meter), intent(inout) :: meter
    call c_close(meter%handle) ! allows NULL
    meter%handle = c_null_ptr
  end subroutine

  ! A copy has the figures; one meter has the connection, which it closes once.
  subroutine copy_figures(to, from)
    class(uncore_meter), intent(inout) :: to
    type(uncore_meter), intent(in) :: from
    call forget(to)
    if (.not. allocated(from%bytes)) return
    to%bytes = from%bytes
    to%quality = from%quality
    to%why = from%why
    to%seconds = from%seconds
    to%error_bound = from%error_bound
  end subroutine

  ! Begins to measure a metric, "dram.read", on all sockets. A meter may be started again and again.
  subroutine uncore_start(meter, metric, status)
    type(uncore_meter), intent(inout) :: meter
    character(*), intent(in) :: metric
    integer, intent(out), optional :: status
    type(c_sample), allocatable :: samples(:)
    integer(c_int) :: r
    call forget(meter)
    r = read_all(meter, samples)
    if (r == 0) meter%metric = c_find(meter%handle, to_c(metric))
    if (r == 0) r = min(meter%metric, 0_c_int)
    if (r == 0) call move_alloc(samples, meter%before)
    call say(r, status)
  end subroutine

  ! -22 (EINVAL): the meter was not started. -116 (ESTALE): uncored was restarted, so counts may be lost.
  subroutine uncore_stop(meter, status)
    type(uncore_meter), intent(inout) :: meter
    integer, intent(out), optional :: status
    type(c_sample), allocatable :: after(:)
    integer(c_int) :: r
    r = -einval
    if (allocated(meter%before)) r = read_all(meter, after)
    if (r == 0) then
      if (size(after) /= size(meter%before)) r = -estale
    end if
    if (r == 0) r = subtract(meter, after)
    if (r < 0) call forget(meter)
    if (allocated(meter%before)) deallocate (meter%before)
    call say(r, status)
  end subroutine

  ! Why a socket has no value; "" if it has one.
  function uncore_why(meter, socket) result(text)
    type(uncore_meter), intent(in) :: meter
    integer, intent(in) :: socket
    character(:), allocatable :: text
    if (.not. allocated(meter%why)) then
      text = "The meter was not started and stopped."
    else if (socket < 0 .or. socket > ubound(meter%why, 1)) then
      text = "There is no such socket."
    else
      text = trim(meter%why(socket))
    end if
  end function

  subroutine forget(meter)
    class(uncore_meter), intent(inout) :: meter
    if (allocated(meter%before)) deallocate (meter%before)
    if (allocated(meter%bytes)) deallocate (meter%bytes, meter%quality, meter%why, meter%seconds, meter%error_bound)
  end subroutine

  ! Connects at the first reading, and again if uncored was restarted.
  integer(c_int) function read_all(meter, samples) result(r)
    type(uncore_meter), intent(inout) :: meter
    type(c_sample), allocatable, intent(out) :: samples(:)
    r = -enotconn
    if (c_associated(meter%handle)) r = read_once(meter%handle, samples)
    if (r /= -enotconn .and. r /= -eacces) return
    call close_meter(meter)
    r = c_open(c_null_ptr, meter%handle)
    if (r == 0) r = read_once(meter%handle, samples)
  end function

  integer(c_int) function read_once(handle, samples) result(r)
    type(c_ptr), intent(in) :: handle
    type(c_sample), allocatable, intent(out) :: samples(:)
    type(c_machine) :: machine
    machine%size = int(c_sizeof(machine), c_int32_t)
    r = c_describe(handle, machine)
    if (r < 0) return
    allocate (samples(machine%n_sockets))
    samples%size = int(c_sizeof(samples(1)), c_int32_t)
    r = c_read_all(handle, fresh, samples, machine%n_sockets)
  end function

  integer(c_int) function subtract(meter, after) result(r)
    type(uncore_meter), intent(inout) :: meter
    type(c_sample), intent(in) :: after(:)
    type(c_delta) :: delta
    integer :: i, last
    last = size(after) - 1
    allocate (meter%bytes(0:last), meter%quality(0:last), meter%why(0:last), meter%seconds(0:last), &
              meter%error_bound(0:last))
    do i = 0, last
      delta%size = int(c_sizeof(delta), c_int32_t)
      r = c_subtract(meter%before(i + 1), after(i + 1), delta)
      if (r < 0) return
      associate (value => delta%values(meter%metric + 1))
        meter%bytes(i) = merge(-1_c_int64_t, value%count, iand(value%quality, uncore_absent) /= 0)
        meter%quality(i) = value%quality
        meter%why(i) = ""
        if (iand(value%quality, uncore_absent) /= 0) meter%why(i) = from_c(c_why(meter%handle, value%why))
      end associate
      meter%seconds(i) = real(delta%window_ns, c_double) * 1d-9
      meter%error_bound(i) = real(delta%skew_ns, c_double) / real(max(delta%window_ns, 1_c_int64_t), c_double)
    end do
  end function

end module
