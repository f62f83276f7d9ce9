# SPDX-License-Identifier: BSD-3-Clause
"""What the sockets moved between two readings."""
from __future__ import annotations

import ctypes as c
import errno
import html
import json
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Type, Union, overload

from ._library import (ABSENT, CACHED, FRESH, Absent, Daemon, Delta, Error, Machine, Sample, lib, new_samples, text_of,
                       words_of)

_LOST = (errno.ENOTCONN, errno.EACCES)  # a new handle may go on
_HEAD = ("socket", "metric", "count", "unit", "GB/s", "error", "quality")
_NUMBERS = ("count", "GB/s", "error")
_STANDIN = "standin: nothing here is memory traffic of this machine; it is for testing."


@dataclass(frozen=True)
class Value:
    """What one metric counted on one socket. Without a count it has the reason (absent)."""
    metric: str
    unit: str
    quality: Tuple[str, ...]
    absent: Optional[str]
    error: Optional[float]  # bound for steady traffic, in the unit; None: not known
    _count: int

    @property
    def count(self) -> int:
        """In the metric's unit; raises Absent."""
        if self.absent is not None:
            raise Absent(errno.ENODATA, f"{self.metric} is absent: {self.absent}")
        return self._count

    @property
    def bytes(self) -> int:
        """Raises Absent, and TypeError where the unit is another."""
        if self.unit != "bytes":
            raise TypeError(f"{self.metric} is in {self.unit}: use count")
        return self.count


class Socket(Mapping[str, Value]):
    """The values of one socket, by metric."""

    def __init__(self, values: Dict[str, Value], window_ns: int, skew_ns: int):
        self._values, self.seconds, self.skew_seconds = values, window_ns * 1e-9, skew_ns * 1e-9

    def __getitem__(self, metric: str) -> Value:
        return self._values[metric]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def rate(self, metric: str) -> Optional[float]:
        """In units a second; None: absent, or the window is empty."""
        value = self[metric]
        return None if value.absent is not None or not self.seconds else value.count / self.seconds


class Traffic(Sequence[Socket]):
    """By socket, what was counted: traffic[0]["dram.read"].bytes. Empty until it was measured."""

    def __init__(self) -> None:
        self._sockets: Optional[List[Socket]] = None

    @property
    def sockets(self) -> List[Socket]:
        """All, from 0."""
        if self._sockets is None:
            raise RuntimeError("This is not measured yet: it is at the end of the with block.")
        return self._sockets

    @overload
    def __getitem__(self, index: int) -> Socket: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Socket]: ...

    def __getitem__(self, index: Union[int, slice]) -> Union[Socket, Sequence[Socket]]:
        return self.sockets[index]

    def __len__(self) -> int:
        return len(self.sockets)

    def rows(self) -> List[Dict[str, Any]]:
        """A row for each socket and metric, for pandas.DataFrame() and csv.DictWriter. None: absent, or not known."""
        return [{"socket": number, "metric": name, "count": None if value.absent is not None else value.count,
                 "unit": value.unit, "per_second": socket.rate(name), "seconds": socket.seconds, "error": value.error,
                 "quality": " ".join(value.quality), "absent": value.absent or ""}
                for number, socket in enumerate(self.sockets) for name, value in socket.items()]

    def _cells(self) -> Iterator[Tuple[str, ...]]:
        for row in self.rows():
            if row["count"] is not None:
                rate = row["per_second"] if row["unit"] == "bytes" else None
                yield (str(row["socket"]), row["metric"], f"{row['count']:,}", row["unit"],
                       "" if rate is None else f"{rate / 1e9:.3f}",
                       "" if row["error"] is None else f"±{row['error']:,.0f}", row["quality"])

    def _notes(self) -> Iterator[str]:
        """On what is absent, and why; on a stand-in."""
        names: Dict[str, List[str]] = {}
        for value in (value for socket in self.sockets for value in socket.values() if value.absent is not None):
            if value.metric not in names.setdefault(str(value.absent), []):
                names[str(value.absent)].append(value.metric)
        yield from (f"absent: {', '.join(metrics)} ({why})" for why, metrics in names.items())
        if any("standin" in value.quality for socket in self.sockets for value in socket.values()):
            yield _STANDIN

    def __str__(self) -> str:
        rows = [_HEAD, *self._cells()]
        widths = [max(len(row[i]) for row in rows) for i in range(len(_HEAD))]
        lines = ["  ".join(cell.rjust(width) if name in _NUMBERS else cell.ljust(width)
                           for name, cell, width in zip(_HEAD, row, widths)).rstrip() for row in rows]
        return "\n".join([*lines, *self._notes()])

    def __repr__(self) -> str:
        return "<uncore.Traffic, not measured yet>" if self._sockets is None else str(self)

    def _repr_html_(self) -> str:
        """For notebooks."""
        def line(kind: str, row: Tuple[str, ...]) -> str:
            return "<tr>" + "".join(
                f'<{kind} style="text-align:{"right" if name in _NUMBERS else "left"}">{html.escape(cell)}</{kind}>'
                for name, cell in zip(_HEAD, row)) + "</tr>"

        table = "".join([line("th", _HEAD), *(line("td", row) for row in self._cells())])
        return f"<table>{table}</table>" + "".join(f"<p>{html.escape(note)}</p>" for note in self._notes())


class Meter:
    """A connection to uncored, for several readings: with uncore.Meter() as meter. One thread at a time uses it."""

    def __init__(self) -> None:
        self._handle = c.c_void_p()
        self._open()

    def _open(self) -> None:
        handle, machine, daemon = c.c_void_p(), Machine(size=c.sizeof(Machine)), Daemon(size=c.sizeof(Daemon))
        lib.uncore_open(None, c.byref(handle))
        self.close()
        self._handle = handle
        lib.uncore_describe(handle, c.byref(machine))
        lib.uncore_describe_daemon(handle, c.byref(daemon))
        self.platform: str = machine.platform.decode()
        self.n_sockets: int = machine.n_sockets
        self._quantum: int = daemon.quantum
        self.units: Dict[str, str] = {lib.uncore_metric_name(handle, i).decode(): lib.uncore_metric_unit(handle, i).decode()
                                      for i in range(machine.n_metrics)}

    def close(self) -> None:
        """May be called twice."""
        handle, self._handle = self._handle, c.c_void_p()
        lib.uncore_close(handle)

    def __enter__(self) -> Meter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if self._handle:
            self.close()

    def read(self, cached: bool = False) -> c.Array[Sample]:
        """All sockets as of now, or the last sweep, which may be old. After a restart of uncored it connects again."""
        try:
            return self._read(cached)
        except Error as error:
            if error.errno not in _LOST:
                raise
        self._open()
        return self._read(cached)

    def _read(self, cached: bool) -> c.Array[Sample]:
        samples = new_samples(self.n_sockets)
        lib.uncore_read_all(self._handle, CACHED if cached else FRESH, samples, self.n_sockets)
        return samples

    def between(self, before: c.Array[Sample], after: c.Array[Sample]) -> Traffic:
        """What moved. Raises Error (ESTALE) where counts may be lost, because uncored was restarted."""
        traffic = Traffic()
        traffic._sockets = [self._difference(*pair) for pair in zip(before, after)]
        return traffic

    def _difference(self, before: Sample, after: Sample) -> Socket:
        delta = Delta(size=c.sizeof(Delta))
        lib.uncore_delta(c.byref(before), c.byref(after), c.byref(delta))
        values = {name: self._value(name, unit, delta, i) for i, (name, unit) in enumerate(self.units.items())}
        return Socket(values, delta.window_ns, delta.skew_ns)

    def _value(self, name: str, unit: str, delta: Delta, index: int) -> Value:
        value = delta.values[index]
        why = lib.uncore_why(self._handle, value.why).decode() if value.quality & ABSENT else None
        known = why is None and delta.window_ns and self._quantum
        rounding = self._quantum if self._quantum > 1 else 0
        error = value.count * delta.skew_ns / delta.window_ns + rounding if known else None
        return Value(name, unit, words_of(value.quality), why, error, value.count)


class measure:
    """with uncore.measure() as traffic: work(). A failure raises Error, also if work() would have gone on."""

    def __enter__(self) -> Traffic:
        self._meter, self._traffic = Meter(), Traffic()
        try:
            self._before = self._meter.read()
        except Error:
            self._meter.close()
            raise
        return self._traffic

    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        with self._meter as meter:
            try:
                self._traffic._sockets = meter.between(self._before, meter.read()).sockets
            except Error:
                if error is None:
                    raise


def info() -> Dict[str, Any]:
    """uncored's whole state, as `uncore info --json` prints it."""
    state: Dict[str, Any] = json.loads(text_of(lib.uncore_info, None))
    return state
