#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# verify.sh SERVICE SOCKET DROPIN..: systemd-analyze has no complaint about the units, alone and with
# each drop-in. It wants an existing program, and uncored need not be installed: /bin/true stands in.
set -euo pipefail

service=$1 socket=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

verify() {
	local what=$1 messages

	messages=$(systemd-analyze verify --man=no "$folder/uncored.service" "$folder/uncored.socket" 2>&1) ||
		messages+=$'\n'"systemd-analyze verify failed."
	if [[ -n $messages ]]; then
		printf '%s\n' "$messages" "Mend the units $what in systemd/." >&2
		exit 1
	fi
}

sed "s|^ExecStart=.*|ExecStart=/bin/true|" "$service" >"$folder/uncored.service"
cp "$socket" "$folder/"
verify "alone"
mkdir "$folder/uncored.service.d"
for dropin in "$@"; do
	cp "$dropin" "$folder/uncored.service.d/"
	verify "with $(basename "$dropin")"
done
