# SPDX-License-Identifier: BSD-3-Clause
"""Machines recorded by tests/machines/gather: each gives the plan beside it, and gather loses nothing.

tests/machines/recorded/NAME.tar.xz must give the plan NAME.json. UPDATE=1 rewrites it.
"""
import difflib
import filecmp
import functools
import json
import lzma
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import plan
import tap

RECORDED = plan.SOURCE / "tests/machines/recorded"
GATHER = plan.SOURCE / "tests/machines/gather"
SECRETS = {
    "host": "wintermute-login7",
    "serial": "SN-77FA-0042",
    "mac": "52:54:00:ab:cd:ef",
    "ip": "192.0.2.77",
    "pci": "0000:3b:1d.4",
    "builder": "made-by-straylight",
    "ppin": "0x8badf00ddeadbeef",
}


def gather(*arguments):
    return subprocess.run([sys.executable, GATHER, *arguments], capture_output=True, text=True,
                          check=False)


def record(root, archive):
    result = gather("--root", root, archive)
    tap.equal((result.returncode, result.stderr), (0, ""), f"gather of {root}")
    return result.stdout


def unpack(archive, folder):
    with tarfile.open(archive) as tar:
        tar.extractall(folder)
    return folder


def in_scratch(case):
    @functools.wraps(case)
    def run(*arguments):
        with tempfile.TemporaryDirectory() as scratch:
            case(pathlib.Path(scratch), *arguments)
    return run


def dump(machine_plan):
    """JSON with one box a line, so that a difference can be read."""
    text = json.dumps(machine_plan)
    return re.sub(r'(\{"(pmu|socket|metric)": [^{}]*?(, "(boxes|events)"|\}))', r"\n\1", text) + "\n"


@in_scratch
def check_recorded(scratch, archive):
    have = plan.read(unpack(archive, scratch))
    have.pop("path", None)  # where this tree lies
    expected = archive.with_name(archive.name.replace(".tar.xz", ".json"))
    if os.environ.get("UPDATE"):
        expected.write_text(dump(have), encoding="utf-8")
    tap.check(expected.exists(), f"{expected.name} is missing: write it with UPDATE=1")
    want = json.loads(expected.read_text(encoding="utf-8"))
    changes = difflib.unified_diff(dump(want).splitlines(), dump(have).splitlines(),
                                   expected.name, "now", n=0, lineterm="")
    tap.check(have == want, "\n".join(changes))


@in_scratch
def check_same_plan(scratch, name):
    root = plan.MACHINES / name
    record(root, scratch / "machine.tar")
    want = plan.read(root)
    tap.check("refused" in want or want["sockets"], f"{name} has no plan to compare")
    tap.equal(plan.read(unpack(scratch / "machine.tar", scratch / "tree")), want, f"plan of {name}")


def shapes(root):
    """What gather's rules are about: the paths below @root and the labels of its cpuinfo, without their numbers."""
    paths = [str(path.relative_to(root)) for path in root.rglob("*") if not path.is_dir()]
    labels = [line.partition(":")[0] for line in (root / "proc/cpuinfo").read_text(encoding="ascii").splitlines()]
    return {re.sub(r"\d+", "N", words) for words in paths + labels}


def one_of_each_kind(roots):
    """Smaller trees first; one without a shape of its own is left out."""
    seen, chosen = set(), []
    for _, root in sorted((len(list(root.rglob("*"))), root) for root in roots):
        new = shapes(root) - seen
        seen |= new
        chosen += [root.name] if new else []
    return sorted(chosen)


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="ascii")


def plant(root):
    """Puts each secret where a real machine has one, some of them beside recorded files."""
    cpus = root / "sys/devices/system/cpu/cpu0"
    devices = root / "sys/bus/event_source/devices"
    write(root / "etc/hostname", SECRETS["host"])
    write(root / "proc/sys/kernel/hostname", SECRETS["host"])
    write(root / "proc/sys/kernel/osrelease", f"6.1.0-{SECRETS['builder']}\n")
    write(root / "proc/version", f"Linux version 6.1.0 (root@{SECRETS['host']})\n")
    write(root / "proc/net/fib_trie", SECRETS["ip"])
    write(root / "sys/class/dmi/id/product_serial", SECRETS["serial"])
    write(root / "sys/class/net/eth0/address", SECRETS["mac"])
    write(cpus / "topology/ppin", SECRETS["ppin"])
    with (root / "proc/cpuinfo").open("a", encoding="ascii") as file:
        file.write(f"\nSerial\t\t: {SECRETS['serial']}\n")
    with (root / "sys/devices/system/node/node0/meminfo").open("a", encoding="ascii") as file:
        file.write(f"Node 0 Owner: {SECRETS['host']}\n")
    # as newer kernels do: the PMU's directory lies below the device that it belongs to
    device = root / "sys/devices/pci0000:3a" / SECRETS["pci"]
    shutil.move(root / "sys/devices/uncore_imc_0", device / "uncore_imc_0")
    write(device / "uncore_imc_0/serial_number", SECRETS["serial"])
    write(device / "uncore_imc_0/power/wakeup", SECRETS["host"])
    (devices / "uncore_imc_0").unlink()
    (devices / "uncore_imc_0").symlink_to(
        f"../../../devices/pci0000:3a/{SECRETS['pci']}/uncore_imc_0")
    write(device / "i915/type", "99\n")
    (devices / "i915_0000_3b_1d.4").symlink_to(f"../../../devices/pci0000:3a/{SECRETS['pci']}/i915")


def everything_in(archive):
    """Names, links and contents, and the raw stream, which holds the owners."""
    with tarfile.open(archive) as tar:
        parts = [tar.extractfile(entry).read() for entry in tar if entry.isfile()]
    with lzma.open(archive) as file:
        return b"\n".join([file.read(), *parts]).decode("latin-1")


@in_scratch
def check_no_secrets(scratch):
    root = scratch / "tree"
    shutil.copytree(plan.MACHINES / "icelake-sp", root, symlinks=True)
    plant(root)
    said = record(root, scratch / "machine.tar.xz")
    text = everything_in(scratch / "machine.tar.xz")
    for kind, secret in SECRETS.items():
        for form in (secret, secret.replace(":", "_"), secret.replace("0x", "")):
            tap.check(form not in text, f"the {kind} {form} is in the archive")
            tap.check(form not in said, f"gather prints the {kind} {form}")
    tap.check("Not recorded: a PMU is left out, because its name holds a PCI address" in said, said)
    tap.check("6.1.0\n" in text, "the number of the kernel is not in the archive")
    tap.equal(plan.read(unpack(scratch / "machine.tar.xz", scratch / "copy")),
              plan.read(plan.MACHINES / "icelake-sp"), "plan of the machine with secrets")


@in_scratch
def check_deterministic(scratch):
    root = plan.MACHINES / "sapphire-rapids"
    shutil.copytree(root, scratch / "copy", symlinks=True)
    for path in (scratch / "copy").rglob("*"):
        os.utime(path, (1, 1), follow_symlinks=False)
    record(root, scratch / "a.tar.xz")
    record(scratch / "copy", scratch / "b.tar.xz")
    tap.check(filecmp.cmp(scratch / "a.tar.xz", scratch / "b.tar.xz", shallow=False),
              "two recordings of one machine differ")
    with tarfile.open(scratch / "a.tar.xz") as tar:
        entries = tar.getmembers()
    tap.equal({(e.uid, e.gid, e.uname, e.gname, e.mtime) for e in entries}, {(0, 0, "", "", 0)},
              "owners and times")
    tap.equal([e.name for e in entries], sorted(e.name for e in entries), "order")


@in_scratch
def check_unreadable(scratch):
    """A file that the kernel refuses to let gather read is called missing, and the rest is recorded."""
    root = scratch / "tree"
    shutil.copytree(plan.MACHINES / "icelake-sp", root, symlinks=True)
    path = root / "sys/devices/uncore_imc_3/cpumask"
    if os.geteuid() == 0:  # root reads everything: /proc/self/mem fails with EIO instead
        path.unlink()
        path.symlink_to("/proc/self/mem")
    else:
        path.chmod(0)
    said = record(root, scratch / "machine.tar.xz")
    name = "sys/bus/event_source/devices/uncore_imc_3/cpumask"
    tap.check(f"Not recorded: {name} cannot be read: " in said, said)
    with tarfile.open(scratch / "machine.tar.xz") as tar:
        names = tar.getnames()
    tap.check("sys/devices/uncore_imc_3/type" in names, "the rest of the PMU is not recorded")
    tap.check("sys/devices/uncore_imc_3/cpumask" not in names, "what could not be read is recorded")


@in_scratch
def check_errors(scratch):
    (scratch / "empty").mkdir()
    good = plan.MACHINES / "icelake-sp"
    for arguments, words in (
            (["--root", scratch / "none", scratch / "a.tar"], "is not a directory"),
            (["--root", scratch / "empty", scratch / "a.tar"], "proc/cpuinfo is missing"),
            (["--root", good, scratch / "none/a.tar"], "cannot write"),
            (["--root", good, scratch / "a.zip"], "must end in .tar.xz or .tar")):
        result = gather(*arguments)
        tap.check(result.returncode != 0, f"gather {arguments} says that it succeeded")
        tap.check(words in result.stderr, f"gather {arguments}: {result.stderr}")
    tap.equal(list(scratch.glob("*.tar*")), [], "archives written in spite of an error")
    result = gather("--help")
    tap.equal(result.returncode, 0, "gather --help")
    tap.check("no serial numbers" in " ".join(result.stdout.split()), result.stdout)


def main():
    archives = sorted(RECORDED.glob("*.tar.xz"))
    trees = one_of_each_kind(path for path in plan.MACHINES.iterdir() if (path / "proc/cpuinfo").exists())
    cases = [(f"the recorded machine {a.name[:-len('.tar.xz')]} has the plan beside it",
              functools.partial(check_recorded, a)) for a in archives] + [
        ("no host name, serial number or address gets into a recording", check_no_secrets),
        ("two recordings of one machine are the same", check_deterministic),
        ("a file that cannot be read is called missing", check_unreadable),
        ("gather says what is wrong and then writes nothing", check_errors),
    ]
    tap.check(archives and trees, "there is nothing to test")
    tap.run_functions(tap.of_suite(cases, long=[
        (f"a recording of {name} has the plan of {name}", functools.partial(check_same_plan, name)) for name in trees]))


main()
