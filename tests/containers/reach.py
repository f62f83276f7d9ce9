# SPDX-License-Identifier: BSD-3-Clause
"""Whatever runs the container, and whatever C library its image has: with the folder of the socket it counts, and
without it it says what to do."""
import json

import hosts
import images
import tap
from hosts import PAGE_BYTES, SECONDS, SOCKET
from images import DEBIAN, NAMES, STATIC_ONLY
from runtimes import FOLDER, ROOTS_PODMAN, RUNTIMES, Container, said

PAGES = 20000
TOLERANCE = 0.99
HARDENED = ("--read-only", "--cap-drop", "all", "--security-opt", "no-new-privileges")
NOT_THERE = f"Cannot connect to uncored at {SOCKET}: No such file or directory. "
TO_DO = "In a container, bind the folder"
# Looks for uncored whenever it reads a line.
LOOK = ("export UNCORE_SOCKET={}; while read -r _; do "
        "if said=$(uncore stat -- uncore --version 2>&1); then echo counted; else echo \"$said\"; fi; done")


def must_count(site, runtime, image, uncore="uncore", **more):
    """`uncore stat` shows at least what its command touched, and at most what all programs did meanwhile."""
    before = hosts.faults()
    done = site.run(runtime, Container(image, (uncore, "stat", "--json", "--", "touch-pages", PAGES), **more))
    most = hosts.faults() - before
    found = json.loads(done.stderr)["all_sockets"]["metrics"]["dram.read"]["bytes"] / PAGE_BYTES
    tap.check(TOLERANCE * PAGES <= found <= most / TOLERANCE, f"{found} faults, should be {PAGES} to {most}")


def counts(site, runtime, image):
    return (f"{runtime.name}: `uncore stat` counts in an image of kind {image}",
            lambda: must_count(site, runtime, image))


def static(site, runtime):
    return (f"{runtime.name}: the static command, made with musl, counts in an image that has glibc",
            lambda: must_count(site, runtime, DEBIAN, images.STATIC))


def hardened(site):
    """A read-only container without any capability counts"""
    must_count(site, ROOTS_PODMAN, DEBIAN, options=HARDENED)


def says_what_to_do(site, runtime):
    def body():
        for image in (DEBIAN, STATIC_ONLY):
            complaint = said(site.run(runtime, Container(image, ("uncore", "stat", "--", "uncore"), bind=()), status=None))
            tap.check(NOT_THERE in complaint and TO_DO in complaint, complaint)
    return f"{runtime.name}: without the folder, the error says to bind it", body


class Looker:
    """A container that looks for uncored when told to."""

    def __init__(self, site, runtime, bind):
        source, target = bind
        look = LOOK.format(SOCKET if source == FOLDER else target)
        self.process = site.start(runtime, Container(DEBIAN, ("sh", "-c", look), bind=bind))

    def look(self):
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self):
        self.process.communicate(timeout=SECONDS)


def outlives(site, runtime):
    def body():
        lookers = folder, socket = [Looker(site, runtime, bind) for bind in ((FOLDER, FOLDER), (SOCKET, images.SOCKET))]
        tap.equal([looker.look() for looker in lookers], ["counted"] * 2, "at first")
        site.host.kill_uncored()  # the service manager keeps the socket
        tap.equal([looker.look() for looker in lookers], ["counted"] * 2, "after uncored was killed")
        site.host.stop_uncored()
        site.host.start_uncored()  # with a new socket
        tap.equal(folder.look(), "counted", "through the folder, after a new socket")
        complaint = socket.look()
        tap.check("Connection refused" in complaint and "bind the folder and not the socket" in complaint, complaint)
        for looker in lookers:
            looker.end()
    return f"{runtime.name}: a bound folder outlives a new socket, and a bound socket does not", body


def cases(site):
    yield "No image has a C library of another's", site.images.are_foreign
    for runtime in RUNTIMES:
        for image in NAMES:
            yield counts(site, runtime, image)
        yield static(site, runtime)
        yield says_what_to_do(site, runtime)
        yield outlives(site, runtime)
    yield hardened.__doc__, lambda: hardened(site)
