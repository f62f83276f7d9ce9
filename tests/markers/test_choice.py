# SPDX-License-Identifier: BSD-3-Clause
"""uncore run --markers: what it finds in a program, what it sets, and what it says. Nothing here needs uncored."""
import os
import pathlib
import shutil
import subprocess
import tempfile

import languages
import tap
from markers import BUILD, MODULES, OWN, UNCORE, need_file, said_of

LIKWID = MODULES / "libuncore-likwid.so"
LIBRARY = "int likwid_markerStartRegion(const char *name)\n{\n\treturn !name;\n}\n"
SOLVER = ("int likwid_markerStartRegion(const char *);\n"
          "int solve(const char *name)\n{\n\treturn likwid_markerStartRegion(name);\n}\n")


class Folder:
    """Programs that carry marks, or none."""

    def __init__(self, name):
        self.path = pathlib.Path(name)

    def compile(self, name, *flags, source=OWN / "show.c"):
        subprocess.run(["cc", "-o", name, source, *flags], cwd=self.path, check=True)
        return f"./{name}"

    def library(self, name, text, *flags):
        (self.path / f"{name}.c").write_text(text, encoding="ascii")
        self.compile(f"lib{name}.so", "-shared", "-fPIC", *flags, source=f"{name}.c")
        return ("-L.", f"-l{name}", "-Wl,-rpath,$ORIGIN")

    def run(self, markers, *command, status=0, uncore=UNCORE, **more):
        """What it says, and the variables that the program has then."""
        env = languages.environment(UNCORE_SOCKET=str(self.path / "none"), LD_LIBRARY_PATH=f"{BUILD}/client", **more)
        done = subprocess.run([uncore, "run", f"--markers={markers}", "--", *command], cwd=self.path, env=env, text=True,
                              capture_output=True, check=False, timeout=60)
        tap.equal(done.returncode, status, f"{done.stdout}{done.stderr}status of {command}")
        return said_of(done), dict(line.split("=", 1) for line in done.stdout.splitlines() if "=" in line)


def in_folder(case):
    def run():
        with tempfile.TemporaryDirectory(prefix="uncored-markers-") as name:
            case(Folder(name))
    run.__doc__ = case.__doc__
    return run


FOUND = (["uncore run: markers: likwid."], {"UNCORE_MARKERS": "likwid", "LD_PRELOAD": str(LIKWID)})


@in_folder
def by_calls(folder):
    """A function that the program calls, or a library that it needs, is found, whatever the library's name"""
    fake = folder.library("fake", LIBRARY)
    solver = folder.library("solver", SOLVER, *fake)
    tap.equal(folder.run("auto", folder.compile("calls", "-DCALL=likwid_markerStartRegion", *fake)), FOUND, "a call")
    tap.equal(folder.run("auto", folder.compile("needs", "-DCALL=solve", *solver)), FOUND, "a library's call")
    folder.compile("likwid-none", source=OWN / "show.c")
    tap.equal(folder.run("auto", "./likwid-none"), (["uncore run: markers: none."], {"UNCORE_MARKERS": ""}), "no call")


@in_folder
def preloaded(folder):
    """A module comes before what is preloaded already"""
    program = folder.compile("calls", "-DCALL=likwid_markerStartRegion", *folder.library("fake", LIBRARY))
    _, variables = folder.run("auto", program, LD_PRELOAD="libc.so.6 libm.so.6")
    tap.equal(variables["LD_PRELOAD"], f"{LIKWID}:libc.so.6 libm.so.6", "LD_PRELOAD")


@in_folder
def launchers(folder):
    """Behind programs that launch others, the first program counts"""
    folder.compile("calls", "-DCALL=likwid_markerStartRegion", *folder.library("fake", LIBRARY))
    for words in (("env", "A=1", "./calls"), ("nice", "-n", "1", "env", "./calls"), ("timeout", "50", "calls")):
        more = {"PATH": f"{os.environ['PATH']}:{folder.path}"}
        tap.equal(folder.run("auto", *words, **more), FOUND, f"{words}")
    (folder.path / "mpirun").write_text('#!/bin/sh\nshift 2\nexec "$@"\n', encoding="ascii")
    (folder.path / "mpirun").chmod(0o755)
    tap.equal(folder.run("auto", "./mpirun", "-n", "2", "./calls"), FOUND, "mpirun")
    said, _ = folder.run("auto", "env", "none", status=127)
    tap.equal(said[0], "uncore run: markers: none. env runs no program that was found: name its markers.", "none")


@in_folder
def scripts(folder):
    """Of a script nothing is known; what is named is set"""
    (folder.path / "script").write_text("#!/bin/sh\nexec ./calls\n", encoding="ascii")
    (folder.path / "script").chmod(0o755)
    folder.compile("calls", "-DCALL=likwid_markerStartRegion", *folder.library("fake", LIBRARY))
    tap.equal(folder.run("auto", "./script")[0],
              ["uncore run: markers: none. ./script is a script, or made for another machine: name the markers of its "
               "programs."], "auto")
    tap.equal(folder.run("likwid", "./script"), FOUND, "named")


@in_folder
def static(folder):
    """A static program loads no module, and that is said"""
    program = folder.compile("static", "-static", "-DTEXT=\"NVTX_INJECTION64_PATH\"")
    said = ["uncore run: markers: none. ./static runs a static program, which loads no module."]
    for markers in ("auto", "likwid"):
        tap.equal(folder.run(markers, program), (said, {"UNCORE_MARKERS": ""}), markers)


@in_folder
def unasked(folder):
    """MPI is found, but costs so much that it must be asked for, and that is said"""
    fake = folder.library("fake", "int MPI_Init(const char *name)\n{\n\treturn !name;\n}\n")
    program = folder.compile("calls", "-DCALL=MPI_Init", *fake)
    said, variables = folder.run("auto", program)
    tap.check(len(said) == 1 and "MPI was found" in said[0] and "--markers=mpi measures it" in said[0], said)
    tap.equal(variables, {"UNCORE_MARKERS": ""}, "variables")
    said, variables = folder.run("mpi", program)
    tap.equal((said, variables["UNCORE_MARKERS"]), (["uncore run: markers: mpi."], "mpi"), "named")


@in_folder
def wrong(folder):
    """A name that no family has is refused; a file that is not a program is left to the system"""
    folder.compile("plain")
    for markers in ("likwit", "likwid,", ",", ""):
        folder.run(markers, "./plain", status=2)
    (folder.path / "cut").write_bytes((folder.path / "plain").read_bytes()[:100])
    (folder.path / "cut").chmod(0o755)
    folder.run("auto", "./cut", status=127)
    folder.run("auto", "./absent", status=127)


def modules(folder, *families):
    """An uncore with modules that are never loaded."""
    (folder.path / "bin/markers").mkdir(parents=True)
    shutil.copy(UNCORE, folder.path / "bin/uncore")
    for family in families:
        (folder.path / f"bin/markers/libuncore-{family}.so").touch()
    return folder.path / "bin/uncore", {family: f"{folder.path}/bin/markers/libuncore-{family}.so" for family in families}


@in_folder
def by_variables(folder):
    """Interfaces that load a module by a variable are found by its name, and get the first one that they know"""
    uncore, paths = modules(folder, "kokkos", "nvtx", "itt")
    old = folder.compile("old", "-DTEXT=\"KOKKOS_PROFILE_LIBRARY\"")
    new = folder.compile("new", "-DTEXT=\"KOKKOS_TOOLS_LIBS\\0KOKKOS_PROFILE_LIBRARY\"")
    tap.equal(folder.run("auto", old, uncore=uncore), (["uncore run: markers: kokkos."], {
        "UNCORE_MARKERS": "kokkos", "KOKKOS_PROFILE_LIBRARY": paths["kokkos"]}), "old")
    tap.equal(folder.run("auto", new, uncore=uncore)[1],
              {"UNCORE_MARKERS": "kokkos", "KOKKOS_TOOLS_LIBS": paths["kokkos"]}, "new")
    both = folder.run("kokkos,itt", folder.compile("plain"), uncore=uncore)[1]
    tap.equal(both, {"UNCORE_MARKERS": "kokkos,itt", "KOKKOS_TOOLS_LIBS": paths["kokkos"],
                     "KOKKOS_PROFILE_LIBRARY": paths["kokkos"], "INTEL_LIBITTNOTIFY64": paths["itt"]}, "not seen")


@in_folder
def not_served(folder):
    """What cannot be served is said with the reason"""
    uncore, _ = modules(folder, "kokkos", "likwid")
    fake = folder.library("fake", LIBRARY)
    program = folder.compile("all", "-DCALL=likwid_markerStartRegion", "-DTEXT=\"KOKKOS_TOOLS_LIBS\"", *fake)
    said, variables = folder.run("auto", program, uncore=uncore, LIKWID_MODE="1", KOKKOS_TOOLS_LIBS="theirs.so")
    tap.equal(said, ["uncore run: markers: none. Not likwid: LIKWID_MODE is set. Not kokkos: KOKKOS_TOOLS_LIBS is set."], "tools")
    tap.equal(variables, {"UNCORE_MARKERS": ""}, "variables")
    said, _ = folder.run("mpi,likwid", program, uncore=uncore, status=0)
    tap.equal(said, ["uncore run: markers: likwid. Not mpi: there is no libuncore-mpi.so."], "missing")
    need_file("/usr/lib/gcc/x86_64-linux-gnu/12/libgomp.so", "gcc")
    said, _ = folder.run("auto", folder.compile("threads", "-fopenmp", "-Wl,--no-as-needed"))
    tap.equal(said, ["uncore run: markers: none. Not openmp: libgomp has no OMPT."], "libgomp")
    os.rename(folder.path / "bin", folder.path / "a bin")
    said, _ = folder.run("likwid", program, uncore=folder.path / "a bin/uncore")
    tap.check("ld.so takes no blank or colon" in said[0], f"{said}")


tap.run_functions([(case.__doc__, case) for case in (by_calls, preloaded, launchers, scripts, static, unasked, wrong, by_variables,
                                                     not_served)])
