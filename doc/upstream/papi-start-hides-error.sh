#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# papi-start-hides-error.md: between two measurements another agent is removed from pmcd.
source "$(dirname "$0")/private-pmcd.sh"

remove='sed -i /^another/d $PCP_RUN_DIR/pmcd.conf; kill -HUP $pmcd; sleep 2'
steps pcp:::perfevent.pdu start read "$traffic" stop "$remove" start read
verdict 1 'rc 0, values [0-9]{2,}$'
