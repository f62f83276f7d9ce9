#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# papi-restarted-agent.md: pmcd starts an agent again, whose counters begin at 0.
source "$(dirname "$0")/private-pmcd.sh"

end_agent='kill -KILL $(pgrep -P $pmcd -f "pmdasample -d 29"); sleep 1'
steps "$traffic" pcp:::perfevent.pdu start read "$end_agent" read read read reset read
verdict 1 'rc 0, values -'
