#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# exposure.sh SERVICE: the sandbox of the unit is as tight as systemd-analyze can see: at most 1.0.
set -euo pipefail

exec systemd-analyze security --offline=true --threshold=10 --no-pager "$1"
