# SPDX-License-Identifier: BSD-3-Clause
"""Runs experiments of the papers on the simulated memory controller: ./dev papers.

Usage: run_experiments.py [--all] [--csv FILE] [EXPERIMENT...]
"""
import argparse
import resource
import sys

import report
import simulate
from experiments.catalogue import EXPERIMENTS
from experiments.scope import Scope

ENDING = "\n".join(f"  {e.name:18} {e.title}" for e in EXPERIMENTS)


def arguments():
    parser = argparse.ArgumentParser(prog="./dev papers", epilog="Experiments:\n" + ENDING,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="also the sizes that take minutes")
    parser.add_argument("--csv", metavar="FILE", help="write all rows to this file")
    parser.add_argument("experiments", metavar="EXPERIMENT", nargs="*", help="these only")
    given = parser.parse_args()
    unknown = set(given.experiments) - {e.name for e in EXPERIMENTS}
    if unknown:
        parser.error(f"there is no experiment {', '.join(sorted(unknown))}; the experiments are:\n{ENDING}")
    return given


def child_cpu_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run_one(experiment, scope):
    print(f"\n{experiment.name}: {experiment.title}")
    if experiment.note:
        print(f"  {experiment.note}")
    before = child_cpu_s()
    rows = list(experiment.rows(scope))
    report.print_rows(rows)
    print(f"  {child_cpu_s() - before:.1f} s of CPU time", flush=True)
    return rows


def main():
    given = arguments()
    why = simulate.missing()
    if why:
        sys.exit(f"Nothing can be simulated: {why}.")
    print(report.TITLE)
    scope = Scope.ALL if given.all else Scope.USUAL
    wanted = [e for e in EXPERIMENTS if e.name in given.experiments or not given.experiments]
    results = {e.name: run_one(e, scope) for e in wanted}
    if given.csv:
        report.write_csv(given.csv, results)
        print(f"\nAll rows are in {given.csv}.")
    rows = [row for of_one in results.values() for row in of_one]
    failed = [row for row in rows if row.failures()]
    print(f"\n{len(rows) - len(failed)} of {len(rows)} rows are as their models say.")
    n_put_in = sum(row.evaded > 0 for row in rows)
    print(f"In {n_put_in} of them a share of evaded write-allocates is put in, and the models get the same share: they test "
          "simulator,\ncounters and arithmetic, and say nothing about a CPU.")
    return len(failed) > 0


if __name__ == "__main__":
    sys.exit(main())
