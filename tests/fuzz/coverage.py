# SPDX-License-Identifier: BSD-3-Clause
"""Which branches the inputs of a fuzz target reach in the files that it is meant for, as TAP.

Usage: coverage.py MEANT TARGET PROGRAM SAVED [FOUND]

MEANT is the table of the files that each target is meant for; PROGRAM is replay-TARGET, built by clang with
-fprofile-instr-generate -fcoverage-mapping; SAVED and FOUND are folders of inputs. Each file is a case, which fails if
the saved inputs reach less of it than the table says.
"""
import glob
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def meant_for(table, target):
    """{file: percent}"""
    rows = (line.split() for line in pathlib.Path(table).read_text(encoding="utf-8").splitlines()
            if line and not line.startswith("#"))
    return {file: int(percent) for name, file, percent in rows if name == target}


def replay(program, folder, profile):
    """A target may start processes of its own: %p keeps their profiles apart."""
    environment = {**os.environ, "LLVM_PROFILE_FILE": f"{profile}-%p.profraw"}
    result = subprocess.run([program, folder], env=environment, text=True, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode:
        sys.exit(f"{result.stdout[-2000:]}\n{program} {folder} ended with {result.returncode}.")
    return glob.glob(f"{profile}-*.profraw")


def branches(program, profiles, merged):
    """{file, below the root of the tree: (reached, there)}"""
    subprocess.run(["llvm-profdata", "merge", "-o", merged, *profiles], check=True)
    text = subprocess.run(
        ["llvm-cov", "export", "-summary-only", "-instr-profile", merged, program],
        check=True, stdout=subprocess.PIPE, text=True).stdout
    count = {}
    for file in json.loads(text)["data"][0]["files"]:
        summary = file["summary"]["branches"]
        count[os.path.relpath(os.path.realpath(file["filename"]), ROOT)] = (
            summary["covered"], summary["count"])
    return count


def percent_of(pair):
    return 100 * pair[0] // pair[1]


def report(number, target, file, least, counts):
    """True: enough is reached. @counts: by the saved inputs, and by saved and found inputs if there are found ones."""
    saved = counts[0].get(file, (0, 1))
    enough = percent_of(saved) >= least
    words = f"{percent_of(saved)} % of {saved[1]} branches"
    if len(counts) > 1:
        words += f", {percent_of(counts[1][file])} % with the inputs found"
    print(f"# {file}: {words}")
    print(f"{'ok' if enough else 'not ok'} {number} - "
          f"the saved inputs of {target} reach {least} % of the branches of {file}")
    return enough


def main(table, target, program, *folders):
    meant = meant_for(table, target)
    if not meant:
        sys.exit(f"{table} does not say what {target} is meant for.")
    profiles, counts = [], []
    with tempfile.TemporaryDirectory() as scratch:
        for i, folder in enumerate(folders):
            profiles += replay(program, folder, f"{scratch}/{i}")
            counts.append(branches(program, profiles, f"{scratch}/{i}.profdata"))
    print(f"1..{len(meant)}")
    good = [report(number, target, file, least, counts)
            for number, (file, least) in enumerate(meant.items(), 1)]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
