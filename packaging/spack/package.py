# SPDX-License-Identifier: BSD-3-Clause
from spack_repo.builtin.build_systems.meson import MesonPackage

from spack.package import *


class Libuncore(MesonPackage):
    """Bytes that each socket moved to and from its memory, for programs without privilege: the library and the
    command of uncored.

    The daemon belongs to the system, and comes from its packages. Library and command find it at
    /run/uncored/socket, whatever their prefix is."""

    license("BSD-3-Clause")

    version("0.1.0")

    variant("json", default=True, description="Commands that read JSON: info, run, report, job, owner")
    variant("validate", default=True, when="+json", description="The command that validates counters")

    depends_on("c", type="build")
    depends_on("meson@0.62:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("json-c@0.14:", when="+json")
    depends_on("hwloc@2.1:", when="+validate")

    def meson_args(self):
        def feature(name):
            return f"-D{name}={'enabled' if self.spec.satisfies('+' + name) else 'disabled'}"

        return ["-Ddaemon=disabled", "-Dtests=disabled", "-Dpcp=disabled", feature("json"), feature("validate")]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(self.prefix.bin.uncore)("--version")
