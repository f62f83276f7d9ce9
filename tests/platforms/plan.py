# SPDX-License-Identifier: BSD-3-Clause
"""The plan of uncored on a machine, by `uncored --check`, and the words of the PMUs' format files.

The encoder here shares nothing with the daemon's, so that each can find the other wrong.
"""
import collections
import fractions
import json
import os
import pathlib
import re
import subprocess

SOURCE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])
BUILD = pathlib.Path(os.environ["UNCORE_BUILD_ROOT"])
UNCORED = BUILD / "daemon/uncored"
PLATFORMS = SOURCE / "conf/platforms"
MACHINES = BUILD / "tests/machines"
# Options of read(): with all metrics that a site may enable.
ALL_METRICS = ("--config", SOURCE / "tests/platforms/all-metrics.conf")

# One event that a box counts: word is (config, config1, config2), sign is -1 if it is subtracted.
Use = collections.namedtuple("Use", "sign bytes word")


def run(root, *options, platforms=PLATFORMS):
    return subprocess.run([UNCORED, "--check", *options, "--platforms", platforms, "--root", root],
                          capture_output=True, text=True, check=False)


def read(root, *options, platforms=PLATFORMS):
    """The plan as a dictionary, or {"refused": why} where uncored does not start."""
    result = run(root, "--json", *options, platforms=platforms)
    if not result.stdout:  # a plan that serves nothing is a plan, though its status is not 0
        return {"refused": result.stderr.strip().replace(f"{platforms}", "PLATFORMS")}
    return json.loads(result.stdout)


def uses(plan, metric):
    """[{pmu: [Use, ...]}] of each socket."""
    sockets = []
    for socket in plan.get("sockets", []):
        boxes = collections.defaultdict(list)
        for box in socket["boxes"]:
            for event in box["events"]:
                if event["metric"] == metric:
                    word = tuple(int(event.get(f, "0"), 16) for f in ("config", "config1", "config2"))
                    sign = -1 if event.get("subtract") else 1
                    worth = fractions.Fraction(event.get("scale", event.get("bytes")))
                    boxes[box["pmu"]].append(Use(sign, worth, word))
        sockets.append({pmu: sorted(of_pmu) for pmu, of_pmu in boxes.items()})
    return sockets


def why_absent(plan, metric):
    return " ".join(entry["why"] for entry in plan.get("absent", []) if entry["metric"] == metric)


def field_bits(text):
    """"config:0-7,32-35" -> ("config", [0, ..., 7, 32, ..., 35])"""
    word, _, spans = text.strip().partition(":")
    bits = []
    for span in spans.split(","):
        first, _, last = span.partition("-")
        bits += range(int(first), int(last or first) + 1)
    return word, bits


def encode(root, pmu, terms):
    """{"event": 0x35, ...} -> (config, config1, config2) of this PMU; fails if a bit has no place."""
    words = {"config": 0, "config1": 0, "config2": 0}
    for name, value in terms.items():
        path = pathlib.Path(root, "sys/bus/event_source/devices", pmu, "format", name)
        word, bits = field_bits(path.read_text(encoding="ascii"))
        for bit in bits:
            words[word] |= (value & 1) << bit
            value >>= 1
        if value:
            raise AssertionError(f"{pmu}: {name} has {len(bits)} bits, too few by {value:#x}")
    return tuple(words.values())


def parse_terms(text):
    """"event=0x35,umask=1" -> {"event": 0x35, "umask": 1}"""
    pairs = (term.partition("=") for term in re.split(r"\s*,\s*", text.strip()) if term)
    return {name: int(value or "1", 0) for name, _, value in pairs}
