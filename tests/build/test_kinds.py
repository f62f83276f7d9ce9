# SPDX-License-Identifier: BSD-3-Clause
"""Other kinds of builds: static, with link-time optimisation, the daemon alone, with options left out or asked for."""
import pathlib
import subprocess
import tempfile

import builds
import tap
from builds import CLIENT_ONLY, SOURCE, STATIC, Build, must_run, needed, run


class Suite:
    """Its cases share a folder, and a build that two look at."""

    def __init__(self, folder):
        self.folder = folder

    def static_command(self):
        """A static command builds where there is a C compiler and meson and nothing else, and runs"""
        build = Build(self.folder / "static-command", *CLIENT_ONLY, *STATIC, "-Dwerror=true",
                      environment=builds.tools_alone(self.folder)).compile()
        tap.equal(needed(build.folder / "client/uncore"), set(), "libraries that the command needs")
        must_run(build.folder / "client/uncore")

    def static_whole(self):
        """A command with all that it can have links the static library, and needs no json-c; with link-time optimisation"""
        header = self.folder / "no-json-c/json-c/json.h"
        header.parent.mkdir(parents=True)
        header.write_text("#error uncored needs no json-c\n", encoding="utf-8")
        self.whole = Build(self.folder / "static", *CLIENT_ONLY, "-Ddefault_library=static", "-Dvalidate=enabled",
                           "-Db_lto=true", "-Dman=disabled", f"-Dc_args=-I{header.parent.parent}").compile()
        must_run(self.whole.folder / "client/uncore")

    def static_library_lto(self):
        """A program that has functions of the same names also links that library, with this optimisation and without"""
        library = self.whole.folder / "client/libuncore.a"
        for option in ("-flto", "-fno-lto"):
            builds.link_same_names(self.folder, option, f"-I{SOURCE}/client/libuncore", library, "-lm", "-pthread")

    def daemon_only(self):
        """The daemon builds without the client"""
        build = Build(self.folder / "daemon", "-Dclient=disabled", "-Dtests=disabled", "-Dman=disabled")
        files = build.compile().install()
        libraries = {name.split(".so")[0] for name in needed(build.folder / "daemon/uncored")}
        tap.check("libsystemd" in libraries, f"uncored needs {libraries}")
        tap.check("sbin/uncored" in files, f"sbin/uncored is not among {files}")
        client = [file for file in files if "libuncore" in file or file.startswith(("bin/", "include/"))]
        tap.equal(client, [], "files of the client")

    def daemon_auto(self):
        """-Ddaemon=auto leaves the daemon out where what it needs is missing, and nothing else"""
        build = Build(self.folder / "auto", "-Ddaemon=auto", "-Dtests=auto", "-Dpcp=disabled",
                      environment=builds.tools_alone(self.folder))
        files = [file.removeprefix(f"{build.prefix}/") for file in build.destinations()]
        tap.check("bin/uncore" in files and "sbin/uncored" not in files, f"{files}")

    def asked_for(self):
        """Units and PCP's files go where systemd and PCP look with the prefix /usr; PCP's also with -Dpcp=enabled"""
        if subprocess.run(["pkg-config", "--exists", "systemd", "libpcp"], check=False).returncode:
            raise tap.Skip("needs systemd and PCP's libraries: ./dev setup --tests installs them")
        units = run("pkg-config", "--variable=systemd_system_unit_dir", "systemd").strip()
        agent = run("sh", "-c", ". /etc/pcp.conf && printf %s $PCP_PMDAS_DIR/uncore/Install")
        usual = Build(self.folder / "usual", "-Dtests=disabled", "--prefix=/usr").destinations()
        asked = Build(self.folder / "asked", "-Dtests=disabled", "-Dpcp=enabled").destinations()
        for name in (f"{units}/uncored.socket", "/etc/uncored/uncored.conf", agent):
            tap.check(name in usual, f"{name} is not among {usual}")
        tap.check(agent in asked, f"{agent} is not among {asked}")


def main():
    builds.become_nobody()
    with tempfile.TemporaryDirectory(prefix="uncored-build-") as name:
        suite = Suite(pathlib.Path(name))
        tap.run_functions([(case.__doc__, case) for case in (
            suite.static_command, suite.static_whole, suite.static_library_lto, suite.daemon_only, suite.daemon_auto,
            suite.asked_for)])


main()
