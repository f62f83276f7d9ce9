# SPDX-License-Identifier: BSD-3-Clause
"""How much of an experiment is run: each takes what the one before it has, and more."""
import enum


class Scope(enum.IntEnum):
    SHORT = 0  # in CI
    USUAL = 1
    ALL = 2    # sizes that the papers have, as far as they are simulated in minutes

    def pick(self, short, usual, everything=None):
        if self == Scope.SHORT:
            return short
        return usual if self == Scope.USUAL or everything is None else everything
