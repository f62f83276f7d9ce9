#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# papi-metric-error.md: metrics have an error, first one while its agent lives, then all because the agent has ended.
export PMCD_RESTART_AGENTS=0
source "$(dirname "$0")/private-pmcd.sh"

again='pmstore -h local: -- control.dodgey -12389 # PM_ERR_AGAIN'
steps pcp:::perfevent.dodgey:d1 pcp:::perfevent.pdu pcp:::perfevent.wrap start read "$again" misread
pmstore -h local: control.dodgey 5 >/dev/null
end_agent='kill -KILL $(pgrep -P $pmcd -f "pmdasample -d 29"); sleep 1'
steps pcp:::perfevent.pdu start "$end_agent" misread misread
steps
verdict 3 'status (139|255)|without a value: rc 0'
