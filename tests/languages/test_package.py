# SPDX-License-Identifier: BSD-3-Clause
"""Python's uncore as a package: its structures beside the header's, its types, its wheel, and numpy."""
import ctypes
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import languages
import run
import tap
from languages import BUILD, PROGRAMS, SOURCE, need, python_with, simulated

PACKAGE = SOURCE / "client/python"
HEADER = SOURCE / "client/libuncore/uncore.h"
STRUCTURES = {"uncore_value": "SampleValue", "uncore_sample": "Sample", "uncore_delta_value": "DeltaValue",
              "uncore_delta": "Delta", "uncore_machine": "Machine", "uncore_daemon": "Daemon"}
CONSTANTS = {"UNCORE_METRICS_MAX": "METRICS_MAX", "UNCORE_PASSING_MAX": "PASSING_MAX", "UNCORE_TEXT_MAX": "TEXT_MAX",
             "UNCORE_CACHED": "CACHED", "UNCORE_FRESH": "FRESH", "UNCORE_ABSENT": "ABSENT", "UNCORE_STANDIN": "STANDIN"}
C_TYPES = {"const char *": "c_char_p", "char *": "c_char_p", "int": "c_int", "uint32_t": "c_uint", "uint64_t": "c_ulong",
           "size_t": "c_ulong", "double": "c_double", "void": "NoneType", "uint64_t *": "LP_c_ulong",
           "char **": "LP_c_void_p", "struct uncore **": "LP_c_void_p", "const struct uncore *": "c_void_p",
           "struct uncore *": "c_void_p", "const struct uncore_sample *": "LP_Sample", "struct uncore_sample[]": "LP_Sample",
           "struct uncore_delta *": "LP_Delta", "struct uncore_machine *": "LP_Machine",
           "struct uncore_daemon *": "LP_Daemon"}


def library():
    """The binding's own view of libuncore."""
    ctypes.CDLL(str(BUILD / "client/libuncore.so.0"), ctypes.RTLD_GLOBAL)  # of this build, whatever is installed
    sys.path.insert(0, str(PACKAGE))
    from uncore import _library
    return _library


# --- the header ---

def layouts():
    """Sizes and offsets of every structure, and constants, are the header's"""
    ours = library()
    lines, want = [], []
    for name, mirror in STRUCTURES.items():
        structure = getattr(ours, mirror)
        lines.append(f"sizeof(struct {name})")
        want.append(ctypes.sizeof(structure))
        for field, _ in structure._fields_:
            lines += [f"offsetof(struct {name}, {field})", f"sizeof(((struct {name} *)0)->{field})"]
            want += [getattr(structure, field).offset, getattr(structure, field).size]
    lines += list(CONSTANTS)
    want += [getattr(ours, name) for name in CONSTANTS.values()]
    tap.equal(values_of(lines), dict(zip(lines, want)), "layout")


def values_of(expressions):
    """What a C program says that includes the header."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder, "layout.c")
        body = "".join(f'printf("%zu\\n", (size_t)({text}));\n' for text in expressions)
        source.write_text(f'#include <stdio.h>\n#include "{HEADER}"\nint main(void) {{\n{body}}}\n', encoding="ascii")
        subprocess.run(["cc", "-o", f"{folder}/layout", source], check=True)
        said = subprocess.run([f"{folder}/layout"], check=True, capture_output=True, text=True).stdout
    return dict(zip(expressions, map(int, said.split())))


def prototypes():
    """Results and arguments of every function are the header's"""
    ours, text = library(), re.sub(r"/\*.*?\*/", "", HEADER.read_text(encoding="utf-8"), flags=re.DOTALL)
    declared = {name: [result, *arguments.split(",")] for result, name, arguments in re.findall(
        r"^(\w[\w ]*? ?\*?)(uncore_\w+)\(([^;]*)\);", text, re.MULTILINE)}
    called = [*ours._TEXTS, *ours._CHECKED, *ours._UNCHECKED, "uncore_close"]
    for name in called:
        function = getattr(ours.lib, name)
        have = [getattr(kind, "__name__", None) or type(kind).__name__ for kind in (function.restype, *function.argtypes)]
        want = [C_TYPES[plain(text)] for text in declared[name] if text != "void" or text is declared[name][0]]
        tap.equal(have, want, name)
    tap.check(len(called) > 15, "few functions")


def plain(text):
    """The type of a parameter, without its name."""
    text = " ".join(text.split())
    if text.endswith("[]"):
        return text.rpartition(" ")[0] + "[]"
    found = re.fullmatch(r"((?:const )?(?:struct )?\w+(?: \*+)?)\s*\w*", text)
    return found[1] if found else text


def team_variables():
    """The variables that name a team are those of client/launcher/launch.c"""
    rows = re.findall(r'\{ "\w+", "(\w+)", (?:"(\w+)"|NULL), (?:true|false) \}',
                      (SOURCE / "client/launcher/launch.c").read_text(encoding="utf-8"))
    library()
    from uncore import _team
    tap.equal(sorted(_team.VARIABLES), sorted("SLURM_STEP_ID" if second == "SLURM_STEP_ID" else first
                                              for first, second in rows), "variables")


# --- packaging ---

def types():
    """mypy is content with every type, and so is flake8 with the style"""
    checker = python_with("mypy", "flake8")
    for words in (("mypy", "--config-file", PACKAGE / "pyproject.toml", "--cache-dir=/dev/null", PACKAGE / "uncore"),
                  ("flake8", "--max-line-length=125", PACKAGE, SOURCE / "tests/languages")):
        done = subprocess.run([checker, "-m", *words], capture_output=True, text=True, check=False)
        tap.equal(done.returncode, 0, f"{done.stdout}{done.stderr}{words[0]}")


def wheel():
    """pip makes a wheel, and a fresh environment takes it, both without a network"""
    python = python_with("pip", "setuptools", "wheel", "venv")
    with simulated() as machine:
        copy = machine.folder / "source"
        subprocess.run(["cp", "-r", PACKAGE, copy], check=True)
        machine.run(python, "-m", "pip", "wheel", "--no-index", "--no-build-isolation", "--no-deps", "--quiet",
                    "-w", "wheels", copy)
        machine.run(python, "-m", "venv", "fresh")
        machine.run("fresh/bin/pip", "install", "--no-index", "--quiet", *machine.folder.glob("wheels/*.whl"))
        program = "import importlib.metadata as m, uncore; print(uncore.__file__, m.version('uncore'))"
        said = machine.run("fresh/bin/python", "-c", program, PYTHONPATH="")
    path, version = said.stdout.split()
    tap.check("/fresh/" in path and path.endswith("site-packages/uncore/__init__.py"), path)
    tap.equal(version, re.search(r"version: '(.*)'", (SOURCE / "meson.build").read_text(encoding="utf-8"))[1], "version")


def vectors():
    """numpy, emulated with a model of caches: a copy and a sum move what their formulas say"""
    need("qemu-x86_64")
    python = pathlib.Path(python_with("numpy")).resolve()
    done = subprocess.run(
        [sys.executable, "-B", run.__file__, BUILD, "ll=256K", "--", python, PROGRAMS / "vectors.py"], text=True,
        capture_output=True, check=False, timeout=languages.SECONDS, env=languages.environment(
            PYTHONPATH=str(PACKAGE), LD_LIBRARY_PATH=f"{BUILD}/client", PYTHONDONTWRITEBYTECODE="1",
            OPENBLAS_NUM_THREADS="1"))
    tap.equal(done.returncode, 0, f"{done.stderr}status")
    shares = json.loads(done.stdout)
    print(f"# copy and sum, as shares of N: {shares}")
    for have, want in zip(sum(shares, []), (2, 1, 1, 0)):
        tap.check(abs(have - want) <= 0.05, f"{shares} should be 2 and 1, 1 and 0")


tap.run_functions([(case.__doc__, case) for case in (layouts, prototypes, team_variables, types, wheel, vectors)])
