#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# verify-export.sh UNIT..: systemd-analyze has no complaint about the units of `uncore export`. It wants
# an existing program and user, and neither need be installed: /bin/true and nobody stand in.
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

for unit in "$@"; do
	sed -e "s|^ExecStart=[^ ]*|ExecStart=/bin/true|" -e 's/^\(User\|Group\)=.*//' "$unit" >"$folder/$(basename "$unit")"
done
messages=$(systemd-analyze verify --man=no "$folder"/* 2>&1) || messages+=$'\n'"systemd-analyze verify failed."
if [[ -n $messages ]]; then
	printf '%s\n' "$messages" "Mend the units of uncore export in systemd/." >&2
	exit 1
fi
