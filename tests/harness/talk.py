# SPDX-License-Identifier: BSD-3-Clause
"""A talk with a program that answers every line by a line."""


class Talk:
    def __init__(self, process):
        self.process = process  # with pipes for stdin and stdout, of text

    def hear(self):
        return self.process.stdout.readline().rstrip("\n")

    def tell(self, line=""):
        self.process.stdin.write(f"{line}\n")
        self.process.stdin.flush()

    def ask(self, line=""):
        self.tell(line)
        return self.hear()
