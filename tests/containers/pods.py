# SPDX-License-Identifier: BSD-3-Clause
"""What the Kubernetes manifests say, done by podman for root: the user, capabilities, filter and volumes of uncored's pod
and of a pod that measures. Kubernetes itself does not run here."""
import contextlib
import json
import os

import fences
import hosts
import tap
from hosts import BUILD, SECONDS, SOURCE
from images import DEBIAN
from runtimes import BUBBLEWRAP, FOLDER, PODMAN, READ, ROOTS_PODMAN, Container, said

MANIFEST = SOURCE / "packaging/kubernetes/uncored.yaml"
GUIDE = "doc/site.md"
STAND_IN = BUILD / "tests/machines/standin"
OWN_FILTER = "/usr/share/containers/seccomp.json"
SECURITY = {  # of a container: what podman calls it
    "runAsUser": lambda user: ("--user", user),
    "allowPrivilegeEscalation": lambda allowed: () if allowed else ("--security-opt", "no-new-privileges"),
    "readOnlyRootFilesystem": lambda is_so: ("--read-only",) if is_so else (),
    "capabilities": lambda change: [word for key, names in change.items() for name in names
                                    for word in (f"--cap-{key}", name)],
    "seccompProfile": lambda profile: {"RuntimeDefault": ()}[profile["type"]],
}
CONTAINER = {"name", "image", "command", "securityContext", "resources", "volumeMounts"}


def parsed(path):
    """A file of YAML, by yq."""
    return json.loads(hosts.run("yq", ".", path).stdout)


def volumes_of(pod, container):
    """The folders and files of the node, made as Kubernetes does."""
    paths = {volume["name"]: volume["hostPath"]["path"] for volume in pod["volumes"]}
    for volume in pod["volumes"]:
        if volume["hostPath"]["type"] == "DirectoryOrCreate":
            os.makedirs(volume["hostPath"]["path"], exist_ok=True)
    for mount in container["volumeMounts"]:
        mode = "ro" if mount.get("readOnly") else "rw"
        yield from ("--volume", f"{paths[mount['name']]}:{mount['mountPath']}:{mode}")


def options_of(pod):
    """Of podman run, for the one container of a pod."""
    container, = pod["containers"]
    tap.equal(set(container) - CONTAINER, set(), "what this test does not know")
    for key, value in container.get("securityContext", {}).items():
        yield from SECURITY[key](value)
    yield from volumes_of(pod, container)


def daemon_set():
    return parsed(MANIFEST)


def measuring_pod():
    """Of the guide."""
    fence, = (fence for fence in fences.fences_of(GUIDE) if fence.language == "yaml")
    path = hosts.TMP / "pod.yaml"
    path.write_text(fence.text, encoding="utf-8")
    return parsed(path)


def is_whole():
    """The DaemonSet selects its own pods, and its socket is where clients look"""
    manifest = daemon_set()
    tap.equal((manifest["apiVersion"], manifest["kind"]), ("apps/v1", "DaemonSet"), "kind")
    template = manifest["spec"]["template"]
    tap.equal(template["metadata"]["labels"], manifest["spec"]["selector"]["matchLabels"], "labels")
    for pod in (template["spec"], measuring_pod()["spec"]):
        volume = next(volume for volume in pod["volumes"] if volume["hostPath"]["path"] == str(FOLDER))
        container, = pod["containers"]
        mount = next(mount for mount in container["volumeMounts"] if mount["name"] == volume["name"])
        tap.equal(mount["mountPath"], str(FOLDER), "folder inside")


@contextlib.contextmanager
def serving(site, *options):
    """uncored in a container, with what the manifest says, instead of the host's; on the stand-in machine."""
    pod = daemon_set()["spec"]["template"]["spec"]
    command = pod["containers"][0]["command"]
    site.host.stop_uncored()
    container = Container(DEBIAN, (*command, "--root", STAND_IN), bind=(STAND_IN, STAND_IN),
                          options=("--name", "uncored", *options_of(pod), *options))
    process = site.start(ROOTS_PODMAN, container)
    try:
        yield process
    finally:
        site.as_user(0, "podman", "stop", "--time", SECONDS, "uncored", status=None)
        for line in process.communicate(timeout=SECONDS)[1].splitlines():
            print("#", line)
        site.host.start_uncored()


def wait_for_uncored(site, process, status):
    """Until its socket answers so; what it says."""
    def read():
        tap.check(process.poll() is None, "uncored has ended")
        done = site.run(BUBBLEWRAP, Container(DEBIAN, READ), status=None)
        return done if done.returncode == status and "Cannot connect" not in done.stderr else None
    return hosts.wait_until(read, "uncored in a container")


def own_filter(site):
    """Where podman's filter refuses perf_event_open, uncored in a container serves nothing, and names the filter"""
    with serving(site, "--security-opt", f"seccomp={OWN_FILTER}") as process:
        complaint = said(wait_for_uncored(site, process, 125))
        tap.check("in spite of CAP_PERFMON" in complaint and "a seccomp filter, as of a container" in complaint, complaint)


def filter_with_perf(site):
    """The filter that the guide makes, in a file."""
    command, = (fence.text for fence in fences.fences_of(GUIDE) if OWN_FILTER in fence.text)
    site.host.run("sh", "-euc", f"cd {site.folder}\n{command}")
    return site.folder / "perf.json"


def serves(site):
    """With what the manifest says and a filter that lets it count, uncored serves containers and the host"""
    with serving(site, "--security-opt", f"seccomp={filter_with_perf(site)}") as process:
        wait_for_uncored(site, process, 0)
        site.run(PODMAN, Container(DEBIAN, READ))
        site.as_user(PODMAN.user, hosts.UNCORE, *READ[1:])
        measuring = tuple(options_of(measuring_pod()["spec"]))
        site.run(ROOTS_PODMAN, Container(DEBIAN, READ, bind=(), uid=PODMAN.user, options=measuring))


def cases(site):
    yield is_whole.__doc__, is_whole
    for case in (own_filter, serves):
        yield case.__doc__, lambda case=case: case(site)
