# SPDX-License-Identifier: BSD-3-Clause
"""What the programs that boot a guest are told."""
import argparse
import pathlib


def parse(suites, about):
    """images: a folder; suite: names, in the order in which they run, all if none was wanted; shell: yes or no;
    limit: seconds, or None."""
    parser = argparse.ArgumentParser(usage="main.py IMAGES [SUITE..] [--limit SECONDS] | IMAGES --shell",
                                     description=about)
    parser.add_argument("images", type=pathlib.Path, metavar="IMAGES",
                        help="the folder that ./dev guest makes")
    parser.add_argument("suite", nargs="*", metavar="SUITE", help="one of: " + " ".join(suites))
    parser.add_argument("--limit", type=int, metavar="SECONDS",
                        help="give a boot up after this time, instead of the guest's own")
    parser.add_argument("--shell", action="store_true", help="no suites: its console on this terminal")
    options = parser.parse_args()
    for name in options.suite:
        if name not in suites:
            parser.error(f"there is no suite {name!r} in this guest; there are: {' '.join(suites)}")
    options.suite = [name for name in suites if not options.suite or name in options.suite]
    return options
