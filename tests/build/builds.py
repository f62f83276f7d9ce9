# SPDX-License-Identifier: BSD-3-Clause
"""Builds of this tree in folders of their own, by a user without privilege."""
import json
import os
import pathlib
import shutil
import subprocess

import tap

SOURCE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])
NOBODY = 65534
STATIC = ("-Ddefault_library=static", "-Db_pie=false", "-Dc_link_args=-static")
CLIENT_ONLY = ("-Ddaemon=disabled", "-Dtests=disabled", "-Dpcp=disabled")
# All that the client's build may call: the compiler with what it calls, meson, and a shell.
TOOLS = ("cc", "musl-gcc", "gcc", "as", "ld", "ar", "objcopy", "meson", "ninja", "python3", "sh", "rm", "env")
NO_SOCKET = "/nonexistent/socket"

# What musl does not bring.
KERNEL_HEADERS = {"linux": "/usr/include", "asm": f"/usr/include/{os.uname().machine}-linux-gnu",
                  "asm-generic": "/usr/include"}


def become_nobody():
    os.environ["CCACHE_DISABLE"] = "1"  # meson takes it where it is installed, and its folder is another user's
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def tools_alone(folder):
    """The environment of a machine that has TOOLS and no other program, thus no pkg-config and no scdoc."""
    path = folder / "tools"
    if not path.exists():
        path.mkdir()
        for name in TOOLS:
            found = shutil.which(name)
            if found:
                (path / name).symlink_to(found)
    return {"PATH": str(path), "HOME": str(folder), "LC_ALL": "C.UTF-8"}


def musl_environment(folder):
    """Of a machine whose compiler is musl's. It finds headers of the kernel, and no others of this machine."""
    headers = folder / "kernel-headers"
    headers.mkdir()
    for name, place in KERNEL_HEADERS.items():
        (headers / name).symlink_to(pathlib.Path(place) / name)
    return tools_alone(folder) | {"CC": "musl-gcc", "REALGCC": "gcc", "CFLAGS": f"-idirafter {headers}"}


def run(*command, **more):
    """Its output; a failure is shown."""
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, check=False, **more)
    tap.check(done.returncode == 0, f"{command} ended with {done.returncode}:\n{done.stdout}")
    return done.stdout


class Build:
    def __init__(self, folder, *options, source=SOURCE, environment=None):
        self.folder, self.environment = folder, environment
        self.prefix = folder.with_name(folder.name + "-prefix")
        if not any(option.startswith("--prefix") for option in options):
            options += (f"--prefix={self.prefix}",)
        options += ("-Doptimization=0", "-Ddebug=false")  # which compiles fastest
        said = run("meson", "setup", folder, source, *options, env=environment)
        tap.check("uses feature" not in said, f"meson.build needs a newer meson than it says:\n{said}")

    def compile(self):
        run("ninja", "-C", self.folder, env=self.environment)
        return self

    def install(self):
        """The paths of all files below the prefix."""
        run("meson", "install", "-C", self.folder, "--no-rebuild", env=self.environment)
        return sorted(str(path.relative_to(self.prefix)) for path in self.prefix.rglob("*") if not path.is_dir())

    def destinations(self):
        """Where `meson install` would put files."""
        return sorted(json.loads(run("meson", "introspect", self.folder, "--installed")).values())

    def option(self, name):
        options = json.loads(run("meson", "introspect", self.folder, "--buildoptions"))
        return next(option["value"] for option in options if option["name"] == name)


def needed(binary):
    """The shared libraries that it asks for."""
    lines = run("readelf", "--dynamic", "--wide", binary).splitlines()
    return {line.split("[")[1].rstrip("]") for line in lines if "(NEEDED)" in line}


def outcome(*command):
    """Status, stdout and stderr."""
    done = subprocess.run(command, capture_output=True, text=True, env={"UNCORE_SOCKET": NO_SOCKET}, check=False)
    return done.returncode, done.stdout, done.stderr


def must_run(command):
    """Runs a program, and knows why there are no counts."""
    tap.equal(outcome(command, "--version")[0], 0, "status of uncore --version")
    status, out, said = outcome(command, "stat", "--anyway", "--", "/bin/echo", "ran")
    tap.equal((status, out), (0, "ran\n"), "uncore stat --anyway")
    tap.check(NO_SOCKET in said, f"stat does not say where it looked for uncored: {said}")


def link_same_names(folder, *flags):
    """A static program that has functions of the same names as the library's inner ones."""
    program = folder / "same-names"
    run("cc", "-static", SOURCE / "tests/build/same-names.c", *flags, "-o", program)
    said = run(program)
    tap.check(said.startswith("0 calls. ") and NO_SOCKET in said, said)
