# SPDX-License-Identifier: BSD-3-Clause
"""Whether a daemon listens. Its socket is there a moment before: between bind(2) and listen(2)."""
import socket


def listens(path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as probe:
        return probe.connect_ex(str(path)) == 0
