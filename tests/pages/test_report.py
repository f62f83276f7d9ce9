# SPDX-License-Identifier: BSD-3-Clause
"""`uncore report --html` of made-up records. Prints TAP."""
import json
import math
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import browser
import pages
import records
import tap

SECONDS = 60
KEPT = pathlib.Path("/var/lib/uncored/validated.json")


def memory(region, way="", what="share"):
    """What a region of a record has: its share, or "bytes", all that moved while it was open."""
    return sum(metric.get(what, 0) for socket in region["sockets"] for name, metric in socket["metrics"].items()
               if name in ("dram.read", "dram.write") and name.endswith(way))


class Report(unittest.TestCase):
    """One record, nodes, and runs."""

    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory(prefix="uncored-pages-")
        cls.folder = pathlib.Path(cls.place.name)
        cls.browser = browser.Browser().__enter__() if browser.is_there() else None
        cls.one = cls.folder / "one.json"
        cls.one.write_text(json.dumps(records.whole(pages.HOSTILE)), encoding="utf-8")
        cls.nodes = records.write_nodes(cls.folder / "nodes", 40)
        cls.runs = records.write_runs(cls.folder / "runs")

    @classmethod
    def tearDownClass(cls):
        if cls.browser:
            cls.browser.__exit__()
        cls.place.cleanup()

    def report(self, name, *words, status=0):
        """Path of the page, and what was printed."""
        path = self.folder / name
        done = subprocess.run([pages.UNCORE, "report", "--html", path, *words], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False, timeout=SECONDS)
        tap.equal(done.returncode, status, f"status, of {done}")
        return path, done.stdout

    def need_browser(self):
        if not self.browser:
            raise tap.Skip("needs chromium-headless-shell: ./dev setup --tests installs it")

    def texts(self, selector):
        return self.browser.run(f"[...document.querySelectorAll({json.dumps(selector)})].map((one) => one.textContent)")

    def test_one(self):
        """The page of one record has the JSON and the table that the command prints, and hostile names are text"""
        path, table = self.report("one.html", self.one)
        page = pages.read(path)
        tap.equal(page.text, table, "the text")
        _, whole = self.report("json.html", "--json", self.one)
        tap.equal(page.data, json.loads(whole), "the JSON")
        tap.equal(pages.read(self.folder / "json.html").data, page.data, "the JSON, with --json")

    def test_nodes(self):
        """The page of nodes has their sum, the names, and what each region counted on each"""
        path, table = self.report("nodes.html", self.nodes)
        page = pages.read(path)
        tap.equal(page.text, table, "the text")
        whole = json.loads(self.report("nodes-json.html", "--json", self.nodes)[1])
        tap.equal([node["host"] for node in page.data["nodes"]], [node["host"] for node in whole["nodes"]], "hosts")
        for member in ("imbalance", "notes", "runs"):
            tap.check(page.data[member] == whole[member], f"{member} differs")
        for i, region in enumerate(whole["total"]["regions"]):
            volumes = [one["derived"]["volume"]["total"]["value"] for one in (page.data["total"]["regions"][i], region)]
            tap.check(math.isclose(*volumes, rel_tol=1e-9), f"{volumes} of {region['name']}")
            counts = page.data["counts"][i]
            tap.equal(set(counts), {"nodes", "open_ns", "dram.read", "dram.write", "hbm.read"}, "metrics")
            tap.equal(set(counts["open_ns"]), {2 * 10**9}, "how long it was open")
            for place, have in zip(counts["nodes"], counts["dram.read"]):
                want = memory(next(one for one in whole["nodes"][place]["regions"] if one["name"] == region["name"]), "read")
                tap.check(abs(have - want) <= 1e-4 * want, f"{have}, should be {want}")

    def test_against(self):
        """Against an older report each region has its ratio, with the verdicts of uncore compare"""
        before = records.write_runs(self.folder / "before", (1, 1.004, 0.998, 1.001, 0.999))
        after = records.write_runs(self.folder / "after", (1.1, 1.104, 1.098, 1.101, 1.099))
        old, new = self.folder / "old.json", self.folder / "new.json"
        old.write_text(self.report("a.html", "--json", before)[1], encoding="utf-8")
        new.write_text(self.report("b.html", "--json", after)[1], encoding="utf-8")
        path, _ = self.report("against.html", "--against", old, after)
        page = pages.read(path)
        pairs = page.more["against"]
        tap.equal([pair["region"] for pair in pairs[::3]], [region["name"] for region in records.whole("n")["regions"]], "regions")
        said = subprocess.run([pages.UNCORE, "compare", old, new], text=True, stdout=subprocess.PIPE, check=True, timeout=SECONDS)
        for pair in pairs:
            tap.check(pair["verdict"] == "more" and 1.09 < pair["low"] < pair["ratio"] < pair["high"] < 1.11, f"{pair}")
            told = [f"{pair['ratio']:.4f}", f"{pair['low']:.4f}", "to", f"{pair['high']:.4f}", "more"]
            tap.check(told in [line.split()[1:] for line in said.stdout.splitlines()], f"{pair} is not in {said.stdout}")
        self.report("c.html", "--against", "/nowhere/old.json", after, status=1)
        tap.equal(subprocess.run([pages.UNCORE, "report", "--against", old, after], stderr=subprocess.PIPE, check=False,
                                 timeout=SECONDS).returncode, 2, "status without --html")
        self.need_browser()
        pages.check_shown(self.browser, path)
        tap.check("Against" in " ".join(self.texts("h2")), "heading")
        tap.equal(self.texts("td").count("more"), len(pairs), "verdicts")
        pages.check_axe(self.browser, path)

    def test_failures(self):
        """A page that cannot be written, and a report with nothing to show, say so"""
        self.report("nowhere/page.html", self.one, status=1)
        path, _ = self.report("none.html", "/nowhere/record.json", status=1)
        tap.equal(pages.read(path).data, None, "data")
        if self.browser:
            self.browser.show(path)
            tap.equal(self.browser.complaints(), [], "what the page wrote to the console")

    def test_shown(self):
        """A browser shows a bar and a row for each region, outliers by name, and why there is no roofline"""
        self.need_browser()
        path, _ = self.report("shown.html", self.nodes)
        page = pages.read(path)
        pages.check_shown(self.browser, path)
        regions = page.data["total"]["regions"]
        tap.equal(self.texts("h2"), ["Regions", "Bytes per unit of work", "Roofline", "Ranks", "Nodes"], "headings")
        tap.equal(self.browser.run("document.querySelectorAll('tbody')[0].rows.length"), len(regions), "rows")
        tap.equal(self.browser.run("document.querySelectorAll('rect.read').length"), len(regions) + 1, "bars and their key")
        tap.check(pages.HOSTILE[:60] in self.texts("tbody th"), f"{self.texts('tbody th')}")
        told = [text for text in self.texts("p") if text.startswith("Least ")]
        tap.equal([text for text in told if text.endswith("No outliers.")], ["Least 2.00 s, 5 % 2.00 s, median 2.00 s, 95 % 2.00 s, "
                                                                            "most 2.00 s. No outliers."] * len(regions), "open for")
        told = [text for text in told if "Outliers: " in text]
        tap.check(len(told) == 2 * len(regions) and all("Outliers: n00002" in text for text in told), f"{told}")
        tap.check(all(f", {word} " in text for text in told for word in ("5 %", "median", "95 %", "most")), f"{told}")
        tap.equal(self.browser.run("document.querySelectorAll('line.quantile, line.median').length"), 3 * 3 * len(regions) + len(regions),
                  "percentiles, and medians of ranks")
        widths = self.browser.run("[...document.querySelectorAll('rect.read')].map((one) => +one.getAttribute('width'))")
        reads = [memory(region, "read", "bytes") for region in regions]
        tap.check(all(abs(width * reads[0] - widths[0] * read) < 0.01 * widths[0] * reads[0]
                      for width, read in zip(widths, reads)), f"{widths} for {reads}")

    def check_ranks(self, path, labels, rows):
        """Strips with these labels, and a table with these rows, of which those of several ranks have a strip."""
        pages.check_shown(self.browser, path)
        self.browser.show(path)
        tap.equal(self.texts("svg text.outlier"), labels, "labels")
        found = self.browser.run("[...document.querySelectorAll('[aria-label^=\"Seconds of a rank\"] tbody tr')].map((row) =>"
                                 "[...row.cells].map((cell) => cell.textContent))")
        tap.equal(found, rows, "table")
        ticks = self.browser.run("[...document.querySelectorAll('.chart svg')].filter((svg) => svg.querySelector('.box'))"
                                 ".map((svg) => svg.querySelectorAll('rect.tick').length)")
        tap.check(len(ticks) == sum(row[1] > "1" for row in rows) and all(1 < n <= int(rows[0][1]) for n in ticks), f"{ticks}")

    def test_ranks(self):
        """A strip has ticks for ranks, a box, and a name for one that stands out; ranks that died are told"""
        made = records.whole(pages.HOSTILE)
        regions = made["regions"]
        made["members"][3]["died"] = True
        regions[1]["member_ns"][3] = None
        regions[2]["member_ns"][5] = regions[2]["member_ns"][2]
        regions[3]["member_ns"][1:] = [0] * 7
        source = self.folder / "ranks.json"
        source.write_text(json.dumps(made), encoding="utf-8")
        path, table = self.report("ranks.html", source)
        page = pages.read(path)
        for region, want in zip(page.data["regions"], ([1000, 1000, 1004, 1008, 10000], [2000, 2000, 2008, 2024, 20000],
                                                       [3000, 3000, 3012, 3018, 3036], [4000] * 5)):
            tap.equal(region["rank_time"]["quartiles_ns"], [ms * 10**6 for ms in want], f"quartiles of {region['name']}")
        tap.equal(table.count("the farthest rank 5: "), 2, "outliers in the table")
        self.need_browser()
        self.check_ranks(path, ["rank 5"] * 2, [
            ["collide and stream", "8", "1.00 s", "1.00 s", "1.00 s", "1.01 s", "10.0 s", "0", "rank 5 10.0 s", "rank 3 1.01 s"],
            ["halo exchange", "7", "2.00 s", "2.00 s", "2.01 s", "2.02 s", "20.0 s", "1", "rank 5 20.0 s", "rank 3 for an unknown time"],
            [pages.HOSTILE[:60], "8", "3.00 s", "3.00 s", "3.01 s", "3.02 s", "3.04 s", "0", "", "rank 3 3.02 s"],
            ["checkpoint", "1", *["4.00 s"] * 5, "0", "", ""]])

    def test_ranks_of_nodes(self):
        """Ranks of all nodes are one strip, and one that stands out is named with its node"""
        folder = self.folder / "ranks"
        folder.mkdir()
        for i, host in enumerate(("n1", pages.HOSTILE, "n3")):
            made = records.whole(host)
            for region in made["regions"]:
                region["member_ns"][5] = region["member_ns"][2] * (10 if i == 1 else 1)
            (folder / f"{i}.json").write_text(json.dumps(made), encoding="utf-8")
        path, table = self.report("ranks-nodes.html", folder)
        page = pages.read(path)
        tap.equal(page.data["rank_bins"][0], [[24, 23], [240, 1]], "where ranks are")
        tap.check("rank 5 on </script><img sr 10.0 s; the median of 24 ranks 1.00 s" in table, table)
        self.need_browser()
        named = f"rank 5 on {pages.HOSTILE} "
        self.check_ranks(path, [named[:24]] * 4, [
            ["collide and stream", "24", "1.00 s", "1.00 s", "1.00 s", "1.01 s", "10.0 s", "0", f"{named}10.0 s", ""],
            ["halo exchange", "24", "2.00 s", "2.00 s", "2.01 s", "2.02 s", "20.1 s", "0", f"{named}20.1 s", ""],
            [pages.HOSTILE[:60], "24", "3.00 s", "3.00 s", "3.01 s", "3.02 s", "30.1 s", "0", f"{named}30.1 s", ""],
            ["checkpoint", "24", "4.00 s", "4.00 s", "4.02 s", "4.03 s", "40.2 s", "0", f"{named}40.2 s", ""]])

    def test_too_many_ranks(self):
        """A report of too many ranks, which has no times of theirs, is shown, and says so"""
        made = records.whole("n1")
        for region in made["regions"]:
            del region["member_ns"]
        source = self.folder / "many.json"
        source.write_text(json.dumps(made), encoding="utf-8")
        path, table = self.report("many.html", source)
        tap.check(not any("rank_time" in region for region in pages.read(path).data["regions"]), "a summary of nothing")
        tap.check("outliers" not in table, table)
        self.need_browser()
        pages.check_shown(self.browser, path)
        tap.check(any("is not known: the report is of too many ranks" in text for text in self.texts("p")), f"{self.texts('p')}")
        tap.equal(self.texts("svg text.outlier"), [], "labels")
        pages.check_still(self.browser, path, [region["name"] for region in made["regions"]])

    def test_own(self):
        """What a region moved at least and at most is told where the two differ, and its share is drawn between them"""
        self.need_browser()
        path, _ = self.report("own.html", self.one)
        self.browser.show(path)
        rows = self.browser.run("[...document.querySelectorAll('tbody')[0].rows].map((row) => row.cells[6].textContent)")
        tap.equal(rows, ["", "11.0 GB to 22.0 GB", "", ""], "between")
        tap.equal(self.browser.run("[...document.querySelectorAll('tbody')[0].rows[1].cells].slice(4, 6).map((one) => one.textContent)"),
                  ["9.00 GB", "7.50 GB"], "shares")
        tap.equal(self.browser.run("document.querySelectorAll('.chart circle.own').length"), 1, "points")

    def test_predicted(self):
        """Bytes per unit of work stand beside what somebody predicts, with the ratio, and say where nobody does"""
        self.need_browser()
        path, table = self.report("predicted.html", self.one, "--predict", "collide and stream:cells=60")
        pages.read(path)
        tap.check("1.03 of the predicted 60 B per cells" in table, table)
        pages.check_shown(self.browser, path)
        rows = self.browser.run("[...document.querySelectorAll('table')[1].tBodies[0].rows].map((row) =>"
                                "[...row.cells].map((cell) => cell.textContent))")
        tap.equal(rows, [["collide and stream", "cells", "62 B", "60 B", "1.033 ± 0.000"],
                         ["collide and stream", "flop", "0.31 B", "nobody predicts it", ""],
                         [pages.HOSTILE[:60], "bytes stored", "2.4 B", "nobody predicts it", ""]], "rows")
        tap.equal(self.browser.run("document.querySelectorAll('h2')[1].nextSibling.querySelectorAll('circle').length"), 1, "ratios")
        pages.check_axe(self.browser, path)

    def test_runs(self):
        """Several runs are lines over ranks, nodes or time, one for each region"""
        self.need_browser()
        path, _ = self.report("runs.html", self.runs)
        pages.read(path)
        pages.check_shown(self.browser, path)
        tap.equal(self.browser.run("document.querySelectorAll('polyline').length"), 4, "lines")
        labels = self.browser.run("[...document.querySelector('.chart').querySelectorAll('text:not(.dim)')].map((one) => one.textContent)")
        tap.equal(len(set(labels)), 20, f"bars of runs that 400 pixels tell apart, of {labels}")
        tap.equal(self.texts("select:last-of-type option")[3:],
                  ["ranks", "size: cells", "size: flop", "size: bytes stored", "label", "date", "number"], "what is across")
        self.browser.run("(() => { const all = document.querySelectorAll('select'); all[0].value = 'bytes per passage';"
                         "all[1].value = 'date'; for (const one of all) one.dispatchEvent(new Event('change')); })()")
        self.browser.run("new Promise((done) => setTimeout(done, 100))")
        tap.equal(self.browser.run("document.querySelectorAll('polyline').length"), 4, "lines after a choice")
        for axis, below, points in (("date", "11-23 06:00", 20), ("label", records.LABEL + "0", 20), ("size: cells", "600000000", 5)):
            self.browser.run("(() => { const across = document.querySelectorAll('select')[1];"
                             f"across.value = '{axis}'; across.dispatchEvent(new Event('change')); }})()")
            self.browser.run("new Promise((done) => setTimeout(done, 100))")
            tap.equal(self.browser.run("document.querySelectorAll('svg circle[fill=currentColor]').length"), points, f"points over {axis}")
            tap.check(any(text == below for text in self.texts("svg text.dim")), f"{self.texts('svg text.dim')}")
        tap.equal(self.browser.run("[...document.querySelectorAll('[aria-label=Runs] tbody td')].at(-1).textContent"), records.LABEL + "4",
                  "label of a run")
        pages.check_quiet(self.browser, path)

    def test_still(self):
        """Without scripts there is a bar for each region, of a record, of nodes, and of runs with their numbers"""
        names = [region["name"] for region in records.whole("n")["regions"]]
        paths = [self.report(f"still{i}.html", source)[0] for i, source in enumerate((self.one, self.nodes, self.runs))]
        for path in paths:
            pages.read(path)
        self.need_browser()
        runs = [f"{name[:61]}#{i + 1}" for name in names for i in range(5)]
        ranks = [name for name in runs if not name.endswith("#1")]  # of which there are several
        for path, rows in zip(paths, (names * 2, names * 2, runs + ranks)):
            pages.check_still(self.browser, path, rows)
        self.browser.show(paths[0], scripts=False)
        cells = self.browser.run("[...document.querySelectorAll('tbody tr')[1].cells].map((cell) => cell.textContent)")
        tap.equal(cells, ["halo exchange", "", "16.5 GB", "7.50 GB"], "figures")
        tap.equal(self.texts("caption")[0], "Bytes of each region; what moved while several were open is shared out", "caption")
        widths = self.browser.run("[...document.querySelectorAll('tbody tr')[1].querySelectorAll('rect')].map((one) =>"
                                  "+one.getAttribute('width'))")
        tap.check(all(abs(width - 240 * part / 124) < 0.1 for width, part in zip(widths, (16.5, 7.5))), f"{widths}")
        cells = self.browser.run("[...document.querySelectorAll('tbody')[1].rows[1].cells].map((cell) => cell.textContent)")
        tap.equal(cells, ["halo exchange", "", "2.01 s", "20.0 s"], "figures of ranks")

    def test_paper(self):
        """On A4 in black and white a page can be read: of a record, of nodes, and of runs"""
        self.need_browser()
        for name, source in (("one", self.one), ("nodes", self.nodes), ("runs", self.runs)):
            pages.check_paper(self.browser, self.report(f"paper-{name}.html", source)[0])

    def test_axe(self):
        """axe-core finds nothing serious"""
        self.need_browser()
        for name, source in (("one", self.one), ("nodes", self.nodes), ("runs", self.runs)):
            pages.check_axe(self.browser, self.report(f"axe-{name}.html", source)[0])

    def test_many(self):
        """Ten thousand nodes are at most 5 MB"""
        folder = records.write_nodes(self.folder / "many", 10000)
        path, _ = self.report("many.html", folder)
        page = pages.read(path)
        shutil.rmtree(folder)
        tap.equal(len(page.data["counts"][0]["dram.read"]), 10000, "nodes")
        self.need_browser()
        print(f"# opened in {self.browser.show(path):.2f} s, {path.stat().st_size} bytes")
        pages.check_quiet(self.browser, path)
        tap.check(any("Outliers: n00002" in text for text in self.texts("p")), "the outlier is not named")


class Roofline(unittest.TestCase):
    """In a mount namespace with a kept report of `uncore validate`."""

    def test_roofline(self):
        """With work and a known peak, regions are below the line of the peak, and their share of it is told"""
        if os.geteuid() != 0 or not browser.is_there():
            raise tap.Skip("needs root and chromium-headless-shell")
        with tempfile.TemporaryDirectory(prefix="uncored-pages-") as name:
            folder = pathlib.Path(name)
            (folder / "validated.json").write_text(json.dumps({"platform": "icelake-sp", "nodes": [
                {"socket": i, "peak_bytes_per_ns": 160.0, "metrics": [{"metric": "dram.read"}]} for i in range(2)]}),
                encoding="utf-8")
            (folder / "one.json").write_text(json.dumps(records.whole("n1")), encoding="utf-8")
            subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c",
                            'mkdir -p "$1" && mount --bind "$2" "$1" && exec "$3" report --html "$2/page.html" "$2/one.json"',
                            "sh", KEPT.parent, folder, pages.UNCORE], check=True, stdout=subprocess.DEVNULL, timeout=SECONDS)
            page = pages.read(folder / "page.html")
            tap.equal(page.more, {"peak_bytes_per_ns": 320}, "the peak")
            with browser.Browser() as shown:
                pages.check_shown(shown, folder / "page.html")
                tap.equal(shown.run("document.querySelectorAll('line.roof').length"), 3, "lines, of three units of work")
                cells = shown.run("[...document.querySelectorAll('table')].slice(2).map((table) =>"
                                  "[...table.tBodies[0].rows[0].cells].map((cell) => cell.textContent))")
                tap.equal(cells[0], ["collide and stream", "0.01613", "1.000e+9", "62.000 GB/s", "19.4 %"], "the first region")


if __name__ == "__main__":
    tap.run([Report, Roofline])
