# SPDX-License-Identifier: BSD-3-Clause
"""Debian's packages of uncored: apt installs, upgrades, downgrades, removes and purges them under systemd, while a
program has a region open. This guest has uncored from these packages only.

An installation takes half a minute, so a second first one is made with --all only."""
import pathlib
import re
import shutil

from continuity import ESTALE, Stat
from counts import count_everything
from harness import (CONFIG, Case, HERE, VISITOR, change_machine, info, is_active, is_all_wanted, metrics_of, run,
                     show, stat, start_uncored, sysctl_paranoid, uncored_pid, wait_until)
from kept import MACHINE, Kept, NothingLost, replaced, said_by_uncored

OTHERS = ("libuncore0", "pcp-pmda-uncore", "uncore-tools")
ALL = ("uncored", *OTHERS)
OLDER, NEWER = "older", "newer"
UNITS = ("uncored.socket", "uncored.service", "uncore-export-http.socket", "uncore-export-textfile.timer")
USERS = ("uncored", "uncore-export")
APT_S = 300
BINARY = pathlib.Path("/usr/sbin/uncored")
LIBRARY = pathlib.Path("/usr/lib/x86_64-linux-gnu/libhwloc.so.15")
AS_THE_SITE_HAS_IT = f"name = {MACHINE}\n"
# A removal leaves these, and what dpkg and deb-systemd-helper note: the link stands for "enabled" until a purge.
LEFT = {"/etc/uncored", str(CONFIG), "/etc/systemd/system/sockets.target.wants/uncored.socket", "/run/uncored",
        "/var/lib/uncored", "/var/lib/uncored/state", "/var/lib/uncored/state/sockets", "/var/lib/uncored-jobs",
        "/var/spool/uncored-jobs", "/etc/apparmor.d/usr.sbin.uncored", "/etc/apparmor.d/local/usr.sbin.uncored"}
NOTES = ("/var/lib/dpkg/", "/var/lib/systemd/deb-systemd-helper-enabled/")


def apt(*words):
    run("apt-get", "-q", "-y", "--allow-downgrades", *words, seconds=APT_S)


def install(version, *names):
    apt("install", *(HERE / "debs" / version / f"{name}.deb" for name in names))


def version_of(package):
    return NEWER if run("dpkg-query", "-W", "-f", "${Version}", package).stdout.endswith("+newer") else OLDER


def files_of_uncored():
    """Files on disk and in /run that have its name."""
    return set(run("find", "/", "/run", "-xdev", "-path", "*uncore*").stdout.split())


def files_of_others():
    """In Debian /lib is /usr/lib."""
    listed = run("dpkg", "-L", *OTHERS).stdout.splitlines()
    return {re.sub("^/lib/", "/usr/lib/", path) for path in listed}


class Units(Case):
    def assert_units(self, verb, *states):
        """What `systemctl is-enabled` or `is-active` says of the first units; the other ones are off."""
        off = {"is-enabled": "disabled", "is-active": "inactive"}[verb]
        found = run("systemctl", verb, *UNITS, check=False).stdout.split()
        self.assertEqual(found, [*states, *[off] * (len(UNITS) - len(states))])


class Installed(Units):
    about = "a first time: "

    @classmethod
    def setUpClass(cls):
        sysctl_paranoid(2)
        Installed.before = files_of_uncored()

    def test_install(self):
        """an installation makes the users, enables and starts uncored's socket, and enables and starts nothing else"""
        install(OLDER, *ALL)
        run("getent", "passwd", *USERS)
        self.assert_units("is-enabled", "enabled")
        self.assert_units("is-active", "active")
        self.assertNotIn(AS_THE_SITE_HAS_IT, CONFIG.read_text())

    def test_first_client(self):
        """a user's first client starts the service, which counts exactly"""
        change_machine(MACHINE)
        run("uncore", "info", user=VISITOR, check=False)
        wait_until(lambda: is_active("uncored.service"), "uncored has started")
        commands, expected = count_everything(MACHINE)
        found = metrics_of(stat(commands))
        self.assertEqual({key: found[key].get("bytes") for key in expected}, expected)


class Upgraded(NothingLost, Units):
    def tearDown(self):
        super().tearDown()
        self.assertEqual(pathlib.Path(f"/proc/{uncored_pid()}/exe").readlink(), BINARY)

    def assert_kept_by(self, *commands):
        """As these commands of systemctl end the process."""
        def act():
            for words in commands:
                run("systemctl", *words.split())
        self.assert_nothing_lost(lambda: replaced(act))

    def assert_kept_at_change_to(self, version):
        with Stat() as reader:
            self.assert_nothing_lost(lambda: replaced(lambda: install(version, *ALL)))
        self.assert_counted(reader.values(), self.totals[-1])
        self.assertEqual({version_of(package) for package in ALL}, {version})
        self.assertIn(AS_THE_SITE_HAS_IT, CONFIG.read_text())
        self.assert_units("is-enabled", "enabled")
        self.assert_units("is-active", "active", "active")

    def test_upgrade(self):
        """nothing is lost by an upgrade, of a region or of `uncore stat`, and the site's configuration stays"""
        self.assert_kept_at_change_to(NEWER)

    def test_downgrade(self):
        """nothing is lost by a downgrade, either"""
        self.assert_kept_at_change_to(OLDER)

    def test_library(self):
        """nothing is lost when a library was upgraded, and uncored is restarted as needrestart does it"""
        library = LIBRARY.resolve()
        shutil.copy2(library, library.with_suffix(".new"))
        library.with_suffix(".new").rename(library)
        is_old = f"{library} (deleted)"
        self.assertIn(is_old, pathlib.Path(f"/proc/{uncored_pid()}/maps").read_text())
        self.assert_kept_by("daemon-reload", "restart uncored.service")
        self.assertNotIn(is_old, pathlib.Path(f"/proc/{uncored_pid()}/maps").read_text())

    def test_marked(self):
        """nothing is lost when rpm marks the service and then restarts all that is marked"""
        self.assert_kept_by("set-property uncored.service Markers=+needs-restart", "daemon-reload",
                            "reload-or-restart --marked")
        self.assertEqual(show("Markers"), "")

    def test_try_restart(self):
        """nothing is lost when an older rpm restarts the service where it runs"""
        self.assert_kept_by("daemon-reload", "try-restart uncored.service")

    def test_socket(self):
        """nothing is lost when the socket alone is restarted"""
        self.assert_kept_by("restart uncored.socket")

    def test_all(self):
        """a region that was open over all of that has the sum on each socket, with no flag"""
        self.assert_all_counted()

    def test_journal(self):
        """uncored wrote no line at warning or above"""
        self.assertEqual(said_by_uncored("-p", "warning", self.mark), "")


class Disabled(Units):
    def test_upgrade(self):
        """an upgrade enables and starts nothing that the site has disabled and stopped"""
        run("systemctl", "disable", "--now", "uncored.socket")
        install(NEWER, "uncored")
        self.assert_units("is-enabled")
        self.assert_units("is-active")
        run("systemctl", "enable", "uncored.socket")


class Removed(Kept, Units):
    def test_remove(self):
        """a removal stops uncored while a region is open, and leaves the configuration"""
        self.begin("removed")
        apt("remove", "uncored")
        self.assert_units("is-active")
        left = files_of_uncored() - Installed.before - files_of_others()
        self.assertEqual({path for path in left if not path.startswith(NOTES)}, LEFT)
        self.assertIn(AS_THE_SITE_HAS_IT, CONFIG.read_text())

    def test_client(self):
        """a client is told that there is no uncored"""
        done = run("uncore", "info", user=VISITOR, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("Cannot connect to uncored at /run/uncored/socket: No such file", done.stderr)

    def test_install(self):
        """after another installation uncored goes on with that configuration"""
        install(OLDER, "uncored")
        self.assert_units("is-enabled", "enabled")
        self.assert_units("is-active", "active")
        start_uncored()
        self.assertEqual(info()["platform"], MACHINE)

    def test_refused(self):
        """the region that was open over the removal has no figures, and its end says why"""
        returned, text = self.program.tell("end", "removed")
        self.assertEqual(returned, ESTALE)
        self.assertIn("began to count anew", text)


class Purged(Units):
    def test_purge(self):
        """a purge leaves the users, and no file"""
        start_uncored()
        apt("purge", *ALL)
        self.assertEqual(files_of_uncored() - Installed.before, set())
        run("getent", "passwd", *USERS)


class InstalledAgain(Installed):
    about = "after a purge: "


CASES = [Installed, Upgraded, Disabled, Removed, Purged]
if is_all_wanted():
    CASES.append(InstalledAgain)
