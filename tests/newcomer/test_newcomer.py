# SPDX-License-Identifier: BSD-3-Clause
"""A newcomer's first minutes on a Debian that has nothing but apt, git and sudo: as root, and as a user who may use sudo.
README's commands as they are written, as far as no systemd is needed; and what they leave behind. Prints TAP.
Needs root, mmdebstrap and what apt fetches; that is kept in build/newcomer."""
import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import fences
import overlay
import tap
from debs import SOURCE, run
from image import SOURCES, processes_in

KEPT = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"]) / "newcomer"
OVERLAY_SECONDS = 1500
BARE = "ca-certificates,git,sudo"
POLICY = "/usr/sbin/policy-rc.d"
SITES_POLICY = "#!/bin/sh\n# the site's own\nexit 0\n"
# They bring services with init scripts, a timer, a cron job and users.
WITH_SERVICES = ("prometheus-node-exporter", "munge", "slurmd", "pcp")
WAIT_SECONDS = 120
# What a shell in a container cannot do: systemd starts uncored there.
START = """
mkdir -p /run/uncored
uncored --root /tmp/standin >/tmp/log 2>&1 &
for i in $(seq 100); do uncore info --quiet 2>/dev/null && exit; sleep 0.1; done
cat /tmp/log
exit 1
"""
# Of doc/quick.md: those that need no other program than a newcomer has now.
QUICK = ("uncore info", "uncore stat", "uncore export")


def make_bare():
    """The root, made once."""
    KEPT.mkdir(exist_ok=True)
    tar, new, sources = KEPT / "debian.tar", KEPT / "unfinished.tar", KEPT / "sources.list"
    (KEPT / "archives/partial").mkdir(parents=True, exist_ok=True)
    if not tar.exists():
        sources.write_text(run("bash", "-c", SOURCES, SOURCE), encoding="ascii")
        try:
            run("mmdebstrap", "--variant=apt", f"--include={BARE}", '--aptopt=Acquire::Languages "none"', "bookworm",
                new, sources, env={**os.environ, "SYSTEMD_OFFLINE": "1"})
        except AssertionError as error:
            tap.skip_all(f"mmdebstrap makes no Debian here: {error}")
        os.rename(new, tar)
    return tar


def wait_for(condition, what, seconds=WAIT_SECONDS):
    end = time.monotonic() + seconds
    while not condition():
        tap.check(time.monotonic() < end, f"{what}: not within {seconds} s")
        time.sleep(0.05)


class Bare(unittest.TestCase):
    """A machine with nothing, for the cases of a class in their order."""

    user, machine = "root", None

    @classmethod
    def setUpClass(cls):
        overlay.SECONDS = OVERLAY_SECONDS
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="uncored-newcomer-"))
        run("tar", "-C", cls.folder, "-xf", make_bare(), "--exclude=./dev/*")
        cls.machine = machine = overlay.Machine(cls.folder)
        overlay.mount("--bind", KEPT / "archives", machine.path("/var/cache/apt/archives"))
        shutil.copy("/etc/resolv.conf", machine.path("/etc/resolv.conf"))
        cls.home = "/root"
        if cls.user != "root":
            cls.home = f"/home/{cls.user}"
            machine.run("useradd", "--create-home", "--shell", "/bin/bash", cls.user)
            machine.path("/etc/sudoers.d/newcomer").write_text(f"{cls.user} ALL=(ALL) NOPASSWD: ALL\n", encoding="ascii")
        cls.clone(machine)

    @classmethod
    def clone(cls, machine):
        """What git clone gives, and what is not committed yet."""
        tree = machine.path(f"{cls.home}/uncored")
        tree.mkdir()
        files = run("bash", "-c", "cd $0; . tests/format/sources.sh; sources '*'", SOURCE)
        subprocess.run(["tar", "-C", SOURCE, "-cf", tree / "all.tar", "--files-from=-"], input=files, text=True, check=True)
        run("tar", "-C", tree, "-xf", tree / "all.tar", "--no-same-owner")
        (tree / "all.tar").unlink()
        machine.run("chown", "-R", f"{cls.user}:", f"{cls.home}/uncored")

    @classmethod
    def tearDownClass(cls):
        cls.machine.close()
        shutil.rmtree(cls.folder)

    def words(self, command):
        return ["su", "-", self.user, "-c", f"cd uncored && {command}"]

    def type(self, command):
        """Types it in the tree; prints how long it took."""
        begin = time.monotonic()
        said = self.machine.run(*self.words(command))
        print(f"# {self.user}: {command}: {time.monotonic() - begin:.0f} s", flush=True)
        return said

    def start(self, *words):
        return subprocess.Popen(["chroot", self.machine.root, *words], stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)

    def running(self, *words):
        """The processes of commands that begin with these words."""
        found = []
        for link in processes_in(self.machine.root):
            try:
                said = (link.parent / "cmdline").read_bytes().decode().split("\0")
            except OSError:
                continue  # it has ended
            if all(path.endswith(word) for path, word in zip(said, words)) and len(said) > len(words):
                found.append(int(link.parent.name))
        return found

    def group(self, *words):
        """That of the first process of a command. The others are subshells, which may end at any time."""
        started = {}
        for pid in self.running(*words):
            with contextlib.suppress(OSError):
                fields = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
                started[int(fields[19])] = int(fields[2])
        return started[min(started)]

    def kill(self, number, *words):
        for pid in self.running(*words):
            with contextlib.suppress(ProcessLookupError):  # it ends with another one
                os.kill(pid, number)

    def nothing_runs(self):
        wait_for(lambda: not processes_in(self.machine.root), f"end of {processes_in(self.machine.root)}")

    def starts(self):
        """What the next boot, or cron, would start."""
        etc = self.machine.path("/etc")
        names = [path for pattern in ("systemd/*/*.wants/*", "systemd/*/*.requires/*", "systemd/*/*.service", "rc[2-5].d/S*",
                                      "cron.*/*") for path in etc.glob(pattern)]
        return sorted(str(path.relative_to(etc)) for path in names)


class Undisturbed(Bare):
    """Packages with services, as ./dev setup --tests installs them."""

    def test_a_services(self):
        """Packages with services leave nothing that runs now or later, and the site's own policy-rc.d"""
        policy = self.machine.path(POLICY)
        policy.write_text(SITES_POLICY, encoding="ascii")
        policy.chmod(0o755)
        before = self.starts()
        self.type(f"tests/dev/install-packages {' '.join(WITH_SERVICES[:-1])}")
        tap.equal(self.starts(), before, "what would be started")
        tap.equal(policy.read_text(encoding="ascii"), SITES_POLICY, "policy-rc.d")
        self.nothing_runs()

    def test_b_ended(self):
        """So it is if somebody ends the installation"""
        policy = self.machine.path(POLICY)
        policy.unlink(missing_ok=True)
        before = self.starts()
        process = self.start(*self.words(f"exec tests/dev/install-packages {WITH_SERVICES[-1]}"))
        wait_for(lambda: self.running("dpkg", "--status-fd"), "dpkg", OVERLAY_SECONDS)  # before, nothing is installed
        tap.check(policy.exists(), "no policy-rc.d")
        self.kill(signal.SIGTERM, "/bin/bash", "tests/dev/install-packages")
        process.wait(timeout=OVERLAY_SECONDS)
        tap.check("install ok installed" in self.machine.run("dpkg", "--status", WITH_SERVICES[-1]), "not installed")
        tap.check(not policy.exists(), "policy-rc.d is left")
        tap.equal(self.starts(), before, "what would be started")
        self.nothing_runs()

    def test_c_users(self):
        """Nobody can log in as one of the users that packages made"""
        known = [line.split(":") for line in self.machine.path("/etc/passwd").read_text(encoding="ascii").splitlines()]
        shells = {name: shell for name, *_, shell in known if name in ("munge", "slurm", "pcp", "prometheus")}
        tap.check(len(shells) > 2, f"users: {shells}")
        tap.equal([name for name, shell in shells.items() if not shell.endswith(("/nologin", "/false"))], [], "can log in")


class User(Bare):
    user = "anna"

    def test_a_demo(self):
        """./dev demo shows numbers, and leaves no process, no file in /tmp and nothing that starts"""
        before = self.starts()
        said = self.type("./dev demo")
        for part in ("$ uncore info", "dram.read", "uncored is stopped now"):
            tap.check(part in said, f"'{part}' is not in: {said}")
        self.nothing_runs()
        tap.equal([path.name for path in self.machine.path("/tmp").iterdir()], [], "in /tmp")
        tap.equal([name for name in self.starts() if name not in before], [], "what would be started")
        tap.check(not self.machine.path(POLICY).exists(), "policy-rc.d is left")

    def test_b_killed(self):
        """A demo that is killed leaves no process"""
        process = self.start(*self.words("exec ./dev demo"))
        wait_for(lambda: self.running(f"{self.home}/uncored/build/daemon/uncored"), "uncored", OVERLAY_SECONDS)
        self.kill(signal.SIGKILL, "/bin/bash", "/dev", "demo")
        process.wait(timeout=WAIT_SECONDS)
        self.nothing_runs()

    def test_c_interrupted(self):
        """Ctrl-C ends a demo with one sentence, and leaves no process and no file in /tmp"""
        before = {path.name for path in self.machine.path("/tmp").iterdir()}
        log = self.machine.path(f"{self.home}/said")
        process = self.start(*self.words("exec env --default-signal=INT ./dev demo >~/said 2>&1"))
        wait_for(lambda: log.exists() and "$ uncore info" in log.read_text(encoding="utf-8"), "uncore info", OVERLAY_SECONDS)
        os.killpg(self.group("/bin/bash", "/dev", "demo"), signal.SIGINT)  # as a terminal does
        tap.equal(process.wait(timeout=WAIT_SECONDS), 130, "status")
        said = log.read_text(encoding="utf-8")
        tap.check(said.endswith("\n\nuncored is stopped.\n"), said)
        for part in ("not a child", "Killed", "Cannot connect", "ended with status"):
            tap.check(part not in said, f"'{part}' is in: {said}")
        self.nothing_runs()
        tap.equal({path.name for path in self.machine.path("/tmp").iterdir()} - before, set(), "in /tmp")


class Root(Bare):
    def new_starts(self, before):
        """Without what systemd itself starts, which comes with uncored."""
        of_systemd = {pathlib.PurePath(line).name for line in self.machine.run("dpkg", "--listfiles", "systemd").split()}
        return [name for name in self.starts() if name not in before
                and re.sub(r"@[^.]+", "@", pathlib.PurePath(name).name) not in of_systemd]

    def test_a_install(self):
        """README's commands make packages and install them, and leave nothing that starts but uncored"""
        before = self.starts()
        [fence] = [fence for fence in fences.fences_of("README.md") if fence.text.startswith("./dev packages")]
        *make, last = fence.text.splitlines()
        tap.equal(last, "uncore info", "the last command")
        for command in make:
            self.type(command.replace("apt install", "apt-get install -y"))
        tap.equal(self.new_starts(before), ["systemd/system/sockets.target.wants/uncored.socket"], "what would be started")
        self.nothing_runs()

    def test_b_first_number(self):
        """The commands of doc/quick.md work as they are written"""
        run("python3", "-B", SOURCE / "tests/machines/mktree", SOURCE / "tests/machines/standin.machine",
            self.machine.path("/tmp/standin"))
        app = self.machine.path(f"{self.home}/uncored/app")
        app.write_text("#!/bin/sh\nexec head --bytes=64M /dev/zero >/dev/null\n", encoding="ascii")
        app.chmod(0o755)
        self.machine.run("bash", "-c", START)
        commands = [line for fence in fences.fences_of("doc/quick.md") if fence.language == "sh" and not fence.mark
                    for line in fence.text.splitlines() if line.startswith(QUICK)]
        tap.check(len(commands) > 6, f"{commands}")
        for command in commands:
            said = self.type(command)
            tap.check("-o" in command or "dram.read" in said or "dram_read" in said, f"{command}: {said}")

    def test_c_pages(self):
        """man finds subcommands and functions, and the guides are there"""
        for path in ("/usr/share/man/man1/uncore-stat.1.gz", "/usr/share/doc/uncore-tools/README.md.gz"):
            tap.check(self.machine.path(path).exists() or self.machine.path(path.removesuffix(".gz")).exists(), path)


if __name__ == "__main__":
    if not shutil.which("mmdebstrap"):
        tap.skip_all("mmdebstrap is not installed: ./dev setup --tests")
    if os.geteuid():
        tap.skip_all("needs root")
    overlay.enter()
    overlay.mount("-t", "proc", "proc", "/proc")  # with the numbers of the new namespace, by which cases send signals
    tap.run([Undisturbed, User, Root])
