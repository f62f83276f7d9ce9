# SPDX-License-Identifier: BSD-3-Clause
"""Whom uncored sees: the user and the groups of the host, whatever the user namespace shows."""
import contextlib

import hosts
import tap
from images import DEBIAN
from runtimes import (ALICE, BOB, BUBBLEWRAP, CHARLIECLOUD, GROUP, INSIDE, PODMAN, READ, ROOTS_PODMAN, SUBORDINATES,
                      Container, said)

MAPPED = SUBORDINATES + INSIDE - 1  # 0 inside is alice
NOT_OWNER = "does not own the job"
OF_USERS, OF_GROUP = "is not among the users who may connect", "is not in the group"


@contextlib.contextmanager
def policy(site, access):
    site.host.reload_uncored(f"[access]\n{access}\n")
    try:
        yield
    finally:
        site.host.reload_uncored("")


def read(site, runtime, status=0, **more):
    return site.run(runtime, Container(DEBIAN, READ, **more), status=status)


def must_refuse(site, runtime, user, rule, **more):
    """The sentence names the user of the host, and the rule."""
    complaint = said(read(site, runtime, status=None, **more))
    tap.check(f"User {user} {rule}" in complaint, complaint)


def root_inside(site):
    """Root inside of a container is the user who runs it: a policy lets that user in, or refuses"""
    with policy(site, f"users = {ALICE}"):
        for runtime in (BUBBLEWRAP, CHARLIECLOUD, PODMAN):
            read(site, runtime)
    with policy(site, f"users = {BOB}"):
        for runtime in (BUBBLEWRAP, CHARLIECLOUD, PODMAN):
            must_refuse(site, runtime, ALICE, OF_USERS)


def real_root(site):
    """Root inside of a container of root's is root"""
    with policy(site, f"users = {BOB}"):
        read(site, ROOTS_PODMAN)
        must_refuse(site, ROOTS_PODMAN, INSIDE, OF_USERS, uid=INSIDE)


def second_user(site):
    """A second user of a container is a subordinate one, which a policy of users refuses"""
    read(site, PODMAN, uid=INSIDE)
    with policy(site, f"users = {ALICE}"):
        must_refuse(site, PODMAN, MAPPED, OF_USERS, uid=INSIDE)
    with policy(site, f"users = {ALICE} {MAPPED}"):
        read(site, PODMAN, uid=INSIDE)


def one_user_mapped(site):
    """Where a container maps one user alone, that is the user who runs it, by any number"""
    with policy(site, f"users = {ALICE}"):
        for runtime in (BUBBLEWRAP, CHARLIECLOUD):
            read(site, runtime, uid=INSIDE)
        read(site, PODMAN, uid=INSIDE, options=("--userns", f"keep-id:uid={INSIDE}"))


def owner(site):
    """The owner of a job is its containers' root, and not their other users"""
    with policy(site, "owner_only = yes"):
        must_refuse(site, PODMAN, ALICE, NOT_OWNER)
        site.as_user(0, hosts.UNCORE, "owner", ALICE)
        read(site, PODMAN)
        must_refuse(site, PODMAN, MAPPED, NOT_OWNER, uid=INSIDE)


def groups(site):
    """A policy of a group goes by the groups on the host, which podman drops unless it is told to keep them"""
    with policy(site, f"group = {GROUP}"):
        for runtime in (BUBBLEWRAP, CHARLIECLOUD):
            read(site, runtime)
        must_refuse(site, PODMAN, ALICE, OF_GROUP)
        read(site, PODMAN, options=("--group-add", "keep-groups"))


def not_the_nodes_root(site):
    """Root inside of a container of a user's cannot do what only root may"""
    for runtime in (BUBBLEWRAP, CHARLIECLOUD, PODMAN):
        done = site.run(runtime, Container(DEBIAN, ("uncore", "owner", str(ALICE))), status=None)
        tap.check("Only root may say whose job the node runs." in said(done), f"{done}")


def cases(site):
    for case in (root_inside, real_root, second_user, one_user_mapped, owner, groups, not_the_nodes_root):
        yield case.__doc__, lambda case=case: case(site)
