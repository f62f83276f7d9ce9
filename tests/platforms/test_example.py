# SPDX-License-Identifier: BSD-3-Clause
"""A reader of uncore-platform(5) can add a platform: this test follows the page literally.

The page names the file of its EXAMPLE; the reader's machine is the test machine of that name. `uncored --check` must
then print the words that follow from the page's own text.
"""
import functools
import pathlib
import re
import shutil
import subprocess
import tempfile

import plan
import tap

PAGE = (plan.SOURCE / "man/uncore-platform.5.scd").read_text(encoding="utf-8")


def section(title):
    found = re.search(rf"^#+ {title}\n(.*?)(?=^# |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    tap.check(found, f"the page has no {title}")
    return found[1]


def literal_blocks(text):
    return re.findall(r"^```\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands(text):
    """The lines behind "$ " in all literal blocks, each with the output that the page shows for it."""
    found = []
    for line in "".join(literal_blocks(text)).splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif found:
            found[-1][1].append(line)
    return found


def example():
    """(name of the platform, text of the file)"""
    text = section("EXAMPLE")
    name = re.search(r"The file _([a-z0-9-]+)\.conf_", text)
    blocks = literal_blocks(text)
    tap.check(name and len(blocks) == 1, "the EXAMPLE must name its file and show it in one block")
    return name[1], blocks[0]


def machine_of_example():
    root = plan.MACHINES / example()[0]
    tap.check(root.is_dir(), f"there is no test machine {root.name} for the page's EXAMPLE")
    return root


def metrics_of(text):
    """{metric: [{key: value}, ...]}, a dictionary for each term"""
    metrics, terms = {}, []
    for line in text.splitlines():
        key, equals, value = line.partition("=")
        if line.startswith("["):
            terms = metrics.setdefault(line.strip("[]").partition("/")[0], [])
            terms.append({})
        elif equals:
            terms[-1][key.strip()] = value.strip()
    metrics.pop("platform")
    return metrics


def in_scratch(case):
    @functools.wraps(case)
    def run():
        with tempfile.TemporaryDirectory() as scratch:
            case(pathlib.Path(scratch))
    return run


def write_example(folder):
    name, text = example()
    (folder / f"{name}.conf").write_text(text, encoding="utf-8")
    return name, text


def terms_of(event, root, pmu):
    """The event's raw encoding or, if it has none, the terms of the PMU's own alias."""
    choices = dict(choice.strip().split(":", 1) for choice in event.split("|"))
    alias = root / "sys/devices" / pmu / "events" / choices.get("sysfs", "none")
    tap.check("raw" in choices or alias.exists(), f"the EXAMPLE's event {event} cannot be worked out")
    return plan.parse_terms(choices.get("raw") or alias.read_text(encoding="ascii"))


def expected_uses(root, terms, pmu):
    return sorted(plan.Use(-1 if term.get("subtract") == "yes" else 1, int(term["bytes"]),
                           plan.encode(root, pmu, terms_of(term["event"], root, pmu)))
                  for term in terms if re.fullmatch(glob_as_regex(term["pmu"]), pmu))


def glob_as_regex(globs):
    return "|".join(re.escape(glob.strip()).replace(r"\[", "[").replace(r"\]", "]")
                    .replace(r"\-", "-").replace(r"\*", ".*") for glob in globs.split("|"))


@in_scratch
def check_words(scratch):
    root = machine_of_example()
    name, text = write_example(scratch)
    have = plan.read(root, platforms=scratch)
    tap.check("refused" not in have, have.get("refused"))
    tap.equal(have["platform"], name, "name of the platform")
    tap.equal(have["missing"], [], "what is missing on the healthy machine")
    devices = sorted(path.name for path in (root / "sys/bus/event_source/devices").iterdir())
    for metric, terms in metrics_of(text).items():
        if "absent" in terms[0]:
            tap.equal(plan.why_absent(have, metric), terms[0]["absent"], f"why {metric} is absent")
            continue
        sockets = plan.uses(have, metric)
        tap.check(sockets and all(sockets), f"{metric} is counted on {len(sockets)} sockets")
        want = {pmu: expected_uses(root, terms, pmu) for pmu in devices}
        for socket in sockets:
            tap.equal(socket, {pmu: uses for pmu, uses in want.items() if uses}, metric)


@in_scratch
def check_shipped(scratch):
    """The page's file is the shipped one of the same name without its comments, up to what a site must enable."""
    root = machine_of_example()
    name, text = write_example(scratch)
    path = plan.PLATFORMS / f"{name}.conf"
    tap.check(path.exists(), f"no shipped platform is called {name}")
    usual, _, _ = path.read_text(encoding="ascii").partition("# The rest is counted only")
    lines = [line for line in usual.splitlines() if not line.startswith("#")]
    tap.equal(text.strip().splitlines(), "\n".join(lines).strip().splitlines(), f"{name}.conf")
    page, shipped = plan.read(root, platforms=scratch), plan.read(root)
    tap.equal(shipped.get("platform"), name, f"the shipped platform of the machine {name}")
    for metric in metrics_of(text):
        tap.equal(plan.uses(page, metric), plan.uses(shipped, metric), f"{metric}, page and shipped")


@in_scratch
def check_steps(scratch):
    """The commands of ADDING A PLATFORM, with the machine's sys and proc, and uncored of the build."""
    root = machine_of_example()
    name, text = write_example(scratch)
    ran = {}
    for command, _ in commands(section("ADDING A PLATFORM")):
        there = re.sub(r"(?<=[ {])/(?=proc|sys)", f"{root}/", command)
        there = re.sub(r"^uncored\b", f"{plan.UNCORED} --root {root}", there)
        there = re.sub(r"\bDIR\b", str(scratch), there)
        result = subprocess.run(["bash", "-c", there], capture_output=True, text=True, check=False)
        tap.equal((result.returncode, result.stderr), (0, ""), command)
        ran[command] = result.stdout
    tap.check(len(ran) >= 4, f"the page's steps are {list(ran)}")
    output = "\n".join(ran.values())
    for wanted in ("vendor_id", "uncore_imc_0", "config:0-7", f"Platform {name}"):
        tap.check(wanted in output, f"the page's commands do not show {wanted}")
    check = ran["uncored --check --platforms DIR"]
    for metric, terms in metrics_of(text).items():
        tap.check(re.search(rf"\b{re.escape(metric)}\b", check), f"--check is silent on {metric}")
        if "absent" in terms[0]:
            tap.check(f"{metric} is absent: {terms[0]['absent']}" in check, f"{metric}: {check}")


def check_raw_encoding():
    """The page's commands on format files print the output that the page shows, on a machine with such PMUs."""
    shown = commands(section("Raw encoding"))
    tap.check(shown, "Raw encoding shows no commands")
    script = "\n".join(re.sub(r" /sys", f" {plan.MACHINES}/icelake-sp/sys", line) for line, _ in shown)
    result = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    tap.equal((result.returncode, result.stdout.splitlines()),
              (0, [line for _, lines in shown for line in lines]), "the page's commands")


def platform_with(event, folder):
    folder.mkdir(exist_ok=True)
    (folder / "one.conf").write_text(f"""[platform]
title = One event of the page
vendor = GenuineIntel
[itom]
pmu = uncore_cha_[0-9]*
event = {event}
bytes = 64
source = uncore-platform(5)
confidence = low
""", encoding="ascii")
    return folder


@in_scratch
def check_stated_word(scratch):
    """The word and the refusal that the page works out for its event."""
    text = section("Raw encoding")
    event = re.search(r"\*(raw:[^*]+)\*", text)
    word = re.search(r"the word is (0x[0-9a-f]+)", text)
    narrow = re.search(r"_umask_ is only \*?_?(config:[0-9-]+)", text)
    tap.check(event and word and narrow, "Raw encoding lacks an event, its word, a narrow umask")
    platforms = platform_with(event[1], scratch / "platforms")
    sockets = plan.uses(plan.read(plan.MACHINES / "icelake-sp", platforms=platforms), "itom")
    tap.equal({use.word for socket in sockets for uses in socket.values() for use in uses},
              {(int(word[1], 16), 0, 0)}, f"word of {event[1]}")
    root = scratch / "machine"
    shutil.copytree(plan.MACHINES / "icelake-sp", root, symlinks=True)
    for path in (root / "sys/devices").glob("uncore_cha_*/format/umask"):
        path.write_text(narrow[1] + "\n", encoding="ascii")
    refused = plan.read(root, platforms=platforms)
    tap.equal([socket for socket in plan.uses(refused, "itom") if socket], [], "a refused event")
    tap.check(plan.why_absent(refused, "itom"), "the metric of a refused event has no reason")


def main():
    tap.run_functions([
        ("the page's example gives the words that its text states", check_words),
        ("the page's example agrees with the shipped platform", check_shipped),
        ("the page's steps work as written", check_steps),
        ("the page's output of its commands on format files is right", check_raw_encoding),
        ("the page's event has the word that the page states, or is refused", check_stated_word),
    ])


main()
