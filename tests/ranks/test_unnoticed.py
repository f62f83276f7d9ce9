# SPDX-License-Identifier: BSD-3-Clause
"""A program that succeeded is neither ended nor changed by its measurement: the scenes of unnoticed.c, each without a
report, with one, with a trace, and under the commands. Its status is always the program's own."""
import os
import pathlib
import resource
import subprocess

import tap
from ranks import BUILD, NOBODY, SECONDS, serving

PROGRAM, UNCORE = BUILD / "tests/ranks/unnoticed", BUILD / "client/uncore"
HEAP = BUILD / "client/heap/libuncore-heap.so"
DONE = 3
# What it says on stderr, if the report cannot be written where it should; and how many reports there are.
SCENES = {
    "plain": ("", 1),
    "no-file-grows": ("File too large", 0),
    "no-file-grows-later": ("File too large", 0),
    "no-memory": ("", None),
    "no-descriptors": ("", None),
    "no-locked-memory": ("", 1),
    "small-stack": ("", 1),
    "errno": ("", 1),
    "floating-point": ("", 1),
    "floating-point-traps": ("", 1),
    "at-exit": ("", 1),
    "fork-in-signal": ("", 1),
    "exec-in-region": ("", 2),  # and the table of the program before
    "end-in-region": ("", 1),
    "thread-ends-in-region": ("", 1),
    "closed-stderr": ("", 1),
    "broken-stderr": ("", 1),
    "reopened-stderr": ("", 1),
    "other-folder": ("", 1),
    "other-folder-later": ("", 1),
    "empty-environment": ("", None),
    "seccomp": ("", 1),
}


def left_in(folder, *kinds):
    return sorted(path.name for path in folder.iterdir() if path.name.startswith(kinds))


def no_file_grows():
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))


def run(uncored, words, before=None, **more):
    return subprocess.run([str(word) for word in words], env=uncored.environment(None, **more), user=NOBODY, text=True,
                          capture_output=True, check=False, timeout=SECONDS, cwd=uncored.folder, preexec_fn=before)


def must_end(done, what, status=DONE):
    tap.equal(done.returncode, status, f"status {what}: {done.stdout}{done.stderr}")


def play(scene):
    said, n_reports = SCENES[scene]
    for variables in ({}, {"UNCORE_REPORT": "report.json"}, {"UNCORE_TRACE": "ring", "UNCORE_MISSES": "1"},
                      {"UNCORE_REPORT": "report.json", "LD_PRELOAD": str(HEAP)}):
        with serving() as uncored:
            done = run(uncored, [PROGRAM, scene], **variables)
            must_end(done, f"with {variables}")
            if "UNCORE_REPORT" in variables:
                tap.check(said in done.stderr, done.stderr)
                tap.check(n_reports in (None, len(left_in(uncored.folder, "report.json"))),
                          f"{variables} left {sorted(os.listdir(uncored.folder))}")
            tap.equal(left_in(uncored.folder, ".uncore-"), [], "temporary files")
            if scene == "reopened-stderr":
                data = (uncored.folder / "data").read_text("utf-8")
                tap.check(data.startswith("data\n"), data)
                tap.equal(data == "data\n", "UNCORE_REPORT" in variables, "only the program's own is there")


def commands():
    """Under the commands, where no file may grow, the status is the program's, stderr has the reason, and nothing is left"""
    program = ["sh", "-c", "exit 3"]
    rows = [(["stat", "-o", "out", "--", *program], DONE, "File too large"),
            (["stat", "--json", "-o", "out", "--", *program], DONE, "File too large"),
            (["run", "-o", "out", "--", PROGRAM, "plain"], DONE, "File too large"),
            (["stat", "--anyway", "-o", "out", "--", *program], DONE, "File too large"),
            (["stat", "--", "sh", "-c", "kill -XFSZ $$"], 128 + 25, ""),
            (["export", "-o", "out"], 1, "File too large")]
    with serving() as uncored:
        for words, status, said in rows:
            done = run(uncored, [UNCORE, *words], no_file_grows)
            must_end(done, f"of {words}", status)
            tap.check(said in done.stderr, f"{words} said {done.stderr}")
            tap.equal([name for name in left_in(uncored.folder, "out", ".uncore-") if name != "out"], [], f"left by {words}")


def folders():
    """Relative names are of the folder in which the program began, or `uncore run`"""
    rows = [([UNCORE, "run", "-o", "a", "--", PROGRAM, "other-folder"], {}, "a"),
            ([UNCORE, "run", "-o", "b", "--", "env", "-C", "/", PROGRAM, "plain"], {}, "b"),
            ([UNCORE, "run", "--", "env", "-C", "/", PROGRAM, "plain"], {"UNCORE_REPORT": "c%%"}, "c%"),
            ([PROGRAM, "other-folder"], {"UNCORE_TRACE": "d"}, "d"),
            ([PROGRAM, "other-folder"], {"UNCORE_HEAP": "e", "LD_PRELOAD": str(HEAP)}, "e"),
            (["env", "-C", "deep", PROGRAM, "other-folder-later"], {"UNCORE_REPORT": "../f"}, "f")]
    with serving() as uncored:
        deep = uncored.folder / "deep"
        deep.mkdir(mode=0o777)
        for words, variables, name in rows:
            must_end(run(uncored, words, **variables), f"of {words}")
            tap.check((uncored.folder / name).exists(), f"{words} made no {name}: {sorted(os.listdir(uncored.folder))}")


if os.geteuid() != 0:
    tap.skip_all("needs root")
tap.run_functions([(f"Scene {scene} is played to its end", lambda scene=scene: play(scene)) for scene in SCENES]
                  + [(body.__doc__, body) for body in (commands, folders)])
