# SPDX-License-Identifier: BSD-3-Clause
"""Clients in containers. Needs root, namespaces, and the tools that run containers."""
import shutil

import guide
import hosts
import pods
import reach
import runtimes
import tap
import teams
import users

PARTS = (reach, users, teams, pods, guide)


def why_not():
    missing = [tool for tool in (*runtimes.TOOLS, "musl-gcc") if not shutil.which(tool)]
    return hosts.why_not() or (f"needs {', '.join(missing)}: ./dev setup --tests installs them" if missing else "")


def main():
    reason = why_not()
    if reason:
        tap.skip_all(reason)
    hosts.enter()
    site = runtimes.Site()
    tap.run_functions([case for part in PARTS for case in part.cases(site)])


main()
