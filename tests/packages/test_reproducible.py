# SPDX-License-Identifier: BSD-3-Clause
"""Debian's packages of a clean copy of the tree, built twice. Prints TAP."""
import pathlib
import shutil
import tempfile

import tap
from debs import Built, build, run

COMPARED = (".deb", ".dsc", ".gz", ".xz")


class Again(Built):
    def test_again(self):
        """In another folder, time zone, locale and umask the same bytes come out"""
        with tempfile.TemporaryDirectory(prefix="uncored-again-and-elsewhere-") as folder:
            build(folder, umask=0o027, TZ="Pacific/Kiritimati", LC_ALL="C", HOME="/nonexistent")
            files = [path for path in sorted(self.folder.iterdir()) if path.suffix in COMPARED]
            tap.check({path.suffix for path in files} == set(COMPARED), f"built: {files}")
            for path in files:
                run("cmp", path, pathlib.Path(folder) / path.name)


def main():
    if not shutil.which("dh"):
        tap.skip_all("dh is not installed: ./dev setup")
    try:
        tap.run([Again])
    finally:
        Built.remove()


if __name__ == "__main__":
    main()
