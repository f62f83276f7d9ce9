# SPDX-License-Identifier: BSD-3-Clause
"""A host with images, two users, and the tools that run containers there: bubblewrap, Charliecloud, and podman for a
user and for root. All that they keep lies below hosts.SHARED, and goes with the namespaces."""
import dataclasses
import os
import subprocess

import hosts
import images
import tap
from hosts import SHARED, SOCKET

ALICE, BOB = 2001, 2002
USERS = {0: "root", ALICE: "alice"}  # who run containers
SUBORDINATES = 300000  # the first of alice's
INSIDE = 1000          # a user inside of a container, whom the host knows by a subordinate id
GROUP = 990            # alice is a member of it
FOLDER = SOCKET.parent
CGROUPS = "/sys/fs/cgroup"
READ = ("uncore", "stat", "--", "uncore", "--version")  # the least that reads counters
TOOLS = ("bwrap", "ch-run", "podman", "crun", "newuidmap")
ACCOUNTS = {
    "/etc/passwd": f"alice:x:{ALICE}:{ALICE}::{SHARED}/alice:/bin/sh\nbob:x:{BOB}:{BOB}::/:/bin/sh\n",
    "/etc/group": f"alice:x:{ALICE}:\nbob:x:{BOB}:\nperf:x:{GROUP}:alice\n",
    "/etc/subuid": f"alice:{SUBORDINATES}:65536\n",
    "/etc/subgid": f"alice:{SUBORDINATES}:65536\n",
}
# The test's processes have no cgroups of their own, and no network.
CONTAINERS_CONF = """[containers]
cgroups = "disabled"
netns = "none"
log_driver = "none"
[engine]
cgroup_manager = "cgroupfs"
events_logger = "none"
"""


@dataclasses.dataclass(frozen=True)
class Container:
    """What runs in it. bind: a path of the host, and where it is inside; writable: another; uid: the user inside;
    options: of the runtime."""
    image: str
    words: tuple
    bind: tuple = (FOLDER, FOLDER)
    writable: tuple = ()
    uid: int = 0
    options: tuple = ()


def mount(option, form, places):
    """Of a runtime's command line."""
    return (option, *form.format(*places).split()) if places else ()


def bubblewrap(path, container):
    return ("bwrap", "--unshare-all", "--die-with-parent", "--uid", container.uid, "--ro-bind", path, "/",
            "--dev", "/dev", "--proc", "/proc", *mount("--ro-bind", "{} {}", container.bind),
            *mount("--bind", "{} {}", container.writable), *container.options, *container.words)


def charliecloud(path, container):
    return ("ch-run", "--uid", container.uid, *mount("--bind", "{}:{}", container.bind),
            *mount("--bind", "{}:{}", container.writable), *container.options, path, "--", *container.words)


def podman(path, container):
    variables = [word for pattern in ("UNCORE_*", "MPI_*", "PMI_*") for word in ("--env", pattern)]
    return ("podman", "run", "--rm", "--interactive", *variables, "--user", container.uid,
            *mount("--volume", "{}:{}:ro", container.bind), *mount("--volume", "{}:{}", container.writable),
            *container.options, path.name, *container.words)


@dataclasses.dataclass(frozen=True)
class Runtime:
    name: str
    argv: object
    user: int = ALICE  # who runs it


PODMAN, ROOTS_PODMAN = Runtime("podman", podman), Runtime("root's podman", podman, user=0)
BUBBLEWRAP, CHARLIECLOUD = Runtime("bubblewrap", bubblewrap), Runtime("Charliecloud", charliecloud)
RUNTIMES = (BUBBLEWRAP, CHARLIECLOUD, PODMAN, ROOTS_PODMAN)


class Site:
    def __init__(self):
        for path, lines in ACCOUNTS.items():
            with open(path, "a", encoding="ascii") as file:
                file.write(lines)
        self.folder = SHARED / "containers"
        self.folder.mkdir()
        self.images = images.Images(self.folder)
        self.host = hosts.Host(1)
        self.mount()
        self.homes = {user: self.make_home(user) for user in USERS}
        for user in USERS:
            for name in images.NAMES:
                path = self.images.path(name)
                archive = path.with_suffix(".tar")
                hosts.run("tar", "-C", path, "-cf", archive, ".")
                self.as_user(user, "podman", "import", "--quiet", archive, path.name)
        self.host.start_uncored()

    def mount(self):
        """podman keeps locks in /dev/shm, and crun wants cgroups of version 2."""
        self.host.run("mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", "/dev/shm")
        self.host.run("mount", "--make-rshared", "/")
        if not self.host.path(f"{CGROUPS}/cgroup.controllers").exists():
            self.host.run("umount", "--recursive", CGROUPS)
            self.host.run("mount", "-t", "cgroup2", "cgroup2", CGROUPS)

    def make_home(self, user):
        home = SHARED / ("root" if user == 0 else f"user-{user}")
        (home / "run").mkdir(parents=True)
        (home / "containers.conf").write_text(CONTAINERS_CONF, encoding="ascii")
        (home / "storage.conf").write_text(f'[storage]\ndriver = "vfs"\ngraphroot = "{home}/images"\n'
                                           f'runroot = "{home}/run"\n', encoding="ascii")
        for path in (home, home / "run"):
            os.chown(path, user, user)
        return home

    def environment(self, user, **more):
        home = self.homes[user]
        return {**hosts.ENVIRONMENT, "HOME": str(home), "USER": USERS[user], "TMPDIR": str(hosts.TMP),
                "XDG_RUNTIME_DIR": str(home / "run"), "CONTAINERS_CONF": str(home / "containers.conf"),
                "CONTAINERS_STORAGE_CONF": str(home / "storage.conf"), **more}

    def as_user_argv(self, user, *words):
        become = ("setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups") if user else ()
        return (*become, *words)

    def as_user(self, user, *words, status=0, **more):
        return self.host.run(*self.as_user_argv(user, *words), status=status, env=self.environment(user, **more))

    def argv(self, runtime, container):
        return self.as_user_argv(runtime.user, *runtime.argv(self.images.path(container.image), container))

    def run(self, runtime, container, status=0):
        return self.host.run(*self.argv(runtime, container), status=status, env=self.environment(runtime.user))

    def start(self, runtime, container, **more):
        """A process to talk to."""
        return subprocess.Popen(self.host.argv(*self.argv(runtime, container)), text=True, stdin=subprocess.PIPE,
                                env=self.environment(runtime.user, **more), stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)


def said(done):
    """All that a program said that failed: a sentence."""
    tap.check(done.returncode != 0 and not done.stdout, f"{done}")
    return done.stderr.strip()
