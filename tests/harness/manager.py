# SPDX-License-Identifier: BSD-3-Clause
"""manager.py [--no-store] SOCKET COMMAND...: the part of a service manager that uncored talks to.

Listens on SOCKET, and runs COMMAND with it and all descriptors that COMMAND has left here; runs it again when a signal
has ended it. Says on stdout what happens. SIGTERM ends both, SIGUSR1 ends COMMAND and runs it again.
"""
import array
import os
import pathlib
import selectors
import signal
import socket
import sys

FIRST = 3         # number of the first descriptor that is passed: sd_listen_fds(3)
ABOVE = 4000      # no descriptor that is passed has such a number
MOST = 253        # descriptors of a message: SCM_MAX_FD of the kernel


def listen(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    listener.bind(str(path))
    path.chmod(0o666)
    listener.listen(64)
    return listener


class Manager:
    def __init__(self, path, command, keeps):
        self.command, self.keeps, self.again = command, keeps, False
        self.store = [("uncored.socket", listen(path).detach())]
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify_path = f"{path}.notify"
        pathlib.Path(self.notify_path).unlink(missing_ok=True)
        self.notify.bind(self.notify_path)

    def start(self):
        pid = os.fork()
        if pid == 0:
            self.become()
        print(f"uncored is process {pid}", flush=True)
        return pid

    def become(self):
        copies = [os.dup2(fd, ABOVE + i, inheritable=False) for i, (_, fd) in enumerate(self.store)]
        for i, fd in enumerate(copies):
            os.dup2(fd, FIRST + i, inheritable=True)
        os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(copies)),
                          LISTEN_FDNAMES=":".join(name for name, _ in self.store), NOTIFY_SOCKET=self.notify_path)
        os.execv(self.command[0], self.command)

    def hear(self):
        data, parts, _, _ = self.notify.recvmsg(65536, socket.CMSG_SPACE(MOST * 4), socket.MSG_CMSG_CLOEXEC)
        fds = array.array("i")
        for _, _, part in parts:
            fds.frombytes(part[:len(part) - len(part) % fds.itemsize])
        self.obey(dict(line.partition("=")[::2] for line in data.decode().splitlines()), fds)

    def obey(self, said, fds):
        if said.get("READY") == "1":
            print("uncored is ready", flush=True)
        if said.get("FDSTORE") == "1" and self.keeps:
            self.store += [(said["FDNAME"], fd) for fd in fds]
            return
        for fd in fds:
            os.close(fd)
        if said.get("FDSTOREREMOVE") == "1":
            for entry in [entry for entry in self.store[1:] if entry[0] == said["FDNAME"]]:
                os.close(entry[1])
                self.store.remove(entry)

    def end(self, pid, again):
        self.again = again
        os.kill(pid, signal.SIGTERM)

    def run_once(self):
        """Returns whether to run it again, and its status."""
        self.again = False
        pid = self.start()
        signal.signal(signal.SIGTERM, lambda *_: self.end(pid, False))
        signal.signal(signal.SIGUSR1, lambda *_: self.end(pid, True))
        ended = os.pidfd_open(pid)
        with selectors.DefaultSelector() as selector:
            selector.register(self.notify, selectors.EVENT_READ)
            selector.register(ended, selectors.EVENT_READ)
            while True:
                ready = [key.fileobj for key, _ in selector.select()]
                if self.notify in ready:
                    self.hear()
                elif ended in ready:
                    os.close(ended)
                    status = os.waitpid(pid, 0)[1]
                    return self.again or os.WIFSIGNALED(status), status


def main():
    keeps = sys.argv[1] != "--no-store"
    path, *command = sys.argv[1 if keeps else 2:]
    manager = Manager(pathlib.Path(path), command, keeps)
    while (ended := manager.run_once())[0]:
        print("uncored is away", flush=True)
    sys.exit(os.waitstatus_to_exitcode(ended[1]))


if __name__ == "__main__":
    main()
