#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# lint.sh PAGE: mandoc has no complaint about the page, except for the empty paragraphs that scdoc
# itself writes around headings and lists.
set -euo pipefail

messages=$(mandoc -T lint -W warning "$1" 2>&1 |
	grep -vE 'WARNING: skipping paragraph macro: PP (empty|after SH|after SS)$') || true
if [[ -n $messages ]]; then
	printf '%s\n' "$messages" "mandoc complains about $1: mend its source in man/." >&2
	exit 1
fi
