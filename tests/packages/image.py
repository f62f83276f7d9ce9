# SPDX-License-Identifier: BSD-3-Clause
"""The packages in the root of a node's image, a small Debian of its own in which no systemd runs, and nodes that have
this image."""
import json
import os
import pathlib
import re
import shutil
import tempfile

import overlay
import tap
from debs import SOURCE, Built, run

PACKAGES = ("uncored", "uncore-tools", "libuncore0")
NEEDED = "systemd-sysv,libhwloc15"
SOURCES = "set -e; cd $0; for part in common apt; do . tests/dev/$part.sh; done; apt_sources"
LESS = [f"--dpkgopt=path-exclude=/usr/share/{name}/*" for name in ("man", "doc", "locale")]
USERS = ("uncored", "uncore-export")
JOBS, SPOOL = "/var/lib/uncored-jobs", "/var/spool/uncored-jobs"
# What an installation writes beside the packages' files and what dpkg and systemd keep about them.
WRITTEN = {
    "/etc/systemd/system/sockets.target.wants/uncored.socket", "/etc/apparmor.d/local/usr.sbin.uncored", JOBS, SPOOL,
    *(f"/etc/{name}{old}" for name in ("passwd", "group", "shadow", "gshadow") for old in ("", "-")),
}
BOOKS = ("/var/lib/dpkg", "/var/lib/systemd", "/var/log", "/var/cache", "/etc/ld.so.cache", "/etc/.pwd.lock")
# What differs between nodes of one image: when it was, which node and page it was, and what was counted.
OWN = re.compile(r"""\.(generation|host|begun|begun_s|ended|ended_s|seconds|\w+_ns|sweeps|
                     (regions\.0\.)?sockets\.\d+\.metrics\.[\w.]+\.(bytes|value))$""", re.VERBOSE)
# A node boots and serves one job. $0 is its name.
NODE = """
hostname "$0"
systemd-tmpfiles --create uncored-jobs.conf
mkdir /run/uncored
uncored --root /tmp/standin 2>/tmp/log &
tries=100
until uncore info --json >/tmp/info 2>>/tmp/log; do
	tries=$((tries - 1))
	[ $tries -gt 0 ] || { cat /tmp/log; exit 1; }
	sleep 0.1
done
uncore job begin 1 --uid 65534
uncore job end 1 --to /var/lib/uncored-jobs >/tmp/record
kill $!
wait $!
"""


def debian(folder):
    """Makes a small Debian in a folder; it comes from where apt gets Debian's packages here."""
    sources = folder / "sources.list"
    sources.write_text(run("bash", "-c", SOURCES, SOURCE), encoding="ascii")
    try:
        run("mmdebstrap", "--variant=minbase", f"--include={NEEDED}", '--aptopt=Acquire::Languages "none"', *LESS,
            "bookworm", folder / "debian", sources, env={**os.environ, "SYSTEMD_OFFLINE": "1"})
    except AssertionError as error:
        raise tap.Skip(f"mmdebstrap makes no Debian here: {error}") from error
    return folder / "debian"


def processes_in(root):
    """Those that have their root below a folder."""
    return [link for link in pathlib.Path("/proc").glob("[0-9]*/root") if link.exists() and
            os.readlink(link).startswith(str(root))]


def leaves(value, name=""):
    """{name: value} of all that is in a JSON document."""
    if not isinstance(value, (dict, list)):
        return {name: value}
    inner = value.items() if isinstance(value, dict) else enumerate(value)
    return {key: leaf for word, part in inner for key, leaf in leaves(part, f"{name}.{word}".strip(".")).items()}


class Image(Built):
    """An image, and nodes that have it, in this order."""

    image = None

    def setUp(self):
        """Where there can be no image, each case says so."""
        if not self.image:
            type(self).folder_of_image = pathlib.Path(self.enterClassContext(tempfile.TemporaryDirectory()))
            type(self).image = image = overlay.Machine(debian(self.folder_of_image))
            for package in PACKAGES:
                shutil.copy(self.deb(package), image.path("/tmp"))
            image.run("sh", "-c", "dpkg --install /tmp/*.deb")

    @classmethod
    def tearDownClass(cls):
        if cls.image:
            cls.image.close()

    def node(self, *layers):
        """A machine that boots the image, with layers of the site over it, the topmost first."""
        node = overlay.Machine(*layers, self.image.upper, self.folder_of_image / "debian", is_node=True)
        self.addCleanup(node.close)
        run("python3", "-B", SOURCE / "tests/machines/mktree", SOURCE / "tests/machines/standin.machine",
            node.path("/tmp/standin"))
        return node

    def layer(self, name, **files):
        """A folder of the site: {name in /etc/uncored: text}"""
        folder = self.folder_of_image / name
        for path, text in files.items():
            (folder / "etc/uncored" / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / "etc/uncored" / path).write_text(text, encoding="ascii")
        return folder

    def test_a_written(self):
        """Where no systemd runs, an installation enables the socket, makes the users, and leaves nothing of the builder"""
        listed = set(self.image.run("dpkg", "--listfiles", *PACKAGES).splitlines())
        listed |= {os.path.realpath(self.image.path(name)).removeprefix(str(self.image.root)) for name in listed}
        folders = {parent for name in listed | WRITTEN for parent in map(str, pathlib.PurePath(name).parents)}
        strangers = {name for name in self.image.written() - listed - WRITTEN - folders if not name.startswith(BOOKS)}
        tap.equal(strangers, set(), "written")
        tap.equal(WRITTEN - self.image.written(), set(), "missing")
        tap.equal([*self.image.path("/run").iterdir(), *self.image.path(JOBS).iterdir()], [], "in /run, and records")

    def test_b_quiet(self):
        """It starts nothing"""
        tap.equal(processes_in(self.image.root), [], "processes")

    def test_c_ready(self):
        """The users are in the image, so that each node has the same numbers, and the socket starts at the boot"""
        known = self.image.path("/etc/passwd").read_text(encoding="ascii")
        tap.equal([user for user in USERS if f"\n{user}:" not in known], [], "users that are missing")
        tap.equal(self.image.run("systemctl", "--root=/", "is-enabled", "uncored.socket").strip(), "enabled", "socket")

    def test_d_folder(self):
        """A node with a / that is read-only and an empty /var gets the folders for records when it boots"""
        node = self.node()
        tap.check("Read-only file system" in node.run("touch", "/etc/uncored/new", check=False), "/ can be written to")
        tap.check(not node.path(JOBS).exists(), f"{JOBS} is in the image's /var")
        node.run("systemd-tmpfiles", "--create", "uncored-jobs.conf")
        for path, mode in ((JOBS, 0o711), (SPOOL, 0o700)):
            found = node.path(path).stat()
            tap.equal((found.st_mode & 0o7777, found.st_uid), (mode, 0), f"mode and owner of {path}")

    def test_e_overlay(self):
        """Layers of the site and of a group of nodes over the image: each file is the topmost layer's"""
        own = (SOURCE / "conf/platforms/standin.conf").read_text(encoding="ascii")
        site = self.layer("site", **{"uncored.conf": "[platform]\nname = site\n",
                                     "platforms/site.conf": own.replace("title = ", "title = Site's ")})
        group = self.layer("group", **{"uncored.conf": "[platform]\nname = site\n\n[reader]\nbudget = 1\n"})
        check = ("uncored", "--check", "--root", "/tmp/standin")
        tap.check("Site's Stand-in" in self.node(site).run(*check), "the site's platform is not taken")
        tap.check("/etc/uncored/uncored.conf:5: " in self.node(group, site).run(*check, check=False),
                  "the group's configuration is not taken")

    def test_f_nodes(self):
        """What two nodes of one image say of themselves and of a job differs in names, clocks and counts only"""
        one, other = (self.said_by(name) for name in ("n1", "n1000"))
        differ = {key for key in one.keys() | other.keys() if one.get(key) != other.get(key)}
        tap.equal({key for key in differ if not OWN.search(key)}, set(), "differ")
        tap.check({"record.host", "record.generation", "info.generation"} <= differ, f"differ: {differ}")
        tap.check("record.failure" not in one, f"it has no figures: {one}")

    def said_by(self, name):
        node = self.node()
        run("unshare", "--uts", "chroot", node.root, "sh", "-euc", NODE, name)
        return leaves({kind: json.loads(node.path(f"/tmp/{kind}").read_text(encoding="utf-8"))
                       for kind in ("info", "record")})
