# SPDX-License-Identifier: BSD-3-Clause
"""The options of the programs that boot a guest."""
import argparse
import pathlib
import sys


def parse(kind, suites, simulates=False):
    """images: a folder; suite: names, in the order in which they run, all if none was wanted; shell: yes or no;
    limit: seconds, or None; where machines are simulated, all: yes or no, append: words."""
    parser = argparse.ArgumentParser(
        prog=f"./dev guest {kind}", allow_abbrev=False,
        description="Makes an emulated machine, boots it, runs suites in there and prints what they say as TAP. "
                    "The exit status is 0 if every case passed.")
    parser.add_argument("images", type=pathlib.Path, help=argparse.SUPPRESS)  # the folder of the guest
    parser.add_argument("suite", nargs="*", metavar="SUITE", help="all unless told: " + " ".join(suites))
    parser.add_argument("--limit", type=int, metavar="SECONDS",
                        help="give a boot up after this time, instead of the guest's own")
    parser.add_argument("--shell", action="store_true", help="no suites: its console on this terminal")
    if simulates:
        parser.add_argument("--all", action="store_true",
                            help="also what takes long: all machines, kernels, defects, unit tests, and more kills")
        parser.add_argument("--append", default="", metavar="WORDS",
                            help="more words for the kernel's command line: uncored.repeat=10")
    parser.add_argument("--make", action="store_true", help="no more than make it")
    options = parser.parse_intermixed_args()
    for name in options.suite:
        if name not in suites:
            parser.error(f"there is no suite {name!r} in this guest; there are: {' '.join(suites)}")
    if options.make:
        sys.exit(0)
    options.suite = [name for name in suites if not options.suite or name in options.suite]
    return options
