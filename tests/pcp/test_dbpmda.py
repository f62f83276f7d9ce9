# SPDX-License-Identifier: BSD-3-Clause
"""The agent without pmcd: PCP's debugger for agents speaks with it directly."""
import os
import pwd
import re

import processes
from harness import DOMAIN, Case, n_sockets, run_cases, wait_until
from reading import TRY_AGAIN_WORDS

USER = "nobody"  # rather than PCP's own user
SCRIPT = """
getdesc on
desc uncore.dram.read
instance 470.0
instance 470.1
fetch uncore.dram.read uncore.dram.write
profile 470.0 none
profile 470.0 add 0
fetch uncore.dram.read
profile 470.0 all
fetch uncore.hbm.read uncore.daemon.up uncore.daemon.platform
label domain
label indom 470.0
label item uncore.dram.read
label instances 470.0
label instances 470.1
text uncore.dram.read
text indom 470.0
text indom 470.1
text indom 470.2
text indom 470.3
"""


class Spoken:
    """The output of dbpmda, command by command."""

    def __init__(self, text):
        self.answers = {}
        for part in re.split(r"^dbpmda> ", text, flags=re.MULTILINE)[1:]:
            command, _, answer = part.partition("\n")
            self.answers.setdefault(command, []).append(answer)

    def to(self, command, time=0):
        return self.answers[command][time]


class Script:
    """Answers that each way of running the agent must give."""

    @classmethod
    def setUpClass(cls):
        cls.pcp = cls.shared_pcp()
        cls.pcp.start_uncored()
        for cpu in range(n_sockets()):
            cls.pcp.run("touch-pages", 100, cpu)
        cls.spoken = Spoken(cls.debug(SCRIPT).stdout)

    @classmethod
    def debug(cls, script):
        commands = "\n".join([cls.open_command(), *script.strip().split("\n"), "close", "quit", ""])
        names = cls.pcp.folder / "pmdas/uncore/root"
        return cls.pcp.run("dbpmda", "-n", names, "-ie", input=commands)

    def test_desc(self):
        """describes a metric"""
        text = self.spoken.to("desc uncore.dram.read")
        self.assertIn("Data Type: 64-bit unsigned int", text)
        self.assertIn("Semantics: counter  Units: byte", text)
        self.assertIn("InDom: 470.0", text)

    def test_instances(self):
        """lists sockets and channels"""
        sockets = re.findall(r'\[\s*(\d+)\] inst: (\d+) name: "(.*)"',
                             self.spoken.to("instance 470.0"))
        self.assertEqual(sockets, [(str(i), str(i), f"socket{i}") for i in range(n_sockets())])
        for i in range(n_sockets()):
            self.assertIn(f'"socket{i}/standin0"', self.spoken.to("instance 470.1"))

    def test_fetch(self):
        """fetches a value for each socket"""
        text = self.spoken.to("fetch uncore.dram.read uncore.dram.write")
        counts = [int(count) for count in re.findall(r"value (\d+)", text)]
        self.assertEqual(len(counts), 2 * n_sockets())
        self.assertTrue(all(count > 0 for count in counts), counts)

    def test_profile(self):
        """fetches only the instances of the profile"""
        text = self.spoken.to("fetch uncore.dram.read")
        self.assertRegex(text, r"numval: 1\b")
        self.assertRegex(text, r"inst \[0 or ")

    def test_absent(self):
        """has no value for an absent metric, and values for others in the same fetch"""
        text = self.spoken.to("fetch uncore.hbm.read uncore.daemon.up uncore.daemon.platform")
        self.assertRegex(text, r"\(uncore.hbm.read\): No values returned!")
        self.assertRegex(text, r"\(uncore.daemon.up\): numval: 1\b.*\n *value 1\b")
        self.assertIn('"standin"', text)

    def test_labels(self):
        """labels itself, the sockets and the channels"""
        self.assert_lines('agent="uncore"\nplatform="standin"', self.spoken.to("label domain"))
        self.assert_lines('device_type=["socket","memory"]\nindom_name="per socket"',
                          self.spoken.to("label indom 470.0"))
        self.assert_lines('tier="dram"', self.spoken.to("label item uncore.dram.read"))
        for i in range(n_sockets()):
            self.assert_lines(f"package={i}\nsocket={i}", self.spoken.to("label instances 470.0"))
            self.assert_lines(f'channel="standin0"\npackage={i}\nsocket={i}\ntier="dram"',
                              self.spoken.to("label instances 470.1"))

    def assert_lines(self, expected, text):
        """The expected lines are among the lines of the text, without their indentation."""
        self.assertIn(expected, re.sub(r"^ +", "", text, flags=re.MULTILINE))

    def test_text(self):
        """explains its metrics and its instance domains"""
        for command, word in (("text uncore.dram.read", "DRAM"), ("text indom 470.0", "Sockets"),
                              ("text indom 470.1", "channel"), ("text indom 470.2", "CPU"),
                              ("text indom 470.3", "job")):
            with self.subTest(command=command):
                one_line, full = re.search(r"^\[(.*)\]\n((?s:.*))", self.spoken.to(command),
                                           flags=re.MULTILINE).groups()
                self.assertIn(word, one_line)
                self.assertGreater(len(full), len(one_line))

    def test_nothing_wrong(self):
        """is never complained about"""
        for answers in self.spoken.answers.values():
            for answer in answers:
                self.assertNotRegex(answer, r"(?i)\berror\b|syntax|cannot|failed")

    def test_away(self):
        """says "try again" where there is no uncored, and why"""
        self.pcp.stop_uncored()
        spoken = Spoken(self.debug("fetch uncore.dram.read\n"
                                   "fetch uncore.daemon.up uncore.daemon.reason").stdout)
        self.pcp.start_uncored()
        self.assertIn(TRY_AGAIN_WORDS, spoken.to("fetch uncore.dram.read"))
        text = spoken.to("fetch uncore.daemon.up uncore.daemon.reason")
        self.assertRegex(text, r"\(uncore.daemon.up\): numval: 1\b.*\n *value 0\b")
        self.assertIn("uncored", text.partition("uncore.daemon.reason")[2])


class Pipe(Script, Case):
    title = "on a pipe it "

    @classmethod
    def open_command(cls):
        folder = cls.pcp.folder
        return f"open pipe {folder}/bin/pmdauncore -d {DOMAIN} -l {folder}/log/pipe.log"

    def test_path(self):
        """takes the path of uncored's socket as an option"""
        text = self.pcp.run(
            "dbpmda", "-n", self.pcp.folder / "pmdas/uncore/root", "-ie",
            env={"UNCORE_SOCKET": "/nonexistent"},
            input=f"{self.open_command()} -s {self.pcp.env['UNCORE_SOCKET']}\n"
                  "fetch uncore.daemon.up\nquit\n").stdout
        self.assertRegex(text, r"\(uncore.daemon.up\): numval: 1\b.*\n *value 1\b")

    def test_surplus(self):
        """refuses an argument too many"""
        done = self.pcp.run("pmdauncore", "-p", "surplus", check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("one argument too many: surplus", done.stderr)

    def test_user(self):
        """started by root it becomes the user of its option, with the groups of that user alone"""
        path = self.pcp.folder / "run/user.socket"
        agent = processes.start([self.pcp.folder / "bin/pmdauncore", "-d", DOMAIN, "-U", USER,
                                 "-u", path, "-l", self.pcp.folder / "log/user.log"],
                                env=self.pcp.env)
        self.addCleanup(processes.end, agent)
        wait_until(path.exists, 5, "the agent listens")
        with open(f"/proc/{agent.pid}/status", encoding="utf-8") as file:
            status = dict(line.split(":\t", 1) for line in file if ":\t" in line)
        user = pwd.getpwnam(USER)
        self.assertEqual(status["Uid"].split(), [str(user.pw_uid)] * 4)
        self.assertEqual(status["Gid"].split(), [str(user.pw_gid)] * 4)
        self.assertEqual(set(map(int, status["Groups"].split())),
                         set(os.getgrouplist(USER, user.pw_gid)))


class Socket(Script, Case):
    title = "on a Unix socket it "

    @classmethod
    def open_command(cls):
        """Starts an agent first, which serves one connection, and ends with it."""
        path = cls.pcp.folder / "run/agent.socket"
        path.unlink(missing_ok=True)
        cls.pcp.spawn("pmdauncore", "-d", DOMAIN, "-u", path,
                      "-l", cls.pcp.folder / "log/socket.log")
        wait_until(path.exists, 5, "the agent listens")
        return f"open socket unix {path}"


class SharedObject(Script, Case):
    title = "as a shared object it "

    @classmethod
    def open_command(cls):
        return f"open dso {cls.pcp.folder}/bin/pmda_uncore.so uncore_init {DOMAIN}"


if __name__ == "__main__":
    run_cases()
