# SPDX-License-Identifier: BSD-3-Clause
"""The phases of papi-timeline, and what every timeline of it must show, whatever counts its memory."""
import csv
import io

PHASES = ["fill", "transform", "resort", "exchange", "resort", "transform"]
STEPS = 4  # of each phase
ROWS = 2048
FILLED_BYTES = 2 * ROWS * (ROWS + 8) * 8
WORK, EXCHANGED_BYTES = 1024 * 2000, 256 * 64 * 1024  # of one step of transform, and of exchange
EVENTS = ["io:::wchar", "sde:::phases::work"]  # which the program counts beside those of the memory


def rows_of(text, memory):
    """Yields the rows of a timeline's CSV: the phase, "written" and "work", and the sum of each list of events that
    memory has a name for."""
    for row in csv.DictReader(io.StringIO(text)):
        yield {"phase": row["phase"], "written": int(row[EVENTS[0]]), "work": int(row[EVENTS[1]]),
               **{name: sum(int(row[event]) for event in events) for name, events in memory.items()}}


def phase_seen(row, is_fill):
    """By the events alone."""
    if row["work"]:
        return "transform"
    if row["written"]:
        return "exchange"
    return "fill" if is_fill(row) else "resort"


def check_phases(case, rows, is_fill):
    """case is a unittest's; is_fill(row) tells filling from sorting by the events of the memory."""
    case.assertEqual([row["phase"] for row in rows], [phase for phase in PHASES for _ in range(STEPS)])
    case.assertEqual([phase_seen(row, is_fill) for row in rows], [row["phase"] for row in rows])
    case.assertEqual({row["work"] for row in rows}, {0, WORK})
    case.assertEqual({row["written"] for row in rows}, {0, EXCHANGED_BYTES})
