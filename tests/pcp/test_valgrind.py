# SPDX-License-Identifier: BSD-3-Clause
"""valgrind looks on while the agent answers, loses uncored and finds it again."""
import os
import re
import shutil
import signal
import subprocess

import tap
from harness import DOMAIN, Case, run_cases, source_root
from reading import TRY_AGAIN_WORDS

PROMPT = b"dbpmda> "
ANSWER_SECONDS = 30  # under valgrind the agent is an order slower
BACK_SECONDS = 10
COMMANDS = """
desc uncore.dram.read
instance 470.0
instance 470.1
instance 470.2
fetch uncore.dram.read uncore.hbm.read uncore.itom uncore.quality uncore.quality_text
fetch uncore.channel.read uncore.channel.write uncore.sample.time
fetch uncore.daemon.generation uncore.daemon.platform uncore.daemon.up uncore.daemon.reason
profile 470.0 none
profile 470.0 add 0
fetch uncore.dram.read
profile 470.0 all
label domain
label indom 470.0
label item uncore.dram.read
label instances 470.0
label instances 470.1
text uncore.dram.read
text indom 470.1
children perfevent
traverse perfevent
fetch 470.64.0
fetch 470.0.1023
label instances 470.2
instance 470.3
fetch uncore.job.read uncore.job.specitom uncore.job.begin uncore.job.uid
label instances 470.3
""".strip().split("\n")


class Debugger:
    """dbpmda, one command after the other."""

    def __init__(self, pcp):
        self.process = pcp.spawn("dbpmda", "-q", ANSWER_SECONDS, "-n",
                                 pcp.folder / "pmdas/uncore/root", "-ie",
                                 stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL)
        self.hear()

    def hear(self):
        text = b""
        while not text.endswith(PROMPT):
            part = os.read(self.process.stdout.fileno(), 65536)
            if not part:
                raise AssertionError("dbpmda ended: " + text.decode())
            text += part
        return text.decode()

    def ask(self, command):
        self.process.stdin.write(command.encode() + b"\n")
        self.process.stdin.flush()
        return self.hear()


class Valgrind(Case):
    def setUp(self):
        self.pcp = self.new_pcp()
        self.pcp.start_uncored()
        self.debugger = Debugger(self.pcp)
        self.log = self.pcp.folder / "log/valgrind.log"
        self.debugger.ask(
            f"open pipe {shutil.which('valgrind')} --leak-check=full --error-exitcode=9"
            " --errors-for-leak-kinds=definite,indirect,possible"
            f" --suppressions={self.copy_of_suppressions()} --log-file={self.log}"
            f" {self.pcp.folder}/bin/pmdauncore -d {DOMAIN} -l {self.pcp.folder}/log/uncore.log")

    def copy_of_suppressions(self):
        return shutil.copy(source_root() / "tests/pcp/valgrind.supp", self.pcp.folder)

    def agent(self):
        """Its process number, which valgrind writes before each line."""
        return int(re.match(r"==(\d+)==", self.log.read_text(encoding="utf-8"))[1])

    def n_descriptors(self):
        return len(os.listdir(f"/proc/{self.agent()}/fd"))

    def ask_all(self):
        for command in COMMANDS:
            self.debugger.ask(command)

    def verdict(self):
        """valgrind's summary of errors, which include leaks. A fork with errors would add a second summary."""
        return "".join(re.findall(r"ERROR SUMMARY: (.*)", self.log.read_text(encoding="utf-8")))

    def has_values(self):
        return "inst [0" in self.debugger.ask("fetch uncore.dram.read")

    def has_names(self):
        return "page_faults.value" in self.debugger.ask("traverse perfevent")

    def lose_dead(self):
        self.pcp.kill_uncored()
        self.ask_without_uncored()
        self.pcp.start_uncored()
        self.wait_until(self.has_values, BACK_SECONDS, "values come back")

    def lose_hung(self):
        os.kill(self.pcp.uncored.pid, signal.SIGSTOP)
        self.ask_without_uncored()
        os.kill(self.pcp.uncored.pid, signal.SIGCONT)
        self.wait_until(self.has_values, BACK_SECONDS, "values come back")

    def ask_without_uncored(self):
        self.assertIn(TRY_AGAIN_WORDS, self.debugger.ask("fetch uncore.dram.read"))
        self.ask_all()

    def test_memory(self):
        """finds no wrong access, no leak and no descriptor that stays open"""
        self.wait_until(self.has_names, BACK_SECONDS, "there are names below perfevent")
        self.ask_all()
        before = self.n_descriptors()
        for lose in (self.lose_dead, self.lose_hung, self.lose_dead):
            lose()
            self.ask_all()
        self.assertEqual(self.n_descriptors(), before)
        self.debugger.ask("close")
        self.assertRegex(self.wait_until(self.verdict, 10, "valgrind ends"), "^0 errors")


if __name__ == "__main__":
    if not shutil.which("valgrind"):
        tap.skip_all("valgrind is not installed")
    run_cases()
