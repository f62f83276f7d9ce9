# SPDX-License-Identifier: BSD-3-Clause
"""Bytes between the last cache and memory, in the three parts of which every model here consists.

A line that a core stores to is read first, its write-allocate, unless the core reads it anyway, or evades
the write-allocate: by a non-temporal store, by an instruction that claims the line, or by itself (SpecI2M
on Intel). No core can evade it for a line that is not written from end to end.
"""
import dataclasses

ELEMENT, LINE = 8, 64  # bytes


@dataclasses.dataclass(frozen=True)
class Traffic:
    read: float       # on every CPU
    allocated: float  # read too, as far as the CPU does not evade it
    written: float

    def reads(self, evaded=0.0):
        """evaded: the share of write-allocates that the CPU evades, 0 to 1."""
        return self.read + (1 - evaded) * self.allocated

    def total(self, evaded=0.0):
        return self.reads(evaded) + self.written

    def times(self, factor):
        return Traffic(self.read * factor, self.allocated * factor, self.written * factor)


def sum_of(traffic):
    return Traffic(*(sum(getattr(one, part.name) for one in traffic) for part in dataclasses.fields(Traffic)))
