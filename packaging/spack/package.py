# SPDX-License-Identifier: BSD-3-Clause
from spack_repo.builtin.build_systems.meson import MesonPackage

from spack.package import *


class Libuncore(MesonPackage):
    """Bytes that each socket moved to and from its memory, for programs without privilege: the library and the
    command of uncored.

    The daemon belongs to the system, and comes from its packages. Library and command find it at
    /run/uncored/socket, whatever their prefix is."""

    license("BSD-3-Clause AND MIT")

    version("0.1.0")

    variant("validate", default=True, description="The command that validates counters")

    depends_on("c", type="build")
    depends_on("meson@0.62:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hwloc@2.1:", when="+validate")

    def meson_args(self):
        validate = "enabled" if self.spec.satisfies("+validate") else "disabled"
        return ["-Ddaemon=disabled", "-Dtests=disabled", "-Dpcp=disabled", "-Dhttp=disabled", f"-Dvalidate={validate}"]

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def check_install(self):
        Executable(self.prefix.bin.uncore)("--version")
