# SPDX-License-Identifier: BSD-3-Clause
"""A measurement during which uncored is restarted. Prints its bytes, or its failure."""
import errno

import uncore

try:
    with uncore.measure():
        print("measuring", flush=True)
        input()
except uncore.Error as failure:
    print(errno.errorcode[failure.errno])
else:
    print("measured")
