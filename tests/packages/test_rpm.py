# SPDX-License-Identifier: BSD-3-Clause
"""The RPM spec, built for each system that it names by Debian's rpmbuild, with stand-ins for that system's macros.
rpmbuild fails where a file is in no package or a package lacks a file. Nothing runs on these systems. Prints TAP."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import tap

SOURCE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])
MACROS = SOURCE / "tests/packages/rpm-macros"
SECONDS = 600
CLIENT = {"libuncore-devel", "uncore-markers", "uncore-tools"}
COMMON = CLIENT | {"uncored", "pcp-pmda-uncore"}
RED_HAT = COMMON | {"libuncore", "python3-uncore"}
# For each system: files of stand-ins, packages, the folder of the daemon, programs that scriptlets call.
SYSTEMS = {
    "EL 8": (["redhat", "el8"], CLIENT | {"libuncore"}, None, set()),
    "EL 9": (["redhat", "el9"], RED_HAT, "/usr/sbin", {"useradd", "systemctl"}),
    "EL 10": (["redhat", "el10"], RED_HAT, "/usr/sbin", {"systemctl"}),
    "Fedora": (["redhat", "fedora"], RED_HAT, "/usr/bin", {"systemctl"}),
    "SLE 15": (["sle15"], COMMON | {"libuncore0"}, "/usr/sbin", {"useradd", "systemctl", "systemd-tmpfiles"}),
}


def run(*words, **more):
    done = subprocess.run(list(map(str, words)), check=False, timeout=SECONDS, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    tap.equal(done.returncode, 0, f"{words}: {done.stdout[-4000:]}status")
    return done.stdout


class Topdir:
    """Where rpmbuild works."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        (self.folder / "SOURCES").mkdir()
        version = re.search(r"^Version: +(\S+)$", (SOURCE / "packaging/uncored.spec").read_text(encoding="ascii"),
                            re.MULTILINE).group(1)
        archive = self.folder / "SOURCES" / f"uncored-{version}.tar.xz"
        run(SOURCE / "tests/packages/pack-source", archive)
        for path in (SOURCE / "systemd").glob("*.sysusers"):
            shutil.copy(path, archive.parent)

    def build(self, macros):
        """Returns {package: its file}."""
        shutil.rmtree(self.folder / "RPMS", ignore_errors=True)
        loads = [f"--load={MACROS / name}" for name in ["common", *macros]]
        run("rpmbuild", "-bb", "--nodeps", "--without", "tests", *loads, "--define", f"_topdir {self.folder}",
            SOURCE / "packaging/uncored.spec")
        return {path.name.rsplit("-", 2)[0]: path for path in self.folder.glob("RPMS/*/*.rpm")}


def query(path, *options):
    return run("rpm", "--query", "--nosignature", "--package", path, *options)


def check_daemon(path, folder, programs):
    """The unit starts the program that the package has; scriptlets know what the system's rpm does by itself."""
    files = query(path, "--list").splitlines()
    tap.check(f"{folder}/uncored" in files, f"{files}")
    unit = run("sh", "-c", 'rpm2cpio "$0" | cpio --extract --quiet --to-stdout "*/uncored.service"', path)
    tap.check(f"\nExecStart={folder}/uncored\n" in unit, f"{unit}")
    tap.check("/etc/uncored/uncored.conf" in query(path, "--configfiles"), "uncored.conf is not a configuration file")
    scripts = query(path, "--scripts")
    tap.equal(set(re.findall(r"useradd|systemctl|systemd-tmpfiles", scripts)), programs, f"{scripts}programs")
    makers = {"shadow-utils", "group(root)"} & set(query(path, "--requires").split())
    tap.equal(bool(makers), "useradd" in programs, "requires what makes users")
    restarted = [line for line in scripts.splitlines() if "restart" in line]
    tap.check(restarted and not any("socket" in line for line in restarted), f"restarts the socket: {restarted}")


def check_exporter(path):
    """A removal, and no upgrade, takes the file away that node_exporter would go on to serve."""
    scriptlet = query(path, "--queryformat", "%{POSTUN}")
    last = next(line for line in scriptlet.splitlines() if "/run/uncore-export" in line)
    with tempfile.TemporaryDirectory() as folder:
        for left, exists in (1, True), (0, False):
            run("sh", "-c", last.replace("/run/uncore-export", folder), "postun", left)
            tap.equal(os.path.exists(folder), exists, f"{last}: the folder exists where {left} packages are left")
        os.mkdir(folder)


def check_client(path):
    """Without the daemon nothing is needed but the C library: the command has ours inside."""
    needed = re.findall(r"^(lib\w+)\.so", query(path, "--requires"), re.MULTILINE)
    tap.equal(set(needed), {"libc", "libm"}, "libraries")


def builds(topdir, system):
    macros, packages, folder, programs = SYSTEMS[system]
    built = topdir.build(macros)
    tap.equal(set(built), packages, "packages")
    for path in built.values():
        tap.check("%" not in query(path, "--scripts"), f"a macro without a stand-in: {query(path, '--scripts')}")
    if "uncored" in packages:
        check_daemon(built["uncored"], folder, programs)
        check_exporter(built["uncore-tools"])
    else:
        check_client(built["uncore-tools"])


def main():
    for program in ("rpmbuild", "rpm2cpio", "cpio", "xz"):
        if not shutil.which(program):
            tap.skip_all(f"{program} is not installed: ./dev setup --tests")
    with tempfile.TemporaryDirectory(prefix="uncored-rpm-") as folder:
        topdir = Topdir(folder)
        tap.run_functions([(f"The spec of {system} has all files, its own names and scriptlets",
                            lambda system=system: builds(topdir, system)) for system in SYSTEMS])


if __name__ == "__main__":
    main()
