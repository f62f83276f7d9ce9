#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every source file names its licence in its first three lines.
set -euo pipefail
source "$(dirname "$0")/sources.sh"

mapfile -t files < <(sources '*.c' '*.h' '*.S' '*.hpp' '*.cpp' '*.f90' '*.rs' '*.py' '*.sh' 'conf/slurm/*.in' 'debian/*.pre*' 'debian/*.post*' \
	debian/tests/{library,python,stand-in} 'packaging/*' tests/packages/{build-debs,pack-source} dev .ci/run)
awk '
	function complain() {
		if (file && !has) {
			print file " has no SPDX-License-Identifier line: add one at its top." >"/dev/stderr"
			status = 1
		}
	}
	FNR == 1 { complain(); file = FILENAME; has = 0 }
	/SPDX-License-Identifier: / { has = 1 }
	FNR == 3 { nextfile }
	END { complain(); exit status }
' "${files[@]}"
