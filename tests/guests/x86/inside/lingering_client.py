# SPDX-License-Identifier: BSD-3-Clause
"""A user's program that leaves a descriptor to uncored, attached to the NUMBERth message of a connection.

usage: lingering_client.py DESCRIPTOR NUMBER
"""
import socket
import struct
import sys

# common/wire.h: opcode, reserved, size; version or topic, reserved
HELLO = struct.pack("=HHIII", 1, 0, 16, 1, 0)
INFO = struct.pack("=HHIII", 2, 0, 16, 0, 0)

descriptor, number = map(int, sys.argv[1:])
connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
connection.connect("/run/uncored/socket")
for n, message in enumerate([HELLO] + [INFO] * number, 1):
    socket.send_fds(connection, [message], [descriptor] if n == number else [])
