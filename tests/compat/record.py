# SPDX-License-Identifier: BSD-3-Clause
"""record.py DAEMON LISTEN FOLDER UID: stands between one client and the daemon at socket DAEMON, on a socket LISTEN,
and saves in FOLDER what they say to each other, and the page. What was saved before stays. The daemon takes it for
user UID; the answer to a user that is not root is saved as "denied". Of the protocol it knows only which request an
answer belongs to."""
import os
import pathlib
import socket
import struct
import sys

REQUESTS = {1: "hello", 2: "info", 3: "owner"}
BYTES_MAX, FDS_MAX = 4096, 64


def save(path, data):
    if not path.exists():
        path.write_bytes(data)


def record(client, daemon, folder, suffix):
    while request := client.recv(BYTES_MAX):
        name = REQUESTS[struct.unpack_from("H", request)[0]] + suffix
        save(folder / f"{name}.request", request)
        daemon.send(request)
        answer, fds, _, _ = socket.recv_fds(daemon, BYTES_MAX, FDS_MAX)
        save(folder / f"{name}.answer", answer)
        if name == "hello":
            save(folder / f"page{suffix}", os.pread(fds[0], os.fstat(fds[0]).st_size, 0))
        socket.send_fds(client, [answer], fds)
        for fd in fds:
            os.close(fd)


def main(daemon_path, listen_path, folder, uid):
    suffix = "" if uid == "0" else "-denied"
    os.setgroups([])
    os.setuid(int(uid))
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener, \
            socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as daemon:
        listener.bind(listen_path)
        listener.listen()
        daemon.connect(daemon_path)
        client, _ = listener.accept()
        with client:
            record(client, daemon, pathlib.Path(folder), suffix)


if __name__ == "__main__":
    main(*sys.argv[1:])
