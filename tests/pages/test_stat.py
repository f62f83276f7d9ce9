# SPDX-License-Identifier: BSD-3-Clause
"""`uncore stat --html` against the real uncored on the stand-in machine. Prints TAP; needs root."""
import json
import math
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

import browser
import pages
import tap
from listening import listens

SECONDS = 60
PAGES = 5000
TOUCH = pages.BUILD / "tests/workload/touch-pages"


class Stat(unittest.TestCase):
    """Pages of a command with a hostile name, and one without a command."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="uncored-pages-")
        cls.folder = pathlib.Path(cls.place.name)
        cls.socket = cls.folder / "socket"
        cls.uncored = subprocess.Popen(
            [pages.BUILD / "daemon/uncored", "--platforms", pages.SOURCE / "conf/platforms", "--root",
             pages.BUILD / "tests/machines/standin", "--config", "/dev/null", "--socket", cls.socket],
            stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + SECONDS
        while not listens(cls.socket):
            tap.check(time.monotonic() < deadline and cls.uncored.poll() is None, "uncored does not start")
            time.sleep(0.01)
        cls.script = cls.folder / pages.HOSTILE
        cls.script.parent.mkdir()
        cls.script.write_text(f"#!/bin/sh\nfor cpu in 0 1 1 1; do {TOUCH} {PAGES} $cpu; done >&2\n", encoding="utf-8")
        cls.script.chmod(0o755)
        cls.browser = browser.Browser().__enter__() if browser.is_there() else None

    @classmethod
    def tearDownClass(cls):
        if cls.browser:
            cls.browser.__exit__()
        cls.uncored.terminate()
        cls.uncored.wait(SECONDS)
        cls.place.cleanup()

    def stat(self, name, *words, status=0):
        """Path of the page, and what was printed."""
        path = self.folder / name
        done = subprocess.run([pages.UNCORE, "stat", "--html", path, *words], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, timeout=SECONDS, cwd=self.folder,
                              env=dict(os.environ, UNCORE_SOCKET=str(self.socket)))
        tap.equal(done.returncode, status, f"status, of {done}")
        return path, done.stderr

    def test_kept(self):
        """A report without files has a page, too, also of nothing"""
        path = self.folder / "kept.html"
        done = subprocess.run([pages.UNCORE, "report", "--html", path], text=True, stdout=subprocess.PIPE, check=True,
                              timeout=SECONDS, env=dict(os.environ, UNCORE_SOCKET=str(self.socket)))
        page = pages.read(path)
        tap.equal((page.text, page.data), (done.stdout, []), "text and data")
        if self.browser:
            pages.check_shown(self.browser, path)

    def need_browser(self):
        if not self.browser:
            raise tap.Skip("needs chromium-headless-shell: ./dev setup --tests installs it")

    def test_structure(self):
        """A page has its policy and its parts, loads nothing, and no name of a command adds to it"""
        path, _ = self.stat("hostile.html", "-I", "20ms", "--channels", "--", self.script)
        page = pages.read(path)
        tap.equal(page.data["command"], [str(self.script)], "the command")
        tap.check(str(self.script) in " ".join(page.text.split()), f"the command is not in the text: {page.text}")

    def test_same_figures(self):
        """The table that stderr has is the text of the page, and its counts are those of the JSON"""
        path, said = self.stat("same.html", "--", self.script)
        page = pages.read(path)
        tap.check(page.text.strip() and page.text in said, f"{page.text!r} is not in {said!r}")
        n = 0
        for item in (*page.data["sockets"], page.data["all_sockets"]):
            for name, metric in item["metrics"].items():
                if "bytes" in metric:
                    tap.check(re.search(rf"^ +{re.escape(name)} +{metric['bytes']:,} bytes", page.text, re.M),
                              f"{name} {metric['bytes']:,} is not in {page.text}")
                    n += 1
        tap.check(n >= 12, f"{n} counts")

    def test_course(self):
        """The rates of all intervals, by their times, are the counts of the whole"""
        path, _ = self.stat("course.html", "-I", "30ms", "--", self.script)
        page = pages.read(path)
        times = list(zip(page.more["begin_us"], page.more["end_us"]))
        tap.equal(page.more["intervals_per_point"], 1, "intervals of a point")
        tap.equal(len(times), page.more["intervals"], "points")
        for socket in page.data["sockets"]:
            names = [(place["socket"], name) for place in page.data["sockets"] for name in place["metrics"]]
            series = page.more["columns"][names.index((socket["socket"], "dram.read"))]
            moved = sum(rate * 1000 * (end - begin) for rate, (begin, end) in zip(series["rate"], times))
            count = socket["metrics"]["dram.read"]["bytes"]
            tap.check(math.isclose(moved, count, rel_tol=0.1), f"{moved} in the course, {count} in all")
            words = [page.more["words"][bit] for bit in range(32) if series["quality"][0] >> bit & 1]
            tap.equal(words, socket["metrics"]["dram.read"]["quality"], "words of quality")
        tap.check("STAND-IN" in page.more["caveat"], "the page does not say what is counted")

    def test_quiet_without_interval(self):
        """Without -I the page has a course, and no interval is printed; JSON stays as it was"""
        path, said = self.stat("quiet.html", "--json", "--for", "350ms")
        whole = json.loads(said)
        page = pages.read(path)
        tap.check(page.more["intervals"] >= 3, f"{page.more['intervals']} intervals")
        tap.equal(page.data["sockets"], whole["sockets"], "sockets")

    def test_failures(self):
        """A page that cannot be written is said before the command runs; a failed run leaves its reason, no old page"""
        _, said = self.stat("nowhere/page.html", "--", "touch", self.folder / "ran", status=125)
        tap.check("cannot write to" in said and not (self.folder / "ran").exists(), said)
        path, _ = self.stat("failed.html", "--", "/nowhere/command", status=127)
        page = pages.read(path)
        tap.check("/nowhere/command" in page.data["failure"], f"{page.data}")

    def test_shown(self):
        """A browser shows a chart for each socket and a row for each count, asks for nothing, and has no complaint"""
        self.need_browser()
        path, _ = self.stat("shown.html", "-I", "20ms", "--channels", "-r", "2", "--", self.script)
        page = pages.read(path)
        pages.check_shown(self.browser, path)
        counts = sum("absent" not in metric for item in (*page.data["sockets"], page.data["all_sockets"], *page.data["parts"])
                     for metric in item["metrics"].values())
        tap.equal(self.browser.run("document.querySelectorAll('tbody tr').length"), counts, "rows")
        tap.equal(self.browser.run("document.querySelectorAll('.uplot').length"), 3 + 2 * 3, "charts")
        tap.check(self.browser.run("document.querySelector('h1').textContent").find(str(self.script)) > 0, "heading")

    def test_keyboard(self):
        """With the keyboard alone, values are told, and the charts zoom together"""
        self.need_browser()
        path, _ = self.stat("keys.html", "-I", "20ms", "--", self.script)
        self.browser.show(path)
        self.browser.run("document.querySelector('.chart').focus()")
        for key in ("ArrowRight", "ArrowRight", "+"):
            self.browser.say("Input.dispatchKeyEvent", type="keyDown", key=key, text=key if len(key) == 1 else "")
        told = self.browser.run("document.querySelector('.reading').textContent")
        tap.check("dram.read" in told and "GB/s" in told and "standin" in told, f"it tells {told!r}")
        ranges = self.browser.run("plots.map((plot) => plot.scales.x.max - plot.scales.x.min)")
        whole = self.browser.run("axis.x[axis.x.length - 1] - axis.x[0]")
        tap.check(len(ranges) == 3 and all(math.isclose(one, ranges[0]) and one < 0.8 * whole for one in ranges),
                  f"{ranges} of {whole}")
        tap.equal(self.browser.complaints(), [], "what the page wrote to the console")

    def mouse(self, kind, x, y, buttons=0):
        self.browser.say("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", buttons=buttons, clickCount=1)

    def test_mouse(self):
        """Below the pointer are the values, and where it is dragged all charts zoom"""
        self.need_browser()
        path, _ = self.stat("mouse.html", "-I", "20ms", "--", self.script)
        self.browser.show(path)
        box = self.browser.run("(({x, y, width, height}) => [x, y, width, height])"
                               "(document.querySelector('.u-over').getBoundingClientRect())")
        at = [(box[0] + share * box[2], box[1] + box[3] / 2) for share in (0.4, 0.5, 0.6)]
        self.mouse("mouseMoved", *at[0])
        told = self.browser.run("document.querySelector('.reading').textContent")
        tap.check("dram.read" in told and "GB/s" in told, f"it tells {told!r}")
        self.mouse("mousePressed", *at[0], buttons=1)
        for place in at[1:]:
            self.mouse("mouseMoved", *place, buttons=1)
        self.mouse("mouseReleased", *at[2])
        ranges = self.browser.run("plots.map((plot) => [plot.scales.x.min, plot.scales.x.max])")
        whole = self.browser.run("axis.x[axis.x.length - 1] - axis.x[0]")
        tap.check(ranges == [ranges[0]] * 3 and 0.15 < (ranges[0][1] - ranges[0][0]) / whole < 0.25, f"{ranges} of {whole}")
        self.browser.run("[...document.querySelectorAll('button')].find((one) => one.textContent === 'Show all').click()")
        ranges = self.browser.run("plots.map((plot) => plot.scales.x.max - plot.scales.x.min)")
        tap.check(all(math.isclose(one, whole) for one in ranges), f"{ranges} of {whole}")
        tap.equal(self.browser.complaints(), [], "what the page wrote to the console")

    def test_still(self):
        """Without scripts there is the course of each socket's bytes, with its mean and highest rate"""
        self.need_browser()
        path, _ = self.stat("still.html", "-I", "20ms", "--", self.script)
        data = pages.read(path).data
        places = [(f"socket {socket['socket']}", socket) for socket in data["sockets"]] + [("all sockets", data["all_sockets"])]
        rows = [f"{place} {name}" for place, one in places for name, metric in one["metrics"].items()
                if "bytes" in metric and not name.startswith("check.")]
        pages.check_still(self.browser, path, rows)
        tap.check("socket 1 dram.read" in rows, f"{rows}")
        mean, highest = (self.browser.run(f"document.querySelector('tbody tr').cells[{cell}].textContent") for cell in (2, 3))
        tap.check(all(re.fullmatch(r"[0-9.]+ [KMG]B/s", said) for said in (mean, highest)), f"{mean}, {highest}")

    def test_paper(self):
        """On A4 in black and white a page can be read"""
        self.need_browser()
        pages.check_paper(self.browser, self.stat("paper.html", "-I", "20ms", "--channels", "--", self.script)[0])

    def test_axe(self):
        """axe-core finds nothing serious"""
        self.need_browser()
        path, _ = self.stat("axe.html", "-I", "20ms", "--channels", "--", self.script)
        pages.check_axe(self.browser, path)

    def test_many(self):
        """As many figures as a page can have are at most 5 MB, and the page says what a point is"""
        path, _ = self.stat("many.html", "--", self.script)
        page = pages.Page(path)
        n, columns = 4096, 29
        data = dict(page.data, sockets=[dict(page.data["sockets"][0], socket=i, metrics={"dram.read": {"bytes": 1, "quality": []}})
                                        for i in range(columns)], all_sockets={"metrics": {}})
        more = dict(page.more, intervals=10**6, intervals_per_point=256, begin_us=[i * 2560000 for i in range(n)],
                    end_us=[(i + 1) * 2560000 for i in range(n)],
                    columns=[{"quality": [64] * n, **{
                        key: [round((1 + k) * (100 + i + k * at % 7) / 3, 3) for at in range(n)]
                        for k, key in enumerate(("least", "rate", "most"))}} for i in range(columns)])
        pages.replace(path, "data", data)
        pages.replace(path, "more", more)
        pages.read(path)
        self.need_browser()
        print(f"# opened in {self.browser.show(path):.2f} s, {path.stat().st_size} bytes")
        pages.check_quiet(self.browser, path)
        tap.equal(self.browser.run("document.querySelectorAll('.uplot').length"), columns, "charts")
        tap.check("mean of 256 intervals" in self.browser.run("document.body.textContent"), "it does not say what a point is")


class Colors(unittest.TestCase):
    """The style sheet."""

    def test_colors(self):
        """Lines can be told apart with any kind of colour vision, and text and lines from the paper"""
        for palette in pages.palettes():
            lines = [color for name, color in palette.items() if name.startswith("line-")]
            tap.equal(len(lines), 6, "lines")
            for kind in pages.LACKING:
                for i, one in enumerate(lines):
                    for other in lines[:i]:
                        tap.check(pages.distance(one, other, kind) >= 20, f"{one} and {other} with {kind}")
            for name in ("ink", "dim", "note", "bad"):
                tap.check(pages.contrast(palette[name], palette["paper"]) >= 4.5, f"{name} on paper")
            for color in lines:
                tap.check(pages.contrast(color, palette["paper"]) >= 3, f"{color} on paper")


if __name__ == "__main__":
    if os.geteuid() != 0:
        tap.skip_all("needs root")
    tap.run([Stat, Colors])
