# SPDX-License-Identifier: BSD-3-Clause
# Sourced by the reproducers about PAPI: a private pmcd, of any user. It serves metrics of PCP's own agent "sample" below
# perfevent, where PAPI's component pcp looks for events. Another agent, of the same program, has no metrics.
# PAPI: the folder with include/ and lib/ of a PAPI that has the component.

here=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
pmcd=
trap '[[ -z $pmcd ]] || kill $pmcd; wait; rm -rf "$work"' EXIT
PAPI=$(readlink -f "${PAPI:-none}")
agent=/var/lib/pcp/pmdas/sample/pmdasample
export PCP_RUN_DIR=$work PCP_LOG_DIR=$work PCP_TMP_DIR=$work PCP_TMPFILE_DIR=$work PCP_DERIVED_CONFIG=
export PMCD_SOCKET=$work/socket PMCD_ROOT_AGENT=0 LD_LIBRARY_PATH=$PAPI/lib

cannot() {
	echo "Cannot run: $1"
	exit 77
}

# $1: a number; $2: a pattern of grep, of which the steps' output has so many lines if the defect is there.
verdict() {
	cat "$work/out"
	[[ $(grep -cE "$2" "$work/out") -ge $1 ]] && echo "Fails as described." && exit 0
	echo "Does not fail as described."
	exit 3
}

# Runs papi-steps, and keeps its output and its status.
steps() {
	("$work/papi-steps" "$@" 2>&1; echo "status $?") >>"$work/out" 2>&1
}

# shellcheck disable=SC2016,SC2034 # a step of two of the scripts: the agent's count of messages grows by three each time
traffic='for i in $(seq 20); do pmprobe -h local: perfevent.pdu; done >/dev/null'

wait_for_agent() {
	for _ in $(seq 200); do
		[[ $(pmprobe -h local: perfevent.pdu 2>&1) == *" 1" ]] && return
		sleep 0.1
	done
	cannot "the agent does not answer: $(tail -n 5 "$work/pmcd.log")"
}

[[ -x $agent ]] || cannot "Debian's package pcp is not installed."
[[ -e $PAPI/lib/libpapi.so ]] || cannot "set PAPI to the folder of a PAPI that has component pcp."
cc -I"$PAPI/include" -o "$work/papi-steps" "$here/papi-steps.c" -L"$PAPI/lib" -lpapi || exit 2

cat >"$work/pmcd.conf" <<-END
	pmcd 2 dso pmcd_init /var/lib/pcp/pmdas/pmcd/pmda_pmcd.so
	sample 29 pipe binary $agent -d 29 -l $work/sample.log
	another 30 pipe binary $agent -d 30 -l $work/another.log
END
cat >"$work/names" <<-END
	root { pmcd perfevent control }
	pmcd { numagents 2:0:0 }
	perfevent {
		pdu 29:0:40
		dodgey 29:0:62
		wrap 29:0:60
	}
	control { dodgey 29:0:61 }
END
/usr/lib/pcp/bin/pmcd -f -A -c "$work/pmcd.conf" -n "$work/names" -p 0 -s "$PMCD_SOCKET" -l "$work/pmcd.log" \
	-x "$work/fatal" &
export pmcd=$!
wait_for_agent
