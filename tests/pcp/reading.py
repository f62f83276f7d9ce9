# SPDX-License-Identifier: BSD-3-Clause
"""What PCP's tools print, as Python objects, and PCP's error codes."""
import json
import re

TRY_AGAIN = -12389  # PM_ERR_AGAIN
NO_PERMISSION = -12387  # PM_ERR_PERMISSION
NO_VALUES_WORDS = "No value(s) available!"
TRY_AGAIN_WORDS = "Try again. Information not currently available"


def is_served(values):
    """Whether the agent had an answer of uncored in time, by the values of a fetch."""
    return TRY_AGAIN not in values.values()


def plain(text):
    """A value as pminfo prints it: a string in quotes, or a number."""
    return text[1:-1] if text.startswith('"') else int(text)


def values_of(text):
    """Of `pminfo -f`: {metric: {instance: value}}, {metric: value}, or {metric: words}."""
    values, metric = {}, None
    for line in text.splitlines():
        many = re.fullmatch(r'    inst \[\d+ or "(.*)"\] value (.*)', line)
        if many:
            values.setdefault(metric, {})[many[1]] = plain(many[2])
        elif line.startswith("    value "):
            values[metric] = plain(line[len("    value "):])
        elif line == NO_VALUES_WORDS:
            values[metric] = line
        elif line.startswith("Error: "):
            values[metric] = line[len("Error: "):]
        elif line and not line[0].isspace():
            metric, colon, words = line.partition(": ")
            if colon:
                values[metric] = words
    return values


def descriptions_of(text):
    """The output of `pminfo -dmtT` as {metric: {"pmid", "line", "type", "indom", "semantics", "units", "text"}}; the
    line is None where there is no help."""
    pattern = re.compile(
        r"^(?P<name>\S+) PMID: (?P<pmid>\S+) (?:\[(?P<line>.*)\]|One-line Help: Error: .*)\n"
        r"    Data Type: (?P<type>.*?)  InDom: (?P<indom>\S+) 0x[0-9a-f]+\n"
        r"    Semantics: (?P<semantics>.*?)  Units: (?P<units>.*)\n"
        r"(?:Full )?Help:(?P<text>(?:.*\n)*?)(?=\S+ PMID: |\Z)", re.MULTILINE)
    return {match["name"]: match.groupdict() for match in pattern.finditer(text)}


def labels_of(text):
    """The output of `pminfo -l` as {metric: {None: labels of the metric, instance: its labels}}."""
    labels, metric = {}, None
    for line in text.splitlines():
        own = re.fullmatch(r"    labels (.*)", line)
        many = re.fullmatch(r'    inst \[\d+ or "(.*)"\] labels (.*)', line)
        if own:
            labels.setdefault(metric, {})[None] = json.loads(own[1])
        elif many:
            labels.setdefault(metric, {})[many[1]] = json.loads(many[2])
        elif line and not line[0].isspace():
            metric = line.split()[0].rstrip(":")
    return labels
