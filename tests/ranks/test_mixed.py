# SPDX-License-Identifier: BSD-3-Clause
"""Teams whose members come with different C libraries, or from containers. Needs root."""
import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile

import ranks
import tap
from ranks import MEMBER, PAGE_BYTES, SOURCE, Rank, bytes_of, read_report, region_of, serving

PAGES = 2000
# What musl does not bring: headers of the kernel.
KERNEL_HEADERS = ("/usr/include", f"/usr/include/{os.uname().machine}-linux-gnu")
CONTAINER = ("unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc")


class Other(Rank):
    """A rank that is started by other words than its program's name."""

    def __init__(self, uncored, steps, words=(MEMBER,), **more):
        user = more.pop("user", ranks.NOBODY)
        report = str(uncored.folder / f"report-{user}")
        self.process = subprocess.Popen(
            [*words, *steps.split()], user=user, text=True, cwd="/",
            env=uncored.environment(more.pop("team", "job"), UNCORE_REPORT=report, **more), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@contextlib.contextmanager
def built_with_musl():
    """member.c and libuncore, all sources that need the C library alone. Some of them are the command's: what these
    miss is in sections that nothing needs."""
    parts = ("client/libuncore", "client/reader", "client/report", "client/launcher", "client/trace",
             "client/region", "client/collect", "client/command/validate/kernels", "common")
    sources = [path for part in parts
               for path in sorted((SOURCE / part).glob("*.c"))]
    with tempfile.TemporaryDirectory(prefix="uncored-musl-") as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        subprocess.run(
            ["musl-gcc", "-std=gnu11", "-D_GNU_SOURCE", '-DUNCORE_VERSION="0.1"', f"-I{SOURCE}", "-pthread",
             *[f"-idirafter{place}" for place in KERNEL_HEADERS], "-ffunction-sections", "-Wl,--gc-sections",
             *sources, *(SOURCE / f"tests/{name}.c" for name in ("ranks/member", "ranks/faults", "harness/kernel-run")),
             "-lm", "-o", folder / "member"], check=True)
        yield folder / "member"


def reports(uncored):
    return [read_report(path) for path in sorted(uncored.folder.glob("report-*"))]


def go_through(members):
    """Both are in the region at once; the first that came leaves last."""
    for member in members:
        member.expect("in")
    for member in reversed(members):
        member.go()
        tap.equal(member.end(), "", "stderr")


PROGRAM = f"begin solve touch {PAGES} say in wait touch {PAGES} end solve"


def counted_once(uncored, n_members):
    report, = reports(uncored)
    region = region_of(report, "solve")
    tap.equal([region[key] for key in ("count", "ranks", "failed", "open", "died")], [n_members, n_members, 0, 0, 0],
              "solve")
    tap.check(bytes_of(region) >= 2 * n_members * PAGES * PAGE_BYTES, f"{bytes_of(region)} bytes")


def musl():
    """Members with glibc and with musl are one team"""
    with serving() as uncored, built_with_musl() as member:
        go_through([Other(uncored, PROGRAM), Other(uncored, PROGRAM, (member,)), Other(uncored, PROGRAM)])
        counted_once(uncored, 3)


def musl_last():
    """A member with musl reports for those with glibc, of which one was killed"""
    with serving() as uncored, built_with_musl() as member:
        dies, stays = Other(uncored, "begin solve say in wait"), Other(uncored, PROGRAM, (member,))
        for rank in (dies, stays):
            rank.expect("in")
        dies.kill()
        stays.go()
        tap.equal(stays.end(), "", "stderr")
        report, = reports(uncored)
    region = region_of(report, "solve")
    tap.equal([region[key] for key in ("count", "ranks", "died")], [1, 2, 1], "solve")


def container():
    """A container of the same user, with process ids of its own, is in the same team"""
    with serving() as uncored:
        go_through([Other(uncored, PROGRAM), Other(uncored, PROGRAM, (*CONTAINER, MEMBER))])
        counted_once(uncored, 2)


def killed_container():
    """A container that is killed inside a region has died, for members outside of it"""
    with serving() as uncored:
        dies = Other(uncored, "begin solve say in wait", (*CONTAINER, MEMBER))
        dies.expect("in")
        stays = Other(uncored, PROGRAM)
        stays.expect("in")
        dies.kill()
        dies.process.stdout.read()  # until all of the container are gone
        stays.go()
        tap.equal(stays.end(), "", "stderr")
        report, = reports(uncored)
    region = region_of(report, "solve")
    tap.equal([region[key] for key in ("count", "ranks", "died")], [1, 2, 1], "solve")


def other_user():
    """Containers of two users are two teams, although both are root inside"""
    with serving() as uncored:
        go_through([Other(uncored, PROGRAM, (*CONTAINER, MEMBER), user=user)
                    for user in (ranks.NOBODY, ranks.DAEMON)])
        found = reports(uncored)
    tap.equal([(report["team"], len(report["members"])) for report in found], [("own/job", 1)] * 2, "teams")


if os.geteuid() != 0:
    tap.skip_all("needs root")
if tap.IS_LONG and not shutil.which("musl-gcc"):
    tap.skip_all("needs musl-gcc: ./dev setup --tests installs it")
tap.run_functions([(body.__doc__, body) for body in tap.of_suite(
    (container, killed_container, other_user), long=(musl, musl_last))])
