#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# exposure.sh SERVICE: the unit's exposure, as systemd-analyze measures it, is at most 1.0.
set -euo pipefail

exec systemd-analyze security --offline=true --threshold=10 --no-pager "$1"
