# SPDX-License-Identifier: BSD-3-Clause
# ./dev demo: uncored with privilege, its user without, on this machine's own counters if it has any
# that uncored knows, else on the simulated machine (tests/traffic), and where that cannot run, on the
# stand-in machine. Ends by itself and leaves nothing behind.

DEMO_DAEMON=$PWD/build/daemon/uncored
DEMO_PLATFORMS=$PWD/conf/platforms
DEMO_MACHINES=$PWD/build/tests/machines
DEMO_TRAFFIC=$PWD/build/tests/traffic
DEMO_TARGETS=(daemon/uncored client/uncore tests/workload/{touch-pages,copy-arrays} tests/machines/machines.stamp)
DEMO_SIMULATION=(tests/traffic/{plugin/memory-controller.so,simulated-pmu.so})
DEMO_PAGES=25600
DEMO_MIB=256
DEMO_SIMULATED_MIB=64 # the emulator is slow
DEMO_START_SECONDS=10
demo_folder=
demo_job=     # who starts and ends the daemon
demo_leash=   # a pipe to it: the daemon ends when nobody holds the other end
demo_command= # what the user runs at the moment
demo_kind=    # of counters: own, simulated, standin

demo_is_running() {
	[[ -n $demo_job && -d /proc/$demo_job ]]
}

demo_has_ended() {
	! demo_is_running
}

# Lets the daemon end, which takes at most five seconds.
demo_stop() {
	local status=0 how

	[[ -n $demo_job ]] || return 0
	exec {demo_leash}>&-
	wait "$demo_job" 2>/dev/null || status=$?
	[[ $status -ne 0 ]] || return 0
	how="ended with status $status"
	[[ $status -ne 127 ]] || how="had ended before" # bash has forgotten how
	say "uncored $how. It said:" "$(cat "$demo_folder/log")"
	return 1
}

# Ends the command with all that it started, which is the group of timeout, and lets none of them say a word.
demo_stop_command() {
	[[ -n $demo_command ]] || return 0
	kill -KILL -- "-$demo_command" 2>/dev/null || true
	# Bash forgets the end of one that ended as the signal came, and would wait for it forever.
	! kill -KILL "$demo_command" 2>/dev/null || wait "$demo_command" 2>/dev/null || true
}

# A machine without counters is for trying out: an installation would count nothing there.
demo_say_what_is_next() {
	printf '\nThat was the demo; uncored is stopped now.\n'
	[[ $demo_kind == own ]] || ! traffic_can_run || printf '%s\n' \
		"\`./dev traffic -- PROGRAM\` runs any program of x86-64 on the simulated machine."
	echo 'README.md says how to install uncored where there are counters.'
}

# Leaves no process and no folder behind, however the demo ends.
demo_end() {
	local status=$?

	trap - EXIT
	trap '' INT TERM # it ends anyway
	demo_stop_command
	demo_stop || status=1
	rm -rf "$demo_folder"
	[[ $status -le 128 ]] || printf '\nuncored is stopped.\n' # by a signal: Ctrl-C
	[[ $status -ne 0 ]] || demo_say_what_is_next
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

# Prints uid and gid of the user without privilege: the one that called sudo, or nobody.
demo_user_ids() {
	if ! is_root; then
		echo "$(id -u) $(id -g)"
	elif [[ ${SUDO_UID:-0} -ne 0 ]]; then
		echo "$SUDO_UID $SUDO_GID"
	else
		echo 65534 65534
	fi
}

# Becomes a command without any privilege, which ends if the demo is killed.
demo_exec_as_user() {
	local uid gid

	if ! is_root; then
		exec setpriv --pdeathsig TERM "$@"
	fi
	read -r uid gid <<<"$(demo_user_ids)"
	exec setpriv --reuid="$uid" --regid="$gid" --clear-groups --inh-caps=-all --pdeathsig TERM "$@"
}

# Does uncored know counters of this machine?
demo_has_own_counters() {
	"$DEMO_DAEMON" --platforms "$DEMO_PLATFORMS" --check >/dev/null 2>&1
}

# The tree may lie where only its owner can enter: the user gets copies.
demo_fill_folder() {
	mkdir "$demo_folder/bin"
	cp build/client/uncore build/tests/workload/{touch-pages,copy-arrays} "$demo_folder/bin/"
	cp build/client/libuncore.so* "$demo_folder/bin/" 2>/dev/null || true
	if [[ $demo_kind == simulated ]]; then
		demo_write_launcher
		truncate -s 64K "$demo_folder/counters"
		! is_root || chown "$(demo_user_ids | tr ' ' :)" "$demo_folder/counters"
	fi
	chmod -R a+rX "$demo_folder"
}

# `simulated PROGRAM` runs it in the emulator, whose plugin counts. The machine has two sockets if there
# are as many CPUs.
demo_write_launcher() {
	local sockets=2

	[[ $(nproc --all) -gt 1 ]] || sockets=1
	cp "$DEMO_TRAFFIC/plugin/memory-controller.so" "$demo_folder/bin/"
	cat >"$demo_folder/bin/simulated" <<-END
		#!/bin/sh
		program=\$(command -v "\$1")
		shift
		exec qemu-x86_64 -cpu max -plugin \\
			'$demo_folder/bin/memory-controller.so,counters=$demo_folder/counters,sockets=$sockets' \\
			"\$program" "\$@"
	END
	chmod a+x "$demo_folder/bin/simulated"
}

# Starts uncored in the background. It is in a session of its own, so that Ctrl-C ends the demo and the demo ends uncored.
demo_start() {
	local preload=()

	if [[ $demo_kind == simulated ]]; then
		preload=(env LD_PRELOAD="$DEMO_TRAFFIC/simulated-pmu.so" TRAFFIC_COUNTERS="$demo_folder/counters")
	fi
	exec {demo_leash}> >(trap '' INT; as_root setsid --wait "$PWD/tests/dev/on-a-leash" "${preload[@]}" "$DEMO_DAEMON" \
		--platforms "$DEMO_PLATFORMS" --socket "$demo_folder/socket" "$@" >"$demo_folder/log" 2>&1)
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
		UNCORE_SOCKET="$demo_folder/socket" timeout 60 "$@" {demo_leash}>&-) &
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

demo_choose_machine() {
	demo_kind=own
	demo_has_own_counters || demo_kind=standin
	if [[ $demo_kind == standin ]] && traffic_can_run; then
		setup_packages "${SETUP_TO_SIMULATE[@]}"
		demo_kind=simulated
	fi
}

demo_say_what_it_counts() {
	case $demo_kind in
	own)
		echo "This machine has counters that uncored knows: the numbers below are its memory"
		echo "traffic."
		;;
	simulated)
		echo "This machine has no counters that uncored knows, so uncored runs on the"
		echo "simulated machine: a program runs in an emulator, and a model of caches counts"
		echo "the bytes that its loads and stores move. The word 'standin' marks its numbers."
		echo "They are NOT memory traffic of this machine."
		;;
	standin)
		echo "This machine has no counters that uncored knows, so uncored runs on the"
		echo "stand-in machine: the kernel's own counters (page faults, the CPU clock) in the"
		echo "place of memory controllers. The numbers below are NOT memory traffic: every"
		echo "page that is touched counts as 4096 bytes."
		;;
	esac
}

demo_show_traffic() {
	local cpu

	cpu=$(demo_last_cpu)
	case $demo_kind in
	own) demo_show uncore stat -- copy-arrays "$DEMO_MIB" "$cpu" ;;
	simulated) demo_show uncore stat -- simulated copy-arrays "$DEMO_SIMULATED_MIB" "$cpu" ;;
	standin) demo_show uncore stat -- touch-pages "$DEMO_PAGES" "$cpu" ;;
	esac
}

# Before anything is built, which takes minutes.
demo_need_root() {
	is_root || { command -v sudo >/dev/null && sudo true; } ||
		fail "The demo runs uncored as root: run it as root, or as a user who may use sudo."
}

demo_run() {
	local where=()

	demo_need_root
	setup_to_build
	say "Building what the demo needs into build/"
	! traffic_can_run || DEMO_TARGETS+=("${DEMO_SIMULATION[@]}")
	build_in build "${DEMO_TARGETS[@]}"
	is_root || as_root true
	demo_choose_machine
	demo_say_what_it_counts
	[[ $demo_kind == own ]] || where=(--root "$DEMO_MACHINES/$demo_kind")
	demo_folder=$(mktemp -d "${TMPDIR:-/tmp}/uncored-demo.XXXXXX")
	trap demo_end EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	demo_fill_folder
	demo_start "${where[@]}"
	demo_await_daemon
	printf '\nuncored runs as root; from here on everything runs as %s,\nwithout privilege.\n' \
		"$(demo_exec_as_user id -un 2>/dev/null || echo 'another user')"
	demo_show uncore info
	demo_show_traffic
}
