# SPDX-License-Identifier: BSD-3-Clause
"""Rows of an experiment: what a model says, what was simulated, and what the paper printed."""
import csv
import dataclasses

from models.traffic import Traffic

TITLE = """Simulated counts of a model of caches; not memory traffic of this or of any other machine.
The models are those of the papers."""


@dataclasses.dataclass(frozen=True)
class Pair:
    """A number that a model gives, or the two between which it leaves it open, and the simulated one."""
    model: float
    simulated: float
    upper: float = None
    scale: float = None  # deviations are shares of it; none: of the model

    @property
    def ratio(self):
        return self.simulated / self.model if self.model else None

    def deviates(self, tolerance):
        allowed = tolerance * (self.scale or self.model)
        upper = self.model if self.upper is None else self.upper
        return not self.model - allowed <= self.simulated <= upper + allowed


@dataclasses.dataclass(frozen=True)
class Row:
    case: str
    quantity: str
    figure: Pair          # what the paper shows
    tolerance: float      # share; each experiment says why
    published: str = ""
    parts: dict = dataclasses.field(default_factory=dict)  # {"read": Pair, ...}, checked as well
    evaded: float = 0     # the share of write-allocates that is put in: of such a row the answer is known before

    def failures(self):
        pairs = {self.quantity: self.figure, **self.parts}
        return [name for name, pair in pairs.items() if pair.deviates(self.tolerance)]


def parts_of(traffic: Traffic, moved, evaded=0.0, claims=False):
    """Read, written and, where the simulator claims lines, claimed bytes. A model of 0 is held against
    what is written."""
    reads = traffic.reads(evaded)
    parts = {"read": Pair(reads, moved.read, scale=max(reads, traffic.written)),
             "written": Pair(traffic.written, moved.written)}
    if claims:
        parts["claimed"] = Pair(evaded * traffic.allocated, moved.claimed, scale=traffic.written)
    return parts


def _number(value):
    return "-" if value is None else f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"


def _model(pair):
    return _number(pair.model) if pair.upper in (None, pair.model) else f"{_number(pair.model)} to {_number(pair.upper)}"


def _ratio(pair):
    return "-" if pair.ratio is None or pair.upper not in (None, pair.model) else f"{pair.ratio:.3f}"


HEAD = ("case", "quantity", "model", "simulated", "ratio", "put in", "published", "")


def _cells(row):
    figure, failures = row.figure, row.failures()
    return (row.case, row.quantity, _model(figure), _number(figure.simulated), _ratio(figure),
            f"{round(100 * row.evaded)} %" if row.evaded else "", row.published,
            f"FAILED: {', '.join(failures)}" if failures else "")


def print_rows(rows):
    """A table for people, with a mark and the names of the parts where a row fails."""
    lines = [HEAD, *map(_cells, rows)]
    widths = [max(len(line[i]) for line in lines) for i in range(len(HEAD))]
    for line in lines:
        texts = [text.rjust(width) if 2 <= i <= 5 else text.ljust(width)
                 for i, (text, width) in enumerate(zip(line, widths))]
        print("  " + "  ".join(texts).rstrip())


PARTS = ("read", "written", "claimed")
COLUMNS = ["experiment", "case", "quantity", "model", "model_upper", "simulated", "ratio", "tolerance",
           "evaded_put_in", "published", *(f"{part}_{side}" for part in PARTS for side in ("model", "simulated")), "verdict"]


def csv_line(experiment, row):
    figure = row.figure
    line = {"experiment": experiment, "case": row.case, "quantity": row.quantity, "model": figure.model,
            "model_upper": figure.upper, "simulated": figure.simulated, "ratio": figure.ratio,
            "tolerance": row.tolerance, "evaded_put_in": row.evaded, "published": row.published,
            "verdict": "failed: " + " ".join(row.failures()) if row.failures() else "as the model"}
    for part, pair in row.parts.items():
        line[f"{part}_model"], line[f"{part}_simulated"] = pair.model, pair.simulated
    return line


def write_csv(path, results):
    """results: {experiment: rows}"""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(csv_line(name, row) for name, rows in results.items() for row in rows)
