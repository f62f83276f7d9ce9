#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every file of C and C++ is laid out as .clang-format says.
set -euo pipefail
source "$(dirname "$0")/sources.sh"

if ! sources '*.c' '*.h' '*.hpp' '*.cpp' | xargs -d '\n' -P "$(nproc)" -n 100 clang-format --dry-run -Werror; then
	echo "The files above are not laid out as .clang-format says: run clang-format -i on them." >&2
	exit 1
fi
