# SPDX-License-Identifier: BSD-3-Clause
"""What packagers' files say of the tree, without building: they parse, and name its release. Prints TAP."""
import ast
import os
import pathlib
import re

import tap

SOURCE = pathlib.Path(os.environ["UNCORE_SOURCE_ROOT"])
SPACK = "packaging/spack/package.py"
EASYBUILD = "packaging/easybuild"
# Where each file has the release.
RELEASES = {
    "debian/changelog": r"^uncored \(([\d.]+)-",
    "packaging/uncored.spec": r"^Version: +([\d.]+)$",
    SPACK: r'^    version\("([\d.]+)"',
    EASYBUILD + "/*.eb": r"^version = '([\d.]+)'$",
}


def text_of(pattern):
    (path,) = SOURCE.glob(pattern)
    return path.read_text(encoding="utf-8")


def releases():
    """All packages are of the release that meson.build says"""
    release = re.search(r"^  version: '([\d.]+)'", text_of("meson.build"), re.MULTILINE).group(1)
    for pattern, where in RELEASES.items():
        tap.equal(re.search(where, text_of(pattern), re.MULTILINE).group(1), release, pattern)


def options():
    """Each option of meson that packages set exists"""
    known = set(re.findall(r"^option\('(\w+)'", text_of("meson_options.txt"), re.MULTILINE)) | {"default_library"}
    for pattern in ("debian/rules", "packaging/uncored.spec", SPACK, EASYBUILD + "/*.eb"):
        named = set(re.findall(r"-D(\w+)=", text_of(pattern)))
        tap.check(named, f"{pattern} sets no option: was it read?")
        tap.equal(named - known, set(), pattern)


def spack():
    """The recipe of Spack is a Python class of MesonPackage"""
    (recipe,) = [node for node in ast.parse(text_of(SPACK)).body if isinstance(node, ast.ClassDef)]
    tap.equal((recipe.name, [base.id for base in recipe.bases]), ("Libuncore", ["MesonPackage"]), "class")


def easybuild():
    """The file of EasyBuild is Python, and its name is made of what it says"""
    (path,) = (SOURCE / EASYBUILD).glob("*.eb")
    values = {"SHLIB_EXT": "so"}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec"), values)  # pylint: disable=exec-used
    toolchain = values["toolchain"]
    tap.equal(path.stem, f"{values['name']}-{values['version']}-{toolchain['name']}-{toolchain['version']}", "name")


tap.run_functions([(case.__doc__, case) for case in (releases, options, spack, easybuild)])
