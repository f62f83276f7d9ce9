# SPDX-License-Identifier: BSD-3-Clause
# ./dev demo: uncored with privilege, its user without, on this machine's own counters if it has any
# that uncored knows, else on the stand-in machine. Ends by itself and leaves nothing behind.

DEMO_DAEMON=$PWD/build/daemon/uncored
DEMO_PLATFORMS=$PWD/conf/platforms
DEMO_STANDIN=$PWD/build/tests/machines/standin
DEMO_PAGES=25600
DEMO_START_SECONDS=10
demo_folder=
demo_job=     # the daemon
demo_command= # what the user runs at the moment

demo_is_running() {
	[[ -n $demo_job && -d /proc/$demo_job ]]
}

demo_has_ended() {
	! demo_is_running
}

# Ends the daemon, by the process number that it left: SIGTERM, and if that is not heard within five
# seconds, SIGKILL. What sudo started, only root may signal.
demo_stop() {
	if demo_is_running; then
		as_root kill -TERM "$(cat "$demo_folder/pid")" || true
		demo_wait_for 5 demo_has_ended || {
			say "uncored did not end within 5 seconds after SIGTERM: killing it."
			as_root kill -KILL "$(cat "$demo_folder/pid")" || true
		}
	fi
	[[ -z $demo_job ]] || wait "$demo_job" || {
		say "uncored ended with status $?. It said:" "$(cat "$demo_folder/log")"
		return 1
	}
}

demo_stop_command() {
	if [[ -n $demo_command ]]; then
		kill -TERM "$demo_command" 2>/dev/null || true
		wait "$demo_command" || true
	fi
}

# Leaves no process and no folder behind, however the demo ends.
demo_end() {
	local status=$?

	trap - EXIT
	demo_stop_command
	demo_stop || status=1
	rm -rf "$demo_folder"
	exit "$status"
}

# Repeats a command until it succeeds, for at most $1 seconds.
demo_wait_for() {
	local end=$((SECONDS + $1))
	shift

	until "$@"; do
		[[ $SECONDS -lt $end ]] || return 1
		sleep 0.05
	done
}

# Becomes a command without any privilege: as the user that called sudo, or as nobody.
demo_exec_as_user() {
	local uid=${SUDO_UID:-0} gid=${SUDO_GID:-0}

	if ! is_root; then
		exec "$@"
	fi
	if [[ $uid -eq 0 ]]; then
		uid=65534 gid=65534
	fi
	exec setpriv --reuid="$uid" --regid="$gid" --clear-groups --inh-caps=-all "$@"
}

# Does uncored find at least one counter box of its own on this machine?
demo_has_own_counters() {
	"$DEMO_DAEMON" --platforms "$DEMO_PLATFORMS" --check --json 2>/dev/null | python3 -c '
import json, sys
try:
    plan = json.load(sys.stdin)
except ValueError:
    sys.exit(1)
sys.exit(not any(socket["boxes"] for socket in plan["sockets"]))'
}

# The tree may lie where only its owner can enter: the user gets copies.
demo_fill_folder() {
	mkdir "$demo_folder/bin"
	cp build/client/uncore build/tests/workload/touch-pages "$demo_folder/bin/"
	cp build/client/libuncore.so* "$demo_folder/bin/" 2>/dev/null || true
	chmod -R a+rX "$demo_folder"
}

# Starts uncored in the background; the shell around it only leaves its process number.
demo_start() {
	# shellcheck disable=SC2016
	as_root bash -c 'echo $$ >"$1/pid"; shift; exec "$@"' start-uncored "$demo_folder" \
		"$DEMO_DAEMON" --platforms "$DEMO_PLATFORMS" --socket "$demo_folder/socket" "$@" \
		>"$demo_folder/log" 2>&1 </dev/null &
	demo_job=$!
}

demo_answers() {
	[[ -S $demo_folder/socket ]] && demo_user_command uncore info >/dev/null 2>&1
}

demo_await_daemon() {
	demo_wait_for "$DEMO_START_SECONDS" eval 'demo_answers || demo_has_ended' ||
		fail "uncored did not answer within $DEMO_START_SECONDS seconds."
	demo_is_running || fail "uncored did not start."
}

# In the background, so that the demo can be interrupted; timeout passes a signal on to all that the
# command started.
demo_user_command() {
	local status=0

	(demo_exec_as_user env PATH="$demo_folder/bin:$PATH" LD_LIBRARY_PATH="$demo_folder/bin" \
		UNCORE_SOCKET="$demo_folder/socket" timeout 60 "$@") &
	demo_command=$!
	wait "$demo_command" || status=$?
	demo_command=
	return "$status"
}

# Shows a command as one would type it, and runs it.
demo_show() {
	printf '\n$ %s\n' "$*"
	demo_user_command "$@" || fail "'$*' failed with status $?. uncored said:" "$(cat "$demo_folder/log")"
}

demo_last_cpu() {
	sed 's/.*[-,]//' /sys/devices/system/cpu/online
}

demo_run() {
	local where=()

	build_run
	is_root || as_root true
	if demo_has_own_counters; then
		echo "This machine has counters that uncored knows: the numbers below are its memory traffic."
	else
		where=(--root "$DEMO_STANDIN")
		echo "This machine has no counters that uncored knows, so uncored runs on the stand-in machine:"
		echo "the kernel's own counters (page faults, the CPU clock) in the place of memory controllers."
		echo "The numbers below are NOT memory traffic: every page that is touched counts as 4096 bytes."
	fi
	demo_folder=$(mktemp -d "${TMPDIR:-/tmp}/uncored-demo.XXXXXX")
	trap demo_end EXIT
	demo_fill_folder
	demo_start "${where[@]}"
	demo_await_daemon
	printf '\nuncored runs as root; from here on everything runs as %s, without privilege.\n' \
		"$(demo_exec_as_user id -un 2>/dev/null || echo 'another user')"
	demo_show uncore info
	demo_show uncore stat -- touch-pages "$DEMO_PAGES" "$(demo_last_cpu)"
	printf '\nThat was the demo; uncored is stopped now. README.md says how to install it.\n'
}
