# SPDX-License-Identifier: BSD-3-Clause
"""The kernel's own driver lays out its PMUs as tests/machines/icelake-sp.machine says."""
import pathlib
import re
import subprocess

from harness import Case, HERE

DEVICES = pathlib.Path("sys/bus/event_source/devices")
TREE = HERE / "icelake-sp-tree"
COUNTED = re.compile(r"uncore_(imc_\d+|imc_free_running_\d+|cha_\d+)$")  # the PMUs that icelake-sp.conf asks for


def files_of(pmu, folder):
    """{name: text}, without the newline at the end of some files."""
    return {path.name: path.read_text().rstrip("\n") for path in (pmu / folder).glob("*")}


class Layout(Case):
    @classmethod
    def setUpClass(cls):
        subprocess.run(["insmod", HERE / "intel-uncore.ko"], check=True)
        cls.real = {path.name: path for path in (pathlib.Path("/") / DEVICES).iterdir()
                    if COUNTED.match(path.name)}
        cls.made = {path.name: path for path in (TREE / DEVICES).iterdir() if COUNTED.match(path.name)}

    def test_memory(self):
        """it registers the memory controllers that the machine has, free-running ones included"""
        self.assertEqual({name for name in self.real if "imc" in name},
                         {name for name in self.made if "imc" in name})

    def test_format(self):
        """format/ of every PMU is the same"""
        self.assert_same("format")

    def test_events(self):
        """events/ of every PMU is the same, with scales and units"""
        self.assert_same("events")

    def assert_same(self, folder):
        for name in sorted(self.real):
            with self.subTest(pmu=name):
                self.assertEqual(files_of(self.real[name], folder), files_of(self.made[name], folder))

    def test_cpumask(self):
        """cpumask names one CPU of each package"""
        for name, path in self.real.items():
            with self.subTest(pmu=name):
                self.assertEqual((path / "cpumask").read_text(), "0,2\n")


CASES = [Layout]
