# SPDX-License-Identifier: BSD-3-Clause
"""Builds a checkout of CloverLeaf (CloverLeaf_ref, CloverLeaf_Serial) so that its kernels call shim.c.

Its own Makefile is not used: files are compiled one by one, those that define a Fortran module before
those that use it. Without OpenMP; with mpif90 where a source uses MPI.
"""
import pathlib
import re
import shutil
import subprocess

# A loop stays the loads and stores that its source has: it does not become a call of memcpy().
OPTIONS = ["-O2", "-g", "-fno-tree-loop-distribute-patterns"]
KERNEL = re.compile(r"_kernel\.f90$", re.IGNORECASE)
USES_MPI = re.compile(r"^\s*use\s+mpi\b|mpif\.h", re.IGNORECASE | re.MULTILINE)
MODULE = re.compile(r"^\s*module\s+(\w+)\s*$", re.IGNORECASE | re.MULTILINE)
USE = re.compile(r"^\s*use\s*(?:,\s*\w+\s*::)?\s*(\w+)", re.IGNORECASE | re.MULTILINE)


class Failed(Exception):
    """With a sentence, and the compiler's words."""


def in_order(texts):
    """Paths of {path: text}, each behind those whose modules it uses."""
    home = {name.lower(): path for path, text in texts.items() for name in MODULE.findall(text)}
    done = []

    def add(path, way):
        if path in way:
            raise Failed(f"modules of {path.name} use each other in a circle.")
        if path not in done:
            for name in USE.findall(texts[path]):
                other = home.get(name.lower(), path)
                if other != path:
                    add(other, [*way, path])
            done.append(path)

    for path in sorted(texts):
        add(path, [])
    return done


def run(command, what):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failed(f"{what} failed:\n{done.stderr.strip()}")


def compiler_for(texts):
    name = "mpif90" if any(USES_MPI.search(text) for text in texts.values()) else "gfortran"
    if not shutil.which(name):
        package = "libopenmpi-dev" if name == "mpif90" else name
        raise Failed(f"{name} is not installed; package {package} has it.")
    return name


def build(checkout, shim, folder):
    """checkout: a folder with *.f90, some maybe in folders below it; shim: the library of shim.c. The program, in
    folder."""
    checkout = pathlib.Path(checkout)
    texts = {path: path.read_text(encoding="latin-1") for path in checkout.rglob("*.f90")}
    if not any(KERNEL.search(path.name) for path in texts):
        raise Failed(f"{checkout} is not a checkout of CloverLeaf: it has no *_kernel.f90.")
    fortran, folder, objects = compiler_for(texts), pathlib.Path(folder), []
    for path in [*in_order(texts), *sorted(checkout.rglob("*.c"))]:
        objects.append(folder / f"{path.name}.o")
        special = ["-finstrument-functions"] if KERNEL.search(path.name) else []
        if path.suffix == ".c":
            command = ["gcc", *OPTIONS, "-w", "-c", path, "-o", objects[-1]]
        else:
            command = [fortran, *OPTIONS, *special, "-fallow-argument-mismatch", f"-J{folder}", "-c", path,
                       "-o", objects[-1]]
        run(command, f"Compiling {path.name}")
    program = folder / "clover_leaf"
    where = f"-Wl,-rpath,{pathlib.Path(shim).parent}"
    run([fortran, "-rdynamic", "-o", program, *objects, shim, where], "Linking")
    return program
