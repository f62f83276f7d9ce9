#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Every shell script is one that bash can parse.
set -euo pipefail
source "$(dirname "$0")/sources.sh"

status=0
while read -r file; do
	bash -n "$file" || status=1
done < <(sources '*.sh' dev .ci/run generate/completion.bash pmda/Install pmda/Remove 'conf/slurm/*.in' 'tests/docs/stand-ins/*' 'debian/*.pre*' \
	'debian/*.post*' debian/tests/{library,python,stand-in} tests/packages/{build-debs,pack-source} \
	tests/dev/{install-packages,on-a-leash})
exit $status
