# SPDX-License-Identifier: BSD-3-Clause
"""numpy on a model of caches: a copy of N bytes reads 2 N and writes N, a sum reads N. Prints the shares of N."""
import json

import numpy
import uncore

COUNT = 1 << 20
source, target = numpy.ones(COUNT), numpy.zeros(COUNT)
with uncore.measure() as copied:
    target[:] = source
with uncore.measure() as summed:
    total = source.sum()
assert total == COUNT
print(json.dumps([[traffic[0][name].bytes / source.nbytes for name in ("dram.read", "dram.write")]
                  for traffic in (copied, summed)]))
