! SPDX-License-Identifier: BSD-3-Clause
module pdv_kernel_module
  use data_module
contains
  subroutine pdv_kernel(names)
    character(len=*), intent(in) :: names
    call standin_run(names // c_null_char)
  end subroutine
end module
