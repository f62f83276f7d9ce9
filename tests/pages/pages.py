# SPDX-License-Identifier: BSD-3-Clause
"""What is true of every page: its parts, its policy, what it loads, and how people who cannot use a mouse, a script or
colours read it."""
import base64
import hashlib
import html.parser
import json
import os
import pathlib
import re

import tap

SOURCE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
UNCORE = BUILD / "client/uncore"
AXE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"]) / "build-axe/node_modules/axe-core/axe.min.js"

HOSTILE = "</script><img src=x onerror=alert(1)><!-- &lt;"
FIXED_MOST, WHOLE_MOST = 250_000, 5_000_000
OPEN_SECONDS = 3


STILL = {"h1", "p", "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "svg", "rect", "path"}


class Page(html.parser.HTMLParser):
    """A page as a browser reads it."""

    def __init__(self, path):
        super().__init__()
        self.raw = pathlib.Path(path).read_text(encoding="utf-8")
        self.tags, self.scripts, self.styles, self.policy, self.text = [], [], [], None, ""
        self.inside = []
        self.feed(self.raw)
        self.close()
        data = {attributes.get("id"): text for attributes, text in self.scripts if "type" in attributes}
        self.data = json.loads(data["data"])
        self.more = json.loads(data["more"]) if "more" in data else None
        still = self.raw[self.raw.index("<noscript>"):self.raw.index("</noscript>")]
        self.size_of_data = sum(len(text) for text in data.values()) + len(self.text) + len(still)

    def handle_starttag(self, tag, attrs):
        attributes = dict(attrs)
        self.tags.append((tag, attributes))
        self.inside.append(tag)
        if tag == "script":
            self.scripts.append([attributes, ""])
        if tag == "style":
            self.styles.append("")
        if attributes.get("http-equiv") == "Content-Security-Policy":
            tap.check(not self.scripts and not self.styles, "the policy comes before what it is about")
            self.policy = attributes["content"]

    def handle_endtag(self, tag):
        if tag in self.inside:
            del self.inside[len(self.inside) - 1 - self.inside[::-1].index(tag):]

    def handle_data(self, data):
        if not self.inside:
            return
        if self.inside[-1] == "script":
            self.scripts[-1][1] += data
        if self.inside[-1] == "style":
            self.styles[-1] += data
        if self.inside[-1] == "pre":
            self.text += data


def hash_of(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def check_policy(page):
    """Nothing but the scripts and styles of the page itself."""
    rules = dict(rule.strip().split(" ", 1) for rule in page.policy.split(";"))
    tap.equal(rules.pop("default-src"), "'none'", "default-src")
    code = [text for attributes, text in page.scripts if "type" not in attributes]
    tap.equal(rules.pop("script-src").split(), [hash_of(text) for text in code], "hashes of scripts")
    tap.equal(rules.pop("style-src").split(), [hash_of(text) for text in page.styles], "hashes of styles")
    tap.equal(rules, {}, "other rules")


def check_loads_nothing(page):
    for tag, attributes in page.tags:
        for name, value in attributes.items():
            tap.check(name not in ("src", "href", "style", "srcset", "action") and not name.startswith("on"),
                      f"<{tag} {name}={value}>")
    tap.check("url(" not in page.styles[0] and "@import" not in page.styles[0], "the style sheet loads something")


def check_parts(page):
    """What no text of a report can add to or take from."""
    names = [tag for tag, _ in page.tags]
    begin, end = names.index("noscript") + 1, names.index("details")
    tap.equal(names[:begin] + names[end:], ["html", "head", "meta", "meta", "meta", "title", "style", "body", "main", "noscript",
                                            "details", "summary", "pre", *["script"] * len(page.scripts)], "elements")
    tap.check(set(names[begin:end]) <= STILL, f"without scripts: {set(names[begin:end])}")
    tap.check(dict(page.tags)["html"] == {"lang": "en"}, "the language is not said")


def check_size(page):
    tap.check(len(page.raw) - page.size_of_data <= FIXED_MOST, f"{len(page.raw) - page.size_of_data} bytes beside the data")
    tap.check(len(page.raw) <= WHOLE_MOST, f"{len(page.raw)} bytes")


def read(path):
    """The page, after all checks that need no browser."""
    page = Page(path)
    check_policy(page)
    check_loads_nothing(page)
    check_parts(page)
    check_size(page)
    return page


def replace(path, name, data):
    """Another document in the place of a page's own."""
    before, rest = path.read_text(encoding="utf-8").split(f'id="{name}">')
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    path.write_text(f'{before}id="{name}">{text}{rest[rest.index("</script>"):]}', encoding="utf-8")


# --- in a browser ---

HEADINGS = """[...document.querySelectorAll("table")].every((table) => table.caption.textContent &&
    [...table.tHead.rows[0].cells].every((cell) => cell.scope === "col" && cell.textContent) &&
    [...table.tBodies[0].rows].every((row) => row.cells[0].scope === "row"))"""


# What is too wide scrolls, but captions and the page itself do not.
FITS = """document.documentElement.scrollWidth <= innerWidth &&
    [...document.querySelectorAll("caption")].every((one) => one.getBoundingClientRect().right <= innerWidth)"""


def check_quiet(browser, path):
    tap.equal(browser.complaints(), [], "what the page wrote to the console")
    tap.equal(browser.requests(), [pathlib.Path(path).absolute().as_uri()], "what was asked for")


def check_shown(browser, path):
    """Each width, dark and light."""
    for width in (1280, 400):
        for dark in (False, True):
            browser.show(path, width, dark)
            check_quiet(browser, path)
            tap.check(browser.run(HEADINGS), "a table without headings")
            tap.check(browser.run(FITS), f"{width} pixels are too few")
            tap.equal(browser.run("document.querySelectorAll('h1').length"), 1, "headings of the page")
            tap.equal(browser.run("document.querySelectorAll('img, iframe, object, a').length"), 0, "foreign elements")


def check_still(browser, path, rows, empty=0):
    """Without scripts there are tables with headings, with a picture and two figures in each row; some pictures may be empty."""
    for width in (1280, 400):
        for dark in (False, True):
            browser.show(path, width, dark, scripts=False)
            check_quiet(browser, path)
            tap.check(browser.run(HEADINGS), "a table without headings")
            tap.equal(browser.run("[...document.querySelectorAll('tbody th')].map((one) => one.textContent)"), rows, "rows")
            n = browser.run("[...document.querySelectorAll('tbody svg')].filter((svg) => svg.getAttribute('aria-label') &&"
                            "[...svg.children].some((one) => one.getBBox().width > 0)).length")
            tap.check(len(rows) - empty <= n <= len(rows), f"{n} pictures")
            tap.equal(browser.run("document.querySelectorAll('tbody svg').length"), len(rows), "places of pictures")
            tap.check(browser.run(FITS), f"{width} pixels are too few")
            tap.check(browser.run("document.getElementById('text').open"), "the text is folded")


def check_paper(browser, path):
    """On A4 nothing is wider than the paper, which is white, controls are gone, and lines of a drawing differ by their dashes."""
    browser.show(path, width=680, media="print", dark=True)
    tap.equal(browser.run("[document.documentElement.scrollWidth <= innerWidth, getComputedStyle(document.body).backgroundColor]"),
              [True, "rgb(255, 255, 255)"], "width and paper")
    tap.check(browser.run("[...document.querySelectorAll('.wide')].every((one) => one.scrollWidth <= one.clientWidth)"), "a table is cut")
    tap.check(browser.run("[...document.querySelectorAll('.controls')].every((one) => getComputedStyle(one).display === 'none')"), "controls")
    for dashes in browser.run("[...document.querySelectorAll('.legend')].map((one) => [...one.querySelectorAll('line[stroke-dasharray]')]"
                              ".map((line) => line.getAttribute('stroke-dasharray')))"):
        tap.equal(len(set(dashes)), min(6, len(dashes)), f"dashes, of {dashes}")
    page = browser.paper()
    tap.check(page.startswith(b"%PDF") and b"/MediaBox [0 0 594.95996 841.91998]" in page, "the paper is not A4")


def check_axe(browser, path):
    """axe-core finds nothing serious, dark and light."""
    if not AXE.exists():
        raise tap.Skip("needs axe-core, which ./dev setup --tests fetches by npm")
    for dark in (False, True):
        browser.show(path, dark=dark)
        browser.run(AXE.read_text(encoding="utf-8") + "; 1")
        found = browser.run("axe.run(document, {resultTypes: ['violations']}).then((all) => all.violations"
                            ".map((one) => [one.impact, one.id, one.nodes.map((node) => node.html.slice(0, 200))]))")
        tap.equal([one for one in found if one[0] in ("serious", "critical")], [], "what axe-core finds")


# --- colours ---

# Machado, Oliveira and Fernandes 2009, severity 1: what people see who lack a kind of cone.
LACKING = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def linear(color):
    parts = [int(color[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def seen(color, kind):
    return [min(1, max(0, sum(a * b for a, b in zip(row, linear(color))))) for row in LACKING[kind]]


def lab(rgb):
    rows = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
    xyz = [sum(a * b for a, b in zip(row, rgb)) / white for row, white in zip(rows, (0.9505, 1, 1.089))]
    x, y, z = (part ** (1 / 3) if part > 0.008856 else 7.787 * part + 16 / 116 for part in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def distance(one, other, kind):
    return sum((a - b) ** 2 for a, b in zip(lab(seen(one, kind)), lab(seen(other, kind)))) ** 0.5


def contrast(one, other):
    lights = sorted(0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (linear(one), linear(other)))
    return (lights[1] + 0.05) / (lights[0] + 0.05)


def palettes():
    """The colours of light and dark pages, by name."""
    sheet = (SOURCE / "client/command/page/page.css").read_text(encoding="utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", sheet, re.DOTALL)
    return [dict(re.findall(r"--([\w-]+): (#\w{6});", text)) for text in (light, dark)]
