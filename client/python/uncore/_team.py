# SPDX-License-Identifier: BSD-3-Clause
"""The team of a program that uses multiprocessing: one report for the program and its children.

libuncore finds the team of a process in the variables of launchers. Where there is none, and multiprocessing is there
when the first region begins, the program gets a team of its own, which children inherit, forked or spawned.
"""
from __future__ import annotations

import os
import sys
import time
import warnings

from ._library import lib

# As in client/launcher/launch.c. A name that is here has a team already.
VARIABLES = ("UNCORE_TEAM", "PMIX_NAMESPACE", "PMI_JOBID", "OMPI_MCA_ess_base_jobid", "MPI_LOCALNRANKS", "SLURM_STEP_ID",
             "PALS_APID", "FLUX_JOB_ID", "PBS_JOBID")
_imported_by = os.getpid()
_settled = 0  # the process whose team is settled
_shares = False  # a forked child has the table of its parent, in which regions had begun


def _has_one() -> bool:
    return any(os.environ.get(name) for name in VARIABLES)


def make() -> None:
    """A team of its own for this process and its children, unless it has one."""
    if not _has_one():
        os.environ["UNCORE_TEAM"] = f"python-{os.getpid()}-{time.time_ns()}"


def settle() -> None:
    """Before the first region of a process."""
    if _settled != os.getpid():
        _settle()


def _settle() -> None:
    global _settled, _shares
    _shares = _settled != 0
    _settled = os.getpid()
    multiprocessing = sys.modules.get("multiprocessing")
    if multiprocessing is None:
        return
    # A child that imports its parent's program does not know its parent yet, and forgets finalizers afterwards.
    imports = getattr(multiprocessing.process.current_process(), "_inheriting", False)
    if multiprocessing.parent_process() is None and not imports:
        make()
        return
    # A child that is forked, also by a fork server, ends without the library's own end.
    if imports:
        from multiprocessing import util
        util.register_after_fork(sys.modules[__name__], _await_end)
    else:
        _await_end()
    if not _has_one() and not _shares:
        warnings.warn(f"Process {_settled} has a report of its own: the regions of its parent began before multiprocessing "
                      "was imported. Import it first, or set UNCORE_TEAM.", RuntimeWarning, stacklevel=4)
        _name_own_report()


def _await_end(_module: object = None) -> None:
    from multiprocessing import util
    util.Finalize(None, _end_child, exitpriority=0)


def _name_own_report() -> None:
    """As libuncore names that of a forked child. Under one name, a child would take that of a child that ended before
    for the report of an earlier run, and replace it."""
    path = os.environ.get("UNCORE_REPORT", "")
    if path and "%p" not in path:
        os.environ["UNCORE_REPORT"] = f"{path}.%p"


def _end_child() -> None:
    """With others: a last reading. Alone: the report of a forked child, as libuncore names it."""
    if _has_one() or _shares:
        lib.uncore_region_report(os.devnull.encode())
    elif os.getpid() != _imported_by:
        _name_own_report()
        lib.uncore_region_report(os.environb.get(b"UNCORE_REPORT") or None)
