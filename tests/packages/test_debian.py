# SPDX-License-Identifier: BSD-3-Clause
"""Debian's packages of a clean copy of the tree: built, looked at, installed, used, and built again. Prints TAP."""
import fnmatch
import os
import pathlib
import re
import shutil
import tempfile

import image
import overlay
import tap
from debs import SOURCE, Built, build, run

DOC = [f"/usr/share/doc/{{}}/{name}" for name in ("changelog.gz", "changelog.Debian.gz", "copyright")]
LINTIAN = "/usr/share/lintian/overrides/{}"
UNIT = "*/systemd/system/"
MAN = "/usr/share/man/man"


def completions(program):
    """What bash, fish and zsh complete."""
    return [f"/usr/share/bash-completion/completions/{program}", f"/usr/share/fish/vendor_completions.d/{program}.fish",
            f"/usr/share/zsh/vendor-completions/_{program}"]


# What is in each package, and nothing else. Each pattern has a file.
CONTENTS = {
    "uncored": [
        "/etc/uncored/uncored.conf", UNIT + "uncored.service", UNIT + "uncored.socket",
        "/usr/lib/sysusers.d/uncored.conf", "/usr/lib/tmpfiles.d/uncored-jobs.conf", "/usr/sbin/uncored",
        MAN + "5/uncore-platform.5.gz", MAN + "5/uncored.conf.5.gz", MAN + "7/uncored-jobs.7.gz",
        MAN + "7/uncored-security.7.gz", MAN + "8/uncored.8.gz", "/usr/share/uncored/platforms/*.conf",
        "/usr/share/uncored/slurm/epilog", "/usr/share/uncored/slurm/prolog",
        "/usr/share/uncored/uncored-bpf.conf", "/usr/share/uncored/uncored-paranoid.conf",
        "/etc/apparmor.d/usr.sbin.uncored", "/usr/share/doc/uncored/NEWS.Debian.gz",
        "/usr/share/doc/uncored/examples/kubernetes/uncored.yaml", *completions("uncored"), LINTIAN],
    "uncore-tools": [
        UNIT + "uncore-export-http.socket", UNIT + "uncore-export-http.service",
        UNIT + "uncore-export-textfile.service", UNIT + "uncore-export-textfile.timer", "/usr/bin/uncore",
        "/usr/lib/sysusers.d/uncore-export.conf", MAN + "1/uncore.1.gz", MAN + "1/uncore-*.1.gz",
        MAN + "5/uncore-report.5.gz", MAN + "7/uncore-numbers.7.gz", "/usr/share/uncored/grafana/*.json",
        "/usr/share/uncored/prometheus/*.yml", "/usr/share/doc/uncore-tools/README.md*",
        "/usr/share/doc/uncore-tools/doc/*.md*", "/usr/share/doc/uncore-tools/doc/pictures/*",
        *completions("uncore"), LINTIAN],
    "uncored-selinux": ["/usr/share/selinux/default/uncored.pp", "/usr/share/selinux/devel/include/services/uncored.if"],
    "libuncore0": ["/usr/lib/*/libuncore.so.0", "/usr/lib/*/libuncore.so.0.1.0"],
    "libuncore-dev": [
        "/usr/include/uncore.h", "/usr/include/uncore.hpp", "/usr/lib/*/libuncore.a", "/usr/lib/*/libuncore.so",
        "/usr/lib/*/cmake/uncore/uncore-config.cmake", "/usr/lib/*/cmake/uncore/uncore-config-version.cmake",
        "/usr/lib/*/pkgconfig/libuncore.pc", "/usr/share/libuncore/uncore.f90", MAN + "3/libuncore.3.gz",
        MAN + "3/uncore-fortran.3.gz", MAN + "3/uncore.hpp.3.gz", MAN + "3/uncore_*.3.gz"],
    "uncore-markers": [
        "/usr/lib/*/uncore/libuncore-*.so", "/usr/lib/*/uncore/libuncore_plugin.so",
        "/usr/lib/*/uncore/libuncore_async_plugin.so", MAN + "7/uncore-markers.7.gz", MAN + "7/uncore-scorep.7.gz"],
    "python3-uncore": [
        "/usr/lib/python3/dist-packages/uncore/*.py", "/usr/lib/python3/dist-packages/uncore/py.typed",
        MAN + "3/uncore-python.3.gz"],
    "pcp-pmda-uncore": [
        "/etc/pcp/*/uncore", "/etc/pcp/pmieconf/uncore/*", "/etc/pcp/pmlogconf/uncore/*", "/etc/pcp/pmrep/uncore.conf",
        "/usr/lib/pcp/pmdas/uncore/*", "/usr/lib/sysusers.d/pmdauncore.conf", MAN + "1/pmdauncore.1.gz",
        "/var/lib/pcp/config/*/uncore/*", "/var/lib/pcp/pmdas/uncore/*", LINTIAN],
}
# What uncored-selinux depends on, and the machine need not have.
SELINUX = "policycoreutils,selinux-policy-default,selinux-policy-mls"
USERS = ("uncored", "uncore-export", "pmdauncore")
ENABLED = "/etc/systemd/system/sockets.target.wants/uncored.socket"
RECORD = "/var/lib/uncored-jobs/1@host.json"
# What the exporter and `uncore validate --keep` write.
EXPORTED, KEPT = "/run/uncore-export/uncore.prom", "/var/lib/uncored/validated.json"
COMPARED = (".deb", ".dsc", ".gz", ".xz")  # of what a build makes


def is_of_code(complaint):
    """Is it about the spelling of a word that no source has? Instructions can look like one."""
    found = re.search(r"spelling-error-in-binary (\S+) ", complaint)
    return found and not any(found[1] in path.read_text(encoding="utf-8")
                             for folder in ("daemon", "common", "pmda") for path in (SOURCE / folder).rglob("*.[ch]"))


class Packages(Built):
    def test_lintian(self):
        """lintian has no complaint, be it pedantic or for information only"""
        changes = next(self.folder.glob("*.changes"))
        said = run("lintian", "--allow-root", "--no-user-dirs", "--pedantic", "--display-info", changes)
        tap.equal([line for line in said.splitlines() if not is_of_code(line)], [], "complaints")

    def test_contents(self):
        """Each package has the files that it should have, and no other"""
        for package, patterns in CONTENTS.items():
            wanted = [pattern.format(package) for pattern in patterns + DOC]
            listed = run("dpkg-deb", "--contents", self.deb(package)).splitlines()
            files = [line.split()[5][1:] for line in listed if not line.startswith("d")]
            strangers = [name for name in files if not any(fnmatch.fnmatch(name, pattern) for pattern in wanted)]
            missing = [pattern for pattern in wanted if not fnmatch.filter(files, pattern)]
            tap.equal((strangers, missing), ([], []), f"{package}: strangers, missing")

    def test_run_paths(self):
        """Nothing has a run path"""
        with tempfile.TemporaryDirectory() as folder:
            for package in CONTENTS:
                run("dpkg-deb", "--extract", self.deb(package), folder)
            binaries = [path for path in pathlib.Path(folder).rglob("*") if path.is_file() and not path.is_symlink() and
                        path.read_bytes()[:4] == b"\x7fELF"]
            found = [path.name for path in binaries if re.search(r"\((RPATH|RUNPATH)\)", run("readelf", "-d", path))]
        tap.equal((found, len(binaries) > 4), ([], True), "those with one, and enough binaries")

    def test_apparmor(self):
        """apparmor_parser takes the profile, and it only complains"""
        if not shutil.which("apparmor_parser"):
            raise tap.Skip("apparmor_parser is not installed: ./dev setup --tests")
        profile = SOURCE / "packaging/apparmor/usr.sbin.uncored"
        run("apparmor_parser", "--skip-kernel-load", "--skip-cache", profile)
        tap.check("flags=(complain)" in profile.read_text(encoding="ascii"), "it does not say complain")

    def test_library(self):
        """The library needs the C library only"""
        depends = run("dpkg-deb", "--field", self.deb("libuncore0"), "Depends")
        tap.equal(re.sub(r" \(.*?\)", "", depends.strip()), "libc6", "Depends")

    def test_symbols(self):
        """A symbol is as old as its version node says, or as the first package; the static library has the same"""
        version = run("dpkg-parsechangelog", "--show-field", "Version", cwd=SOURCE).strip().rpartition("-")[0]
        named = re.findall(r"^ (\w+)@LIBUNCORE_(\S+) (\S+)$",
                           (SOURCE / "debian/libuncore0.symbols").read_text(encoding="ascii"), re.MULTILINE)
        for name, node, since in named:
            older = min(f"{node}.0", version, key=lambda text: [int(part) for part in text.split(".")])
            tap.equal(since, older, name)
        with tempfile.TemporaryDirectory() as folder:
            run("dpkg-deb", "--extract", self.deb("libuncore-dev"), folder)
            archive = next(pathlib.Path(folder).glob("usr/lib/*/libuncore.a"))
            shown = re.findall(r" [A-TV-Z] (\w+)$", run("nm", "--extern-only", archive), re.MULTILINE)
        tap.equal(sorted(shown), sorted(name for name, _, _ in named if name.startswith("uncore_")), "static library")


class Installed(Built):
    """On a machine of its own, in this order."""

    machine = None

    def setUp(self):
        """Where there can be no such machine, each case says so."""
        if not self.machine:
            type(self).machine = machine = overlay.Machine()
            shutil.copytree(self.folder, machine.path("/tmp/debs"))
            machine.run("dpkg-source", "--extract", next(self.folder.glob("*.dsc")).name, "/tmp/source",
                        cwd="/tmp/debs")

    @classmethod
    def tearDownClass(cls):
        if cls.machine:
            cls.machine.close()

    def install(self, *packages):
        debs = (f"/tmp/debs/{self.deb(package).name}" for package in packages)
        self.machine.run("dpkg", f"--ignore-depends={SELINUX}", "--install", *debs)

    def test_a_install(self):
        """An installation makes the users, enables the socket and nothing else, and all files are there"""
        self.install(*CONTENTS)
        for user in USERS:
            self.machine.run("getent", "passwd", user)
        enabled = [path for path in self.machine.written() if path.startswith("/etc/systemd/") and "uncore" in path]
        tap.equal(enabled, [ENABLED], "enabled")
        tap.equal(self.machine.run("dpkg", "--verify", *CONTENTS), "", "files that differ")

    def test_b_use(self):
        """The tests of debian/tests succeed"""
        control = self.machine.path("/tmp/source/debian/tests/control").read_text(encoding="ascii")
        for name in re.findall(r"^Tests: (\S+)$", control, re.MULTILINE):
            folder = f"/tmp/test-{name}"
            self.machine.path(folder).mkdir()
            self.machine.run(f"debian/tests/{name}", cwd="/tmp/source", AUTOPKGTEST_TMP=folder)

    def test_c_upgrade(self):
        """An upgrade restarts the daemon and the exporter's port if they run, and keeps socket and configuration"""
        self.machine.record_systemd()
        config = self.machine.path("/etc/uncored/uncored.conf")
        config.write_text("# of the site\n", encoding="ascii")
        self.install(*CONTENTS)
        tap.equal(sorted(self.machine.asked()),
                  ["start uncored.socket", "try-restart uncore-export-http.socket", "try-restart uncored.service"],
                  "systemd was asked")
        tap.equal(config.read_text(encoding="ascii"), "# of the site\n", "configuration")

    def test_d_remove(self):
        """A removal stops the socket, with it the daemon, and the exporters with their file; pmcd forgets the agent"""
        self.machine.run("./Rebuild", "-us", cwd="/var/lib/pcp/pmns")  # as the first start of pmcd does
        agents = self.machine.path("/etc/pcp/pmcd/pmcd.conf")
        before = agents.read_text(encoding="ascii")
        agents.write_text(before.replace("\n[", "uncore\t470\tpipe\tbinary\t/nowhere\n\n[", 1), encoding="ascii")
        for name in (EXPORTED, KEPT):
            self.machine.path(name).parent.mkdir(exist_ok=True)
            self.machine.path(name).touch()
        self.machine.run("dpkg", "--remove", *CONTENTS)
        stopped = sorted(name for line in self.machine.asked() for name in line.removeprefix("stop ").split())
        tap.equal(stopped, ["uncore-export-http.service", "uncore-export-http.socket", "uncore-export-textfile.service",
                            "uncore-export-textfile.timer", "uncored.socket"], "stopped")
        tap.equal([self.machine.path(name).exists() for name in (EXPORTED, KEPT)], [False, True], "files exist")
        tap.check("uncore" not in agents.read_text(encoding="ascii"), "pmcd.conf still names the agent")

    def test_e_purge(self):
        """After a purge there is nothing left but users and their records, and what the site has mounted"""
        self.machine.path(RECORD).write_text("{}", encoding="ascii")
        self.machine.path("/run/uncored").mkdir(exist_ok=True)
        overlay.mount("-t", "tmpfs", "tmpfs", self.machine.path("/run/uncored"))
        self.machine.run("dpkg", "--purge", *CONTENTS)
        left = {path for path in self.machine.written()
                if "uncore" in path and not path.startswith(("/var/cache/", "/var/lib/dpkg/", "/var/log/"))}
        tap.equal(left, {RECORD, os.path.dirname(RECORD)}, "left")


class Again(Built):
    def test_again(self):
        """In another folder, time zone, locale and umask the same bytes come out"""
        with tempfile.TemporaryDirectory(prefix="uncored-again-and-elsewhere-") as folder:
            build(folder, umask=0o027, TZ="Pacific/Kiritimati", LC_ALL="C", HOME="/nonexistent")
            files = [path for path in sorted(self.folder.iterdir()) if path.suffix in COMPARED]
            tap.check({path.suffix for path in files} == set(COMPARED), f"built: {files}")
            for path in files:
                run("cmp", path, pathlib.Path(folder) / path.name)


def main():
    for program in ("dh", "lintian"):
        if not shutil.which(program):
            tap.skip_all(f"{program} is not installed: ./dev setup --tests")
    overlay.enter()
    try:
        tap.run([Packages, Installed, image.Image, Again])
    finally:
        Built.remove()


if __name__ == "__main__":
    main()
