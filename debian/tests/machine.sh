# SPDX-License-Identifier: BSD-3-Clause
# Sourced by tests: starts the installed uncored on the stand-in machine, whose counters are the kernel's page faults,
# and ends it when the test ends. as_nobody COMMAND.. runs a command without privilege that uncored serves.
set -eu

folder=$AUTOPKGTEST_TMP
chmod 755 "$folder"
python3 -B tests/machines/mktree tests/machines/standin.machine "$folder/standin"
export UNCORE_SOCKET="$folder/socket"
uncored --root "$folder/standin" --socket "$UNCORE_SOCKET" 2>"$folder/log" &
uncored=$!

stop_uncored() {
	status=$?
	kill "$uncored"
	wait "$uncored" || status=1
	cat "$folder/log"
	exit "$status"
}
trap stop_uncored EXIT

as_nobody() {
	setpriv --reuid=nobody --regid=nogroup --clear-groups --inh-caps=-all "$@"
}

# The socket is there before uncored listens.
tries=100
until socket=$(grep "$UNCORE_SOCKET\$" /proc/net/unix) && [ "$(echo "$socket" | cut -d' ' -f4)" = 00010000 ]; do
	tries=$((tries - 1))
	[ $tries -gt 0 ] && kill -0 "$uncored"
	sleep 0.1
done
