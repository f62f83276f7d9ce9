# SPDX-License-Identifier: BSD-3-Clause
"""Links between the guides lead somewhere, what the guides name and quote exists, and README.md is short."""
import re

import tap
from fences import GUIDES, SOURCE, fences_of

FENCE = re.compile(r"^```[^\n]*\n.*?^```$", re.MULTILINE | re.DOTALL)
INDEX = "README.md#what-to-read"
LINES, COLUMNS, WORDS = 130, 100, 1000  # of README.md at most
OWN_PAGES = re.compile(r"\b((?:lib|pmda)?uncored?(?:[.-][a-z]+)*)\(([1-8])\)")


def text_of(page):
    """Without literal blocks."""
    return FENCE.sub("", (SOURCE / page).read_text(encoding="utf-8"))


def anchors_of(page):
    """As forges make them of headings."""
    headings = re.findall(r"^#+ (.*)$", text_of(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


def links_of(page):
    return re.findall(r"\]\(([^)]+)\)", text_of(page))


def lead_somewhere():
    """Every link within the tree leads to a file, and to a heading of it"""
    count = 0
    for page in (*GUIDES, "HACKING.md"):
        for link in links_of(page):
            if "://" in link:
                continue
            count += 1
            path, _, anchor = link.partition("#")
            target = (SOURCE / page).parent / path if path else SOURCE / page
            tap.check(target.exists(), f"{page}: {link} leads nowhere")
            tap.check(not anchor or anchor in anchors_of(target), f"{page}: {link}: there is no such heading")
    tap.check(count > 20, f"only {count} links were found")


def pages_exist():
    """Every man page of uncored's that a guide names exists"""
    for page in GUIDES:
        for name, section in OWN_PAGES.findall(text_of(page)):
            tap.check((SOURCE / f"man/{name}.{section}.scd").exists(), f"{page} names {name}({section})")


def readme_has_all():
    """README.md leads to each guide, and the README.md of the reports to each of these"""
    links = {link.partition("#")[0] for link in links_of("README.md")}
    links |= {f"doc/upstream/{link}" for link in links_of("doc/upstream/README.md")}
    for page in (*GUIDES[1:], "man/uncore-numbers.7.scd"):
        tap.check(page in links, f"README.md does not lead to {page}")


def is_short():
    """README.md is a front page: short, in lines, columns and words"""
    text = (SOURCE / "README.md").read_text(encoding="utf-8")
    lines = text.splitlines()
    tap.check(len(lines) <= LINES, f"it has {len(lines)} lines")
    tap.check(len(text.split()) <= WORDS, f"it has {len(text.split())} words")
    tap.equal([line for line in lines if len(line) > COLUMNS], [], "longer lines")


def leads_on():
    """Each guide, and the list of reports, leads back to the index and to the guide to read next"""
    reports = {f"doc/upstream/{link}" for link in links_of("doc/upstream/README.md")}
    for page in (page for page in GUIDES[1:] if page not in reports):
        last = text_of(page).strip().rpartition("\n\n")[2]
        tap.check(last.startswith("Next: ") and INDEX in last, f"{page} ends with '{last}'")


def platforms_have_rows():
    """doc/platforms.md has a row for each platform file, and no others"""
    table = text_of("doc/platforms.md").partition("\n## ")[0]
    rows = re.findall(r"^\| (`[^|]*`) \|", table, re.MULTILINE)
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    tap.equal(sorted(named), sorted(path.stem for path in (SOURCE / "conf/platforms").glob("*.conf")), "platform files")


def aliases_have_rows():
    """doc/platforms.md says of each alias of each platform file when it changed, and of no others"""
    rows = re.findall(r"^\| (`[^|]*`) \| (`[^|]*`) \|", text_of("doc/platforms.md"), re.MULTILINE)
    named = [(file, alias) for aliases, files in rows for file in files.split() for alias in aliases.split()]
    used = {(f"`{path.stem}`", f"`{alias}`") for path in (SOURCE / "conf/platforms").glob("*.conf")
            for alias in re.findall(r"\bsysfs:([^\s,|]+)", path.read_text(encoding="utf-8"))}
    tap.equal(sorted(named), sorted(used), "aliases")


def messages_exist():
    """Every message that the site's guide quotes is one of uncored's"""
    sources = "".join(path.read_text(encoding="utf-8") for path in sorted((SOURCE / "daemon").rglob("*.c")))
    strings = re.sub(r'"\s*"', "", sources)
    table = text_of("doc/site.md").partition("| the log says |")[2]
    quoted = re.findall(r"^\| `([^`]+)`", table, re.MULTILINE)
    tap.check(len(quoted) > 8, f"only {quoted} are quoted")
    for message in quoted:
        tap.check(message in strings, f"uncored never says '{message}'")


def papi_options(text):
    """Of configure, but for the components."""
    return set(re.findall(r"--with-(?!components)\S+", text))


def papi_is_built_so():
    """The guide has PAPI built as ./dev papi builds it, for the suite that runs it"""
    fence, = (fence for fence in fences_of("doc/others.md") if "./configure" in fence.text)
    script = (SOURCE / "tests/dev/papi.sh").read_text(encoding="utf-8")
    build = script.partition("papi_build() {")[2].partition("\n}")[0]
    tap.equal(papi_options(fence.text), papi_options(build), "options of configure")


tap.run_functions([(case.__doc__, case) for case in (lead_somewhere, pages_exist, readme_has_all, is_short, leads_on,
                                                     platforms_have_rows, aliases_have_rows, messages_exist,
                                                     papi_is_built_so)])
