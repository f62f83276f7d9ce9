#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every source file names its licence in its first three lines.
set -euo pipefail
source "$(dirname "$0")/sources.sh"

status=0
while read -r file; do
	if ! head -n 3 "$file" | grep -q 'SPDX-License-Identifier: '; then
		echo "$file has no SPDX-License-Identifier line: add one at its top." >&2
		status=1
	fi
done < <(sources '*.c' '*.h' '*.S' '*.py' '*.sh' 'conf/slurm/*.in' 'debian/*.pre*' 'debian/*.post*' \
	debian/tests/{library,stand-in} 'packaging/*' tests/packages/{build-debs,pack-source} dev .ci/run)
exit $status
