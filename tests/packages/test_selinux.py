# SPDX-License-Identifier: BSD-3-Clause
"""The policy module for SELinux, by Debian's reference policy. Suite guests runs uncored under it. Prints TAP."""
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import tap

POLICY = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"]) / "packaging/selinux"
REFERENCE = pathlib.Path("/usr/share/selinux/devel/Makefile")
# It names an attribute and a type of the reference policy, for which there are no interfaces.
FALSE = "S-001"
SECONDS = 300
# file_contexts.subs_dist of some policies: where they look for another path.
ALIASES = {"Debian 12": "/var/run /run\n", "EL 9": "/run /var/run\n", "Fedora 42": "/var/run /run\n/usr/sbin /usr/bin\n"}
# What a policy says of any program. A path without a pattern has precedence, one with a pattern may not have it.
PROGRAMS = "/usr/s?bin/.*\t--\tsystem_u:object_r:bin_t:s0\n"
LABELS = {"/etc/uncored/uncored.conf": "uncored_conf_t", "/run/uncored": "uncored_runtime_t",
          "/run/uncored/socket": "uncored_runtime_t",
          "/var/lib/uncored/state/sockets": "uncored_var_lib_t", "/usr/sbin/uncored": "uncored_exec_t"}


class Module(unittest.TestCase):
    def run_there(self, *words):
        """In a copy of the policy."""
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        shutil.copytree(POLICY, folder, dirs_exist_ok=True)
        done = subprocess.run(words, cwd=folder, check=False, timeout=SECONDS, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        tap.equal(done.returncode, 0, f"{words}: {done.stdout}status")
        return done.stdout, folder

    def test_compiles(self):
        """The module compiles without a complaint"""
        said, folder = self.run_there("make", "-f", REFERENCE, "NAME=default", "uncored.pp")
        tap.equal(re.findall(r".*(?:warning|error).*", said, re.IGNORECASE), [], "complaints")
        tap.check((folder / "uncored.pp").stat().st_size > 0, "the module is empty")

    def test_labels(self):
        """Each file has its type, whichever path the policy takes for another"""
        _, folder = self.run_there("sh", "-c", f"make -f {REFERENCE} NAME=default uncored.pp && "
                                               "semodule_unpackage uncored.pp module file_contexts")
        with (folder / "file_contexts").open("a", encoding="ascii") as contexts:
            contexts.write(PROGRAMS)
        for policy, aliases in ALIASES.items():
            (folder / "file_contexts.subs_dist").write_text(aliases, encoding="ascii")
            for path, label in LABELS.items():
                found = subprocess.run(["matchpathcon", "-N", "-n", "-f", folder / "file_contexts", path], text=True,
                                       check=False, timeout=SECONDS, capture_output=True)
                tap.check(f":{label}:" in found.stdout, f"{policy}: {path}: {found.stdout}{found.stderr}")

    def test_lint(self):
        """selint has no complaint"""
        if not shutil.which("selint"):
            raise tap.Skip("selint is not installed: ./dev setup --tests")
        self.run_there("selint", "--fail", "--disable", FALSE, "--recursive", ".")


def main():
    if not REFERENCE.exists():
        tap.skip_all("there is no reference policy: ./dev setup --tests")
    tap.run([Module])


if __name__ == "__main__":
    main()
