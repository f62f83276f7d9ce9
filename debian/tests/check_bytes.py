# SPDX-License-Identifier: BSD-3-Clause
"""check_bytes.py LEAST: is dram.read, all sockets together, at least that in the JSON on stdin? The JSON is that of
`uncore stat` or of a program's regions."""
import json
import sys

report = json.load(sys.stdin)
sockets = report["sockets"] if "sockets" in report else report["regions"][0]["sockets"]
found = sum(socket["metrics"]["dram.read"]["bytes"] for socket in sockets)
print(f"dram.read {found} bytes, should be at least {sys.argv[1]}")
sys.exit(found < int(sys.argv[1]))
