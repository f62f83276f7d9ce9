#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# header.sh INCLUDE_DIRECTORY SOURCE COMPILER [ARGUMENT..]: does SOURCE compile, without a warning?
set -eu
include=$1 source=$2
shift 2
exec "$@" -pedantic -Wall -Wextra -Werror -Wno-long-long -fsyntax-only -I"$include" "$source"
