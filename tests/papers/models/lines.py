# SPDX-License-Identifier: BSD-3-Clause
"""Cache lines under rows of elements that lie apart from each other."""
import dataclasses

from models.traffic import ELEMENT, LINE

PER_LINE = LINE // ELEMENT


@dataclasses.dataclass(frozen=True)
class Rows:
    """Rows of so many columns. From the begin of a row to that of the next are step elements; the first
    row begins so many elements behind the begin of a line."""
    rows: int
    columns: int
    step: int
    first: int = 0

    def _pieces(self):
        """(begin, end) of each stretch of elements without a gap."""
        if self.step == self.columns:
            yield self.first, self.first + self.rows * self.columns
            return
        for row in range(self.rows):
            begin = self.first + row * self.step
            yield begin, begin + self.columns

    def touched(self):
        """Lines of which at least one element is in a row."""
        count, last = 0, -1
        for begin, end in self._pieces():
            low, high = begin // PER_LINE, (end - 1) // PER_LINE
            count += high - low + (low != last)
            last = high
        return count

    def whole(self):
        """Lines of which all elements are in rows."""
        return sum(max(0, end // PER_LINE - -(-begin // PER_LINE)) for begin, end in self._pieces())

    def whole_and_first(self):
        """Those of them with which a stream of lines begins: nothing touched the line before."""
        count, last = 0, None
        for begin, end in self._pieces():
            first = begin // PER_LINE
            is_whole = begin % PER_LINE == 0 and end - begin >= PER_LINE
            count += is_whole and last is not None and first > last + 1
            last = (end - 1) // PER_LINE
        return count
