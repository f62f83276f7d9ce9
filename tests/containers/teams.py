# SPDX-License-Identifier: BSD-3-Clause
"""Ranks in containers: those of one user of the host are a team, whatever runs the containers."""
import ranks
import tap
from images import DEBIAN
from ranks import PAGE_BYTES, bytes_of, read_report, region_of
from runtimes import ALICE, BUBBLEWRAP, CHARLIECLOUD, INSIDE, PODMAN, Container

PAGES = 2000
STEPS = f"begin solve touch {PAGES} say in wait touch {PAGES} end solve"
REPORTS = "/out"
TEAM, ANNOUNCED = "own/job", 4


class Rank(ranks.Rank):
    """In a container. Its report goes to a file for each user inside."""

    def __init__(self, site, runtime, uid=0, launcher=None):
        self.process = site.start(runtime, Container(
            DEBIAN, ("member", *STEPS.split()), writable=(reports_of(site), REPORTS), uid=uid),
            UNCORE_REPORT=f"{REPORTS}/{uid}", **(launcher or {"UNCORE_TEAM": "job", "MPI_LOCALNRANKS": str(ANNOUNCED)}))


def reports_of(site):
    folder = site.folder / "reports"
    folder.mkdir(exist_ok=True)
    folder.chmod(0o1777)
    return folder


def forget_reports(site):
    """Of another team, beside which this one's would be put."""
    for path in reports_of(site).iterdir():
        path.unlink()


def go_through(members):
    """All are in the region at once."""
    for member in members:
        member.expect("in")
    for member in members:
        member.go()
        tap.equal(member.end(), "", "stderr")


def must_be_team(site, uid, n_members):
    report = read_report(reports_of(site) / str(uid))
    tap.equal((report["team"], len(report["members"]), report["expected"]), (TEAM, n_members, ANNOUNCED), "team")
    region = region_of(report, "solve")
    tap.equal([region[key] for key in ("count", "ranks", "failed", "open", "died")], [n_members, n_members, 0, 0, 0],
              "solve")
    tap.check(bytes_of(region) >= 2 * n_members * PAGES * PAGE_BYTES, f"{bytes_of(region)} bytes")


def one_team(site):
    """Ranks of one user in containers of bubblewrap, Charliecloud and podman are one team"""
    go_through([Rank(site, runtime) for runtime in (BUBBLEWRAP, CHARLIECLOUD, PODMAN, PODMAN)])
    must_be_team(site, 0, 4)


def another_team(site):
    """Ranks of a container's second user are another team, and both reports say how many ranks they lack"""
    forget_reports(site)
    go_through([Rank(site, PODMAN, uid) for uid in (0, INSIDE, 0, INSIDE)])
    for uid in (0, INSIDE):
        must_be_team(site, uid, 2)
        shown = site.as_user(ALICE, ranks.BUILD / "client/uncore", "report", reports_of(site) / str(uid)).stdout
        tap.check(f"team {TEAM}" in shown and f"2 of {ANNOUNCED} ranks" in shown, shown)


def no_launcher(site):
    """The first process of a container is not taken for a launcher, which would name all containers alike"""
    hydra = {"MPI_LOCALNRANKS": "1", "PMI_RANK": "0"}
    for runtime in (BUBBLEWRAP, PODMAN):
        forget_reports(site)
        go_through([Rank(site, runtime, launcher=hydra)])
        tap.equal(read_report(reports_of(site) / "0")["team"], None, f"team in {runtime.name}")


def cases(site):
    for case in (one_team, another_team, no_launcher):
        yield case.__doc__, lambda case=case: case(site)
