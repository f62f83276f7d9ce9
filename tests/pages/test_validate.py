# SPDX-License-Identifier: BSD-3-Clause
"""`uncore validate --html` on a simulated machine with a defect. Prints TAP; needs root."""
import contextlib
import os
import pathlib
import tempfile
import unittest

import browser
import machine
import pages
import tap


class Validate(unittest.TestCase):
    """A machine one of whose channels counts nothing."""

    @classmethod
    def setUpClass(cls):
        cls.place = contextlib.ExitStack()
        cls.folder = pathlib.Path(cls.place.enter_context(tempfile.TemporaryDirectory(prefix="uncored-pages-")))
        cls.browser = cls.place.enter_context(browser.Browser()) if browser.is_there() else None
        cls.path = cls.folder / "page.html"
        served = cls.place.enter_context(machine.serving(machine.Machine(boxes=(0, 1, 2, 15))))
        cls.wrong = served.validate("--kernel", "load", "--html", cls.path)
        cls.nowhere = served.validate("--quick", "--html", "/nowhere/page.html")
        cls.done = served.validate("--html", cls.path, "--host-name")

    @classmethod
    def tearDownClass(cls):
        cls.place.close()

    def need_browser(self):
        if not self.browser:
            raise tap.Skip("needs chromium-headless-shell: ./dev setup --tests installs it")

    def test_figures(self):
        """The page has the text that the command prints, and the report that a site sends in"""
        tap.equal(self.done.returncode, machine.DEFECT, f"status, of {self.done}")
        page = pages.read(self.path)
        tap.equal(page.text, self.done.stdout, "the text")
        tap.equal((page.data["outcome"], page.data["host"]), ("defect", os.uname().nodename), "outcome and host")
        node, = page.data["nodes"]
        tap.check(list(node["channels"]) == ["imc0", "imc1", "imc2", "imc3"] and node["channels"]["imc3"] == 0,
                  f"{node['channels']}")

    def test_failures(self):
        """A page without a verdict is refused, and one that cannot be written is said before anything runs"""
        tap.check(self.wrong.returncode == 2 and "--kernel gives no verdict" in self.wrong.stderr, f"{self.wrong}")
        tap.check(self.nowhere.returncode == machine.NOT_MEASURED and "cannot write to" in self.nowhere.stderr and
                  not self.nowhere.stdout, f"{self.nowhere}")

    def test_shown(self):
        """A browser shows each channel, each kernel and each metric, predicted and measured, with the verdict"""
        self.need_browser()
        pages.check_shown(self.browser, self.path)
        node, = pages.Page(self.path).data["nodes"]
        rows = self.browser.run("[...document.querySelectorAll('table')].map((table) => [...table.tBodies[0].rows].map((row) =>"
                                "[...row.cells].map((cell) => cell.textContent)))")
        tap.equal(rows[0], [[name, "25.00 %", f"{100 * share:.2f} %"] for name, share in node["channels"].items()], "channels")
        tap.equal([row[0] for row in rows[1]], [kernel["kernel"] for kernel in node["kernels"]], "kernels")
        tap.check(all(0.74 < float(row[6]) < 0.76 for row in rows[1] if row[0] != "fill"), f"{rows[1]}")
        tap.equal([row[0] for row in rows[2]], ["dram.read", "dram.write"], "metrics")
        text = self.browser.run("document.body.textContent")
        for words in ("Counters of this machine: defect", "Node 0, socket 0: defect", "SIMULATED", *node["findings"]):
            tap.check(words in text, f"'{words}' is not in {text}")

    def test_still(self):
        """Without scripts there is a bar for each metric of each kernel, of what was predicted and what was shown"""
        self.need_browser()
        node, = pages.Page(self.path).data["nodes"]
        pages.check_still(self.browser, self.path, [f"{node['node']}: {kernel['kernel']}, {metric['metric']}" for kernel in node["kernels"]
                                                   for metric in node["metrics"]], empty=2)

    def test_paper(self):
        """On A4 in black and white a page can be read"""
        self.need_browser()
        pages.check_paper(self.browser, self.path)

    def test_axe(self):
        """axe-core finds nothing serious"""
        self.need_browser()
        pages.check_axe(self.browser, self.path)

    def test_hostile(self):
        """Texts of a report are text: names of channels, findings, processors"""
        self.need_browser()
        path = self.folder / "hostile.html"
        path.write_bytes(self.path.read_bytes())
        data = pages.Page(path).data
        data["processor"]["model name"] = data["nodes"][0]["findings"][0] = pages.HOSTILE
        data["nodes"][0]["channels"] = {pages.HOSTILE: 1}
        pages.replace(path, "data", data)
        pages.check_shown(self.browser, path)
        tap.check(self.browser.run("document.body.textContent").count(pages.HOSTILE) >= 3, "the texts are not shown")


if __name__ == "__main__":
    if os.geteuid() != 0:
        tap.skip_all("needs root")
    tap.run([Validate])
