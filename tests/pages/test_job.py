# SPDX-License-Identifier: BSD-3-Clause
"""`uncore job report --html` of made-up records. Prints TAP."""
import json
import pathlib
import subprocess
import tempfile
import unittest

import browser
import pages
import records
import tap

SECONDS = 60
HOSTS = 150


class Job(unittest.TestCase):
    """A job of many hosts that was requeued."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="uncored-pages-")
        cls.folder = pathlib.Path(cls.place.name)
        cls.browser = browser.Browser().__enter__() if browser.is_there() else None

    @classmethod
    def tearDownClass(cls):
        if cls.browser:
            cls.browser.__exit__()
        cls.place.cleanup()

    def report(self, name, made, *words, status=0):
        """Path of the page, and what was printed."""
        path = self.folder / name
        done = subprocess.run([pages.UNCORE, "job", "report", "123", "--html", path, *words, "-"], text=True,
                              input="".join(json.dumps(one) + "\n" for one in made), stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, timeout=SECONDS)
        tap.equal(done.returncode, status, f"status, of {str(done)[:2000]}")
        return path, done.stdout

    def need_browser(self):
        if not self.browser:
            raise tap.Skip("needs chromium-headless-shell: ./dev setup --tests installs it")

    def rows(self, number):
        """The cells of a table."""
        return self.browser.run(f"[...document.querySelectorAll('table')[{number}].tBodies[0].rows].map((row) =>"
                                "[...row.cells].map((cell) => cell.textContent))")

    def test_figures(self):
        """The page has the table and the sums that the command prints, and what each host moved; hostile texts are text"""
        path, table = self.report("job.html", records.jobs(HOSTS), status=1)
        page = pages.read(path)
        tap.check(page.text == table, "the text is not the table")
        whole = json.loads(self.report("json.html", records.jobs(HOSTS), "--json", status=1)[1])
        for member in ("notes", "missing", "runs", "apart", "total", "imbalance", "other_jobs"):
            tap.check(page.data[member] == whole[member], f"{member} differs")
        tap.check(pages.read(self.folder / "json.html").data == page.data, "with --json, the page differs")
        counts = page.data["counts"][0]
        tap.equal([page.data["nodes"][i]["host"] for i in counts["nodes"]], [one["host"] for one in whole["nodes"]], "hosts")
        for have, want in zip(counts["dram.read"], whole["nodes"], strict=True):
            moved = [socket["metrics"]["dram.read"]["bytes"] for socket in want["regions"][0]["sockets"]]
            tap.check(abs(have - sum(moved)) <= 1e-4 * have if moved else have is None, f"{have}, {moved}")
        tap.check(page.data["notes"][0].startswith("Not shown is run #1: 2 nodes, "), page.data["notes"])

    def test_shown(self):
        """A browser shows hosts, the worst first, a hundred until all are asked for; other jobs"""
        self.need_browser()
        path, _ = self.report("shown.html", records.jobs(HOSTS), status=1)
        pages.check_shown(self.browser, path)
        tap.equal(self.browser.run("[...document.querySelectorAll('h2')].map((one) => one.textContent)"),
                  ["Job", "Nodes", "Other jobs on these hosts meanwhile"], "headings")
        hosts = self.rows(1)
        tap.equal(len(hosts), 100, "hosts")
        tap.equal(hosts[0], [f"n{HOSTS - 1:05}", "no figures", "", "", ""], "the host without figures")
        tap.equal([hosts[1][0], hosts[1][1], hosts[1][2]], ["n00002", "4.56 TB", "2.66 TB"], "the host that moved the most")
        tap.equal([row[:3] for row in self.rows(2)], [["124", "user 1001", "n00001"]], "other jobs")
        tap.check(self.browser.run("document.body.textContent").count("Outliers: n00002") == 2, "outliers")
        tap.check(pages.HOSTILE[:60] in self.browser.run("document.body.textContent"), "the exit is not told")
        self.browser.run("document.querySelector('button').click()")
        tap.equal(len(self.rows(1)), HOSTS, "hosts, all of them")
        pages.check_quiet(self.browser, path)

    def test_all(self):
        """With --all each run has a row"""
        path, _ = self.report("all.html", records.jobs(5), "--all", status=1)
        page = pages.read(path)
        tap.equal([len(places) for places in page.data["runs"]], [2, 5], "runs")
        self.need_browser()
        pages.check_shown(self.browser, path)

    def test_failures(self):
        """A page that cannot be written, and a job without a record, say so"""
        self.report("nowhere/page.html", [records.job("n1")], status=1)
        path, _ = self.report("none.html", [records.job("n1", job_id="7")], status=1)
        tap.equal(pages.read(path).data, None, "data")
        if self.browser:
            self.browser.show(path)
            tap.equal(self.browser.complaints(), [], "what the page wrote to the console")

    def test_still(self):
        """Without scripts there is a bar for each host, those that moved the most first"""
        self.need_browser()
        path, _ = self.report("still.html", records.jobs(4), status=1)
        pages.check_still(self.browser, path, ["n00003", "n00002", "n00001", "n00000"], empty=1)
        said = self.browser.run("[...document.querySelector('tbody tr').cells].map((cell) => cell.textContent)")
        tap.equal(said, ["n00003", "", "absent", "absent"], "the host without figures")
        path, _ = self.report("still-many.html", records.jobs(250), status=1)
        self.browser.show(path, scripts=False)
        tap.equal(self.browser.run("document.querySelectorAll('tbody tr').length"), 200, "rows")
        tap.check("Here are the first 200 of 250 rows." in self.browser.run("document.body.textContent"), "it does not say so")

    def test_paper(self):
        """On A4 in black and white a page can be read"""
        self.need_browser()
        pages.check_paper(self.browser, self.report("paper.html", records.jobs(4), status=1)[0])

    def test_axe(self):
        """axe-core finds nothing serious"""
        self.need_browser()
        pages.check_axe(self.browser, self.report("axe.html", records.jobs(HOSTS), status=1)[0])

    def test_many(self):
        """Ten thousand hosts are at most 5 MB"""
        path, _ = self.report("many.html", records.jobs(10000), status=1)
        page = pages.read(path)
        tap.equal(len(page.data["nodes"]), 10000, "hosts")
        self.need_browser()
        print(f"# opened in {self.browser.show(path):.2f} s, {path.stat().st_size} bytes")
        pages.check_quiet(self.browser, path)


if __name__ == "__main__":
    tap.run([Job])
